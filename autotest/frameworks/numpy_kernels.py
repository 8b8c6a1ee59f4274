"""An adapter for functions of NumPy's arrays, such as the reference versions of kernels, with backward functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from autotest.frameworks.hand_written import HandWritten
from autotest.frameworks.tape import Pure


class NumpyKernels(HandWritten):
    """A library of functions that take and return NumPy's arrays.

    A subclass defines `module`, `spelling` and `backward`. Strided and transposed inputs of a test are strided and
    transposed views of NumPy. Scripts call the functions by their own names, and NumPy's for what a test does between
    them, so they need the library only.
    """

    dtypes = tuple("float32 float64 float16 int8 int16 int32 int64 uint8 bool complex64 complex128".split())

    def __init__(self, name: str, origin: str = "") -> None:
        super().__init__(name, origin)
        self.short = self.short or self.module.rpartition(".")[2]

    def array_types(self) -> tuple[type, ...]:
        return (np.ndarray, np.generic)

    def array(self, data: np.ndarray[Any, Any], dtype: str) -> Any:
        return np.array(data, dtype)

    def numpy(self, array: Any) -> np.ndarray[Any, Any]:
        return np.asarray(array)

    def dtype_of_array(self, array: Any) -> str:
        return str(array.dtype)

    def cast(self, array: Any, dtype: str) -> Any:
        return array.astype(dtype)

    def take(self, flat: Any, places: np.ndarray[Any, Any]) -> Any:
        return flat[places]

    def part(self, array: Any, key: Any, places: np.ndarray[Any, Any]) -> Any:
        """Return a view of NumPy: kernels meet the gaps and offsets in memory that a test's slices make."""
        return array[key]

    def distinct(self, array: Any) -> Any:
        """Return `array` as another object with the same memory, so that backward functions meet its strides, too."""
        return self.numpy(array).view()

    def through_numpy(self, function: Pure) -> Pure:
        return function


__all__ = ["NumpyKernels"]
