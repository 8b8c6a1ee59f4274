"""What the checks of an adapter are written with: tensors made, read and compared, and the word for what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from autotest.frameworks import Absent, Framework
from autotest.program import Array, CallKind
from generators.dtypes import numpy_dtype


class ConformanceError(Exception):
    """The adapter does not do what it should; the text says what was expected and what came."""


def need(condition: bool, what: str) -> None:
    """Raise `ConformanceError` with `what` unless `condition` holds."""
    if not condition:
        raise ConformanceError(what)


def tensor_of(framework: Framework, data: Any, dtype: str = "float32", *, requires_grad: bool = False) -> Any:
    """A tensor with the contents of `data`."""
    return framework.tensor(Array(np.asarray(data, numpy_dtype(dtype)), dtype), requires_grad=requires_grad)


def read(framework: Framework, tensor: Any) -> np.ndarray[Any, Any]:
    """The contents of `tensor`; raises what the call failed with that made it."""
    failed = framework.first_failure([tensor])
    if failed is not None:
        raise failed[1]
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
    """Carry out one call; raises `Absent` where the framework has no name for it."""
    try:
        return framework.invoke(kind, target, args, named)
    except Absent:
        raise
    except AttributeError as error:
        raise Absent(framework.name, target) from error
