"""Live results as data: tensors become `TensorValue`s, containers keep their shape, objects without a value a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autotest.comparison import Missing, TensorValue, Thing
from autotest.frameworks.base import ABSENT, Framework
from autotest.program import Root

#: Values that are the same to every framework.
PLAIN = (type(None), bool, int, float, complex, str)


def freeze(framework: Framework, values: Sequence[Any]) -> list[Any]:
    """`values` as data: tensors become `TensorValue`s, read together; containers keep their shape."""
    return freezing(framework, values)()


def freezing(framework: Framework, values: Sequence[Any]) -> Callable[[], list[Any]]:
    """Begin to `freeze`; what is returned waits for an asynchronous framework, and gives the values."""
    types = framework.tensor_types
    if {*map(type, values)} <= {*types}:  # the commonest: there is nothing to take apart
        return framework.reading(values)
    tensors: list[Any] = []
    shapes = [_collect(framework, value, tensors) for value in values]
    read = framework.reading(tensors)

    def filled() -> list[Any]:
        frozen = iter(read())
        return [_fill(shape, frozen) for shape in shapes]

    return filled


#: Stands for a tensor whose contents are still to be read.
_TENSOR = object()


def _collect(framework: Framework, value: Any, tensors: list[Any]) -> Any:
    if isinstance(value, framework.tensor_types):
        tensors.append(value)
        return _TENSOR
    if isinstance(value, (*PLAIN, Missing)):
        return value
    if isinstance(value, np.ndarray):
        return TensorValue(value, str(value.dtype), "cpu", False)
    if type(value) is list:
        return [_collect(framework, item, tensors) for item in value]
    if isinstance(value, tuple):
        return tuple([_collect(framework, item, tensors) for item in value])
    if isinstance(value, dict):
        return {key: _collect(framework, item, tensors) for key, item in value.items()}
    neutral = framework.literal(value)
    if isinstance(neutral, Root):
        return neutral.path
    if neutral is not ABSENT:
        return _collect(framework, neutral, tensors)
    return Thing(type(value).__name__)


def _fill(shape: Any, frozen: Any) -> Any:
    if shape is _TENSOR:
        value: TensorValue = next(frozen)
        return value
    if type(shape) is list:
        return [_fill(item, frozen) for item in shape]
    if type(shape) is tuple:
        return tuple([_fill(item, frozen) for item in shape])
    if type(shape) is dict:
        return {key: _fill(item, frozen) for key, item in shape.items()}
    return shape
