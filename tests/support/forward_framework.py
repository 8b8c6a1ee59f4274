"""An adapter of NumPy as a candidate: functions without gradients, for which the adapter defines no `vjp`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tests.support.numpy_arrays import NumpyArrays


class ForwardFramework(NumpyArrays):
    """NumPy. Its sine is 1 % too large."""

    def __init__(self) -> None:
        super().__init__("forward", "tests.support.forward_framework:framework")

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
