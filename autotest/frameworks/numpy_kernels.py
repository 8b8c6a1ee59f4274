"""An adapter for functions of NumPy's arrays, such as the reference versions of kernels, with backward functions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from autotest.frameworks.array_layout import copied
from autotest.frameworks.hand_written import HandWritten
from autotest.frameworks.tape import Pure


class NumpyKernels(HandWritten):
    """A library of functions that take and return NumPy's arrays.

    A subclass defines `module`, `spelling` and `backward`. Strided and transposed inputs of a test are strided and
    transposed views of NumPy. Scripts call the functions by their own names, and NumPy's for what a test does between
    them, so they need the library only.

    A function in `spelling` whose name ends in ``_`` writes into its first argument. It is given a copy with the same
    strides, whose contents are compared afterwards; what it returns is ignored. Its gradient is that of the name
    without ``_``, unless `backward` has one of its own.
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

    def own_or_arranging(self, path: str) -> Pure:
        own = super().own_or_arranging(path)
        if not path.endswith("_"):
            return own

        @functools.wraps(own)
        def call(*args: Any, **kwargs: Any) -> Any:
            first, rest = (args[0], args[1:]) if args else (kwargs.pop("input"), ())
            memory = self.copy_to_write(first)
            own(memory, *rest, **kwargs)
            return memory

        return call

    def copy_to_write(self, array: Any) -> Any:
        """Return a copy of `array` in the same layout, into which a function writes."""
        return copied(array)


__all__ = ["NumpyKernels"]
