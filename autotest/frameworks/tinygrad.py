"""The adapter for tinygrad, which gives the methods of its lazy tensors torch's names."""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Mapping
from typing import Any

import numpy as np

from autotest.frameworks.base import Framework
from autotest.frameworks.functional import Functional
from autotest.frameworks.tape import ArrayLike, Pure
from autotest.frameworks.tinygrad_translations import tinygrad_translations
from autotest.frameworks.traced import Transcript, opened

_DTYPES = ("float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")


class TinygradFramework(Functional):
    """tinygrad on its CPU device, or on its device ``PYTHON``, an interpreter, if clang is not installed."""

    module = "tinygrad"
    short = "tinygrad"
    gradient_lines = (
        "inputs = [one.clone() for one in ({leaves},)]  # constants are lazy, and computed of the same",
        "{gradients} = forward(*inputs).gradient(*inputs, gradient={cotangent})",
    )
    constant_text = "{}.detach()"
    dtype_text = "str({}.numpy().dtype)"
    dtypes = _DTYPES

    def __init__(self) -> None:
        super().__init__("tinygrad")

    @functools.cached_property
    def root(self) -> Any:
        if shutil.which("clang") is None:
            os.environ.setdefault("DEV", "PYTHON")
        return self.import_root()

    def array_types(self) -> tuple[type, ...]:
        return (self.root.Tensor,)

    def transcribing(self) -> tuple[Framework, Transcript] | None:
        made = super().transcribing()
        if made is not None and shutil.which("clang") is None:  # a script has the device that showed the difference
            made[1].imports = f'import os\nos.environ.setdefault("DEV", "PYTHON")\n{made[1].imports}'
        return made

    @functools.cached_property
    def spelling(self) -> Mapping[str, Pure]:
        return tinygrad_translations(self.root.Tensor, self.cast)

    def array(self, data: np.ndarray[Any, Any], dtype: str) -> ArrayLike:
        array = np.ascontiguousarray(data).reshape(data.shape).copy()  # the tensor may keep a reference to it
        made = self.root.Tensor(array) if array.ndim else self.root.Tensor(array.reshape(1)).reshape(())
        return made if self.dtype_of_array(made) == dtype else self.cast(made, dtype)

    @functools.cached_property
    def _names(self) -> Mapping[str, str]:
        own = opened(self.root.dtypes)
        return {getattr(own, name).name: name for name in _DTYPES}

    def numpy(self, array: ArrayLike) -> np.ndarray[Any, Any]:
        return np.array(array.numpy())

    def dtype_of_array(self, array: ArrayLike) -> str:
        return self._names.get(array.dtype.name, str(array.dtype.name))

    def computed(self, array: ArrayLike) -> ArrayLike:
        opened(array).realize()  # `opened`, because this is not written into scripts
        return array

    def cast(self, array: ArrayLike, dtype: str) -> ArrayLike:
        return array.cast(dtype)

    def take(self, flat: ArrayLike, places: np.ndarray[Any, Any]) -> ArrayLike:
        if not places.size:
            return self.array(np.zeros(places.shape), self.dtype_of_array(flat))
        return flat[self.root.Tensor(places.reshape(-1))].reshape(places.shape)

    def vjp(self, function: Pure, arrays: list[ArrayLike], cotangents: list[ArrayLike]) -> list[ArrayLike]:
        # Copies, because an array that is given twice would get the sum of both gradients in each place.
        leaves = [self.array(self.numpy(array), self.dtype_of_array(array)) for array in arrays]
        found = [array.zeros_like() for array in arrays]
        for made, cotangent in zip(function(*leaves), cotangents, strict=True):
            parts = made.gradient(*leaves, gradient=cotangent)
            found = [one + part for one, part in zip(found, parts, strict=True)]
        return [one.realize() for one in found]


def framework() -> TinygradFramework:
    """Return the adapter."""
    return TinygradFramework()
