"""What an adapter of a functional framework defines: how its arrays are made, read, converted and differentiated."""

from __future__ import annotations

import abc
import functools
import sys
import traceback
from collections.abc import Mapping
from typing import Any

import numpy as np

from autotest.base.errors import AdapterWrong
from autotest.frameworks.base import Framework
from autotest.frameworks.failures import Absent
from autotest.frameworks.tape import ArrayLike, Pure


class ArrayFramework(Framework):
    """A framework of functions on immutable arrays."""

    has_gradients = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "vjp" in vars(cls):
            cls.has_gradients = True

    @functools.cached_property
    @abc.abstractmethod
    def spelling(self) -> Mapping[str, Pure]:
        """The translations of torch's functions, by torch's name."""

    @abc.abstractmethod
    def array(self, data: np.ndarray[Any, Any], dtype: str) -> ArrayLike:
        """Return an array with a copy of `data`, of the dtype called `dtype`."""

    @abc.abstractmethod
    def numpy(self, array: ArrayLike) -> np.ndarray[Any, Any]:
        """Return the contents of `array`; bfloat16 as float32."""

    @abc.abstractmethod
    def dtype_of_array(self, array: ArrayLike) -> str:
        """Return the framework-neutral name of the dtype of `array`."""

    @abc.abstractmethod
    def cast(self, array: ArrayLike, dtype: str) -> ArrayLike:
        """Return `array` converted to `dtype`."""

    @abc.abstractmethod
    def take(self, flat: ArrayLike, places: np.ndarray[Any, Any]) -> ArrayLike:
        """Return the elements of a flat array at the indices `places`, in the shape of `places`."""

    def vjp(self, function: Pure, arrays: list[ArrayLike], cotangents: list[ArrayLike]) -> list[ArrayLike]:
        """Return the gradients of `arrays` for `cotangents` of the list of arrays that `function` returns.

        None stands for no gradient, which is not the same as zeros. The gradient of a complex array is torch's: the
        derivative by the real part plus 1j times the derivative by the imaginary part. JAX's is its conjugate.

        The adapter of a framework without gradients does not define it.
        """
        raise Absent(self.name, "gradients")

    def table(self, name: str) -> Mapping[str, Pure]:
        """Return the attribute `name`, a mapping by torch's names such as ``spelling``.

        Raises:
            AdapterWrong: making it raised `AttributeError`, by which all of its functions would count as absent.
        """
        try:
            return getattr(self, name)  # type: ignore[no-any-return]
        except AttributeError as error:
            steps = traceback.extract_tb(error.__traceback__)
            own = getattr(sys.modules.get(type(self).__module__), "__file__", "")
            last = next((step for step in reversed(steps) if step.filename == own), steps[-1])
            raise AdapterWrong(
                f"the adapter of {self.name}: `{name}` raised AttributeError: {error} ({last.filename}, line "
                f"{last.lineno}); correct this line, or leave the name out if {self.name} has no such function"
            ) from error

    def shape_of(self, array: ArrayLike) -> tuple[int, ...]:
        return tuple(array.shape)

    def computed(self, array: ArrayLike) -> ArrayLike:
        """Return `array`, the result of a call. A lazy framework computes it here and raises as part of that call."""
        return array
