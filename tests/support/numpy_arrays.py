"""The part of an adapter of NumPy that makes, reads and converts its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from autotest.frameworks.functional import Functional


class NumpyArrays(Functional):
    """NumPy's arrays, for adapters that spell some functions."""

    module = "numpy"
    dtypes = ("float32", "float64", "int64", "bool")

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
