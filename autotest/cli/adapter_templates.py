"""The texts of the files that `autotest adapter new` writes."""

from __future__ import annotations

from typing import Final

#: For a framework with the same names as torch.
NAMESPACE: Final = '''\
"""The adapter of {name}."""

from __future__ import annotations

from autotest.frameworks import Namespace


class {title}(Namespace):
    """{name}, whose names are torch's.

    Override what differs: from_numpy, to_numpy, seed, synchronize, literal, resolve, operation. For a framework of
    functions on immutable arrays, start with `autotest adapter new {name} --functions` instead.
    """

    #: What it has no name for is absent, and no finding. Leave this out if it claims to have all of torch's names.
    translates = True


def factory() -> {title}:
    return {title}("{name}", module="{name}")
'''

#: For a framework of functions on immutable arrays.
FUNCTIONS: Final = '''\
"""The adapter of {name}."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autotest.frameworks.functional import Functional


class {title}(Functional):
    """{name}: functions of arrays that are never changed. What stands here is spelt as NumPy spells it: correct it.

    torch's tensors with their methods, operators, views and calls in place come with `Functional`.
    """

    module = "{name}"
    #: Those of torch's dtypes that it has.
    dtypes = ("float32", "float64", "int64", "bool")

    def __init__(self) -> None:
        super().__init__("{name}", "{name}_adapter:factory")

    def array(self, data: np.ndarray[Any, Any], dtype: str) -> Any:
        """An array of its own with a copy of `data`."""
        return self.root.array(data, dtype=dtype)

    def numpy(self, array: Any) -> np.ndarray[Any, Any]:
        return np.array(array)

    def dtype_of_array(self, array: Any) -> str:
        """torch's name of it: "float32"."""
        return str(array.dtype)

    def cast(self, array: Any, dtype: str) -> Any:
        return array.astype(dtype)

    def take(self, flat: Any, places: np.ndarray[Any, Any]) -> Any:
        """The elements of an array of one dimension at `places`, in the shape of `places`."""
        return self.root.take(flat, places)

    def vjp(self, function: Callable[..., list[Any]], arrays: list[Any], cotangents: list[Any]) -> list[Any]:
        """The gradient of each of `arrays`, for `cotangents` of the arrays that `function` returns of them."""
        raise NotImplementedError("say how {name} differentiates")

    @functools.cached_property
    def spelling(self) -> Mapping[str, Callable[..., Any]]:
        """torch's name -> a function of arrays, whose parameters are called as torch's are."""
        own = self.root
        return {{
            "add": lambda input, other: own.add(input, other),
            "sub": lambda input, other: own.subtract(input, other),
            "mul": lambda input, other: own.multiply(input, other),
            "div": lambda input, other: own.divide(input, other),
            "exp": lambda input: own.exp(input),
            "matmul": lambda input, other: own.matmul(input, other),
            "sum": lambda input, dim=None, keepdim=False: own.sum(input, axis=dim, keepdims=keepdim),
            "transpose": lambda input, dim0, dim1: own.swapaxes(input, dim0, dim1),
            "reshape": lambda input, *shape: own.reshape(input, shape[0] if len(shape) == 1 else shape),
        }}


def factory() -> {title}:
    return {title}()
'''

__all__ = ["FUNCTIONS", "NAMESPACE"]
