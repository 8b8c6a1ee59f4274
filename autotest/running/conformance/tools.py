"""Tools for the checks of an adapter: create, read and compare tensors, and report errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autotest.comparison.rejection import first_line
from autotest.frameworks import Absent, Framework
from autotest.program import Array, CallKind
from generators.dtypes import numpy_dtype


class ConformanceError(Exception):
    """The adapter does not meet a requirement. The text names the expected and the actual result."""


def need(condition: bool, what: str) -> None:
    """Raise `ConformanceError` with the text `what` unless `condition` is true."""
    if not condition:
        raise ConformanceError(what)


def must_be_tensors(framework: Framework, values: Mapping[str, Any]) -> None:
    """Raise `ConformanceError` unless all `values`, by their names, are of the adapter's tensor classes."""
    for name, value in values.items():
        kinds = " or ".join(kind.__name__ for kind in framework.tensor_types)
        found = f"{type(value).__module__}.{type(value).__qualname__}"
        need(framework.is_tensor(value), f"{name} is a {found}; expected one of the adapter's `tensor_types`: {kinds}")


def tensor_of(framework: Framework, data: Any, dtype: str = "float32", *, requires_grad: bool = False) -> Any:
    """Return a tensor with the contents of `data`."""
    return framework.tensor(Array(np.asarray(data, numpy_dtype(dtype)), dtype), requires_grad=requires_grad)


#: The dtypes that every framework has.
_EVERYWHERE = ("float32", "int64", "bool")


def tensor_of_dtype(framework: Framework, array: Array, *, requires_grad: bool = False) -> Any:
    """Return a tensor of a dtype that the framework may lack.

    Raises:
        Absent: it lacks the dtype: the adapter says so, or resolves no such name.
        Exception: the tensor cannot be made, although the dtype is there.
    """
    try:
        tensor = framework.tensor(array, requires_grad=requires_grad)
        framework.synchronize()
        _raise_failure(framework, tensor)
    except Absent:
        raise
    except Exception as error:
        if array.dtype in _EVERYWHERE or _resolves(framework, array.dtype):
            raise
        raise Absent(framework.name, f"{array.dtype} ({first_line(error)[:80]})") from error
    return tensor


def _raise_failure(framework: Framework, tensor: Any) -> None:
    """Raise the exception of the call that made `tensor`, if it is told only now that this call failed."""
    failed = framework.first_failure([tensor])
    if failed is not None:
        raise failed[1]


def _resolves(framework: Framework, name: str) -> bool:
    try:
        framework.resolve(name)
    except AttributeError:
        return False
    return True


def read(framework: Framework, tensor: Any) -> np.ndarray[Any, Any]:
    """Return the contents of `tensor`. Raises the exception of the call that made it, if that call failed."""
    _raise_failure(framework, tensor)
    return framework.values([tensor])[0].data


def same(found: np.ndarray[Any, Any], wanted: Any, what: str) -> None:
    """Raise `ConformanceError` unless `found` has the shape of `wanted` and is close to it."""
    expected = np.asarray(wanted)
    need(found.shape == expected.shape, f"{what}: expected shape {expected.shape}, got {found.shape}")
    need(
        np.allclose(found, expected, 1e-5, 1e-6, equal_nan=True),
        f"{what}: expected {expected.tolist()}, got {found.tolist()}",
    )


def call(framework: Framework, kind: CallKind, target: str, *args: Any, **named: Any) -> Any:
    """Make one call. Raises `Absent` if the framework has no name, or no operator, for it."""
    try:
        return framework.invoke(kind, target, args, named)
    except Absent:
        raise
    except AttributeError as error:
        raise Absent(framework.name, target) from error
    except TypeError as error:
        special = framework.lacking_operator(target, args) if kind == "operator" and framework.translates else ""
        if special:
            raise Absent(framework.name, special) from error
        raise
