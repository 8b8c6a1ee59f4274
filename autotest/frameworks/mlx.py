"""The adapter for MLX: torch's names for its functions, on its CPU device."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from autotest.frameworks.failures import Absent
from autotest.frameworks.functional import Functional
from autotest.frameworks.numpy_translations import numpy_translations
from autotest.frameworks.tape import ArrayLike, Pure

#: The dtypes of torch that MLX supports on a CPU.
_DTYPES = tuple("float32 float64 float16 bfloat16 int8 int16 int32 int64 uint8 bool complex64".split())


#: What MLX says of an operation without a gradient.
_NO_GRADIENT = re.compile(r"\[Primitive::vjp\] Not implemented for (\w+)")


class MLXFramework(Functional):
    """MLX, evaluated lazily, with `mlx.core.vjp` for gradients."""

    module = "mlx.core"
    short = "mx"
    gradient_lines = ("_, ({gradients}) = mx.vjp(forward, [{leaves}], [{cotangents}])",)
    constant_text = "mx.stop_gradient({})"
    dtypes = _DTYPES

    def __init__(self) -> None:
        super().__init__("mlx")

    @functools.cached_property
    def root(self) -> Any:
        root = self.import_root()
        root.set_default_device(root.cpu)
        return root

    def array_types(self) -> tuple[type, ...]:
        return (self.root.array,)

    @functools.cached_property
    def spelling(self) -> Mapping[str, Pure]:
        return numpy_translations(self.root)

    def array(self, data: np.ndarray[Any, Any], dtype: str) -> ArrayLike:
        data = np.ascontiguousarray(data).reshape(data.shape)
        if str(data.dtype) == dtype == "float64":
            return self.root.array(data, self.root.float64)  # without a dtype, it would be rounded to float32
        made = self.root.array(data)
        return made if self.dtype_of_array(made) == dtype else made.astype(self._dtype(dtype))

    def _dtype(self, name: str) -> Any:
        return getattr(self.root, "bool_" if name == "bool" else name)

    def numpy(self, array: ArrayLike) -> np.ndarray[Any, Any]:
        if array.dtype == self.root.bfloat16:
            array = array.astype(self.root.float32)
        # NumPy would take an exception for a missing buffer, and read what is there the second time.
        self.root.eval(array)
        return np.array(array)

    def dtype_of_array(self, array: ArrayLike) -> str:
        return str(array.dtype).rpartition(".")[2].rstrip("_")

    def cast(self, array: ArrayLike, dtype: str) -> ArrayLike:
        return array.astype(self._dtype(dtype))

    def take(self, flat: ArrayLike, places: np.ndarray[Any, Any]) -> ArrayLike:
        if not places.size:
            return self.root.zeros(places.shape, flat.dtype)
        return self.root.take(flat, self.root.array(places.reshape(-1))).reshape(places.shape)

    def vjp(self, function: Pure, arrays: list[ArrayLike], cotangents: list[ArrayLike]) -> list[ArrayLike]:
        try:
            return list(self.root.vjp(lambda *given: list(function(*given)), arrays, cotangents)[1])
        except ValueError as error:
            lacking = _NO_GRADIENT.search(str(error))
            if lacking is None:
                raise
            raise Absent(self.name, f"gradient of {lacking[1]}") from error


def framework() -> MLXFramework:
    """Return the adapter for MLX."""
    return MLXFramework()
