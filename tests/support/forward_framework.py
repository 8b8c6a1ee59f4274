"""An adapter of NumPy as a candidate: functions without gradients, for which the adapter defines no `vjp`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autotest.frameworks.functional import Functional


class ForwardFramework(Functional):
    """NumPy. Its sine is 1 % too large."""

    module = "numpy"
    dtypes = ("float32", "float64", "int64", "bool")

    def __init__(self) -> None:
        super().__init__("forward", "tests.support.forward_framework:framework")

    def array(self, data: np.ndarray[Any, Any], dtype: str) -> Any:
        return np.array(data, dtype=dtype)

    def numpy(self, array: Any) -> np.ndarray[Any, Any]:
        return np.array(array)

    def dtype_of_array(self, array: Any) -> str:
        return str(array.dtype)

    def cast(self, array: Any, dtype: str) -> Any:
        return array.astype(dtype)

    def take(self, flat: Any, places: np.ndarray[Any, Any]) -> Any:
        return np.take(flat, places)

    @property
    def spelling(self) -> Mapping[str, Callable[..., Any]]:
        def reshape(input: Any, *shape: Any) -> Any:
            return np.reshape(input, shape[0] if len(shape) == 1 else shape)

        def expand(input: Any, *size: Any) -> Any:
            return np.broadcast_to(input, size[0] if len(size) == 1 else size)

        def sin(input: Any) -> Any:
            return np.sin(input) * np.asarray(1.01, input.dtype)

        return {"tanh": np.tanh, "sin": sin, "reshape": reshape, "expand": expand}


def framework() -> ForwardFramework:
    """Return the framework."""
    return ForwardFramework()
