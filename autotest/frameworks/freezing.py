"""Converts live results to data: tensors to `TensorValue`s, containers item by item, other objects to class names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autotest.comparison import Missing, OpaqueObject, TensorValue
from autotest.frameworks.base import Framework
from autotest.frameworks.failures import ABSENT
from autotest.program import Root
from autotest.program.numpy_scalars import is_scalar
from autotest.program.values import ARRAY, NamedItems

#: Types of plain values, which are the same in every framework.
PLAIN_TYPES = (type(None), bool, int, float, complex, str)


def freeze(framework: Framework, values: Sequence[Any]) -> list[Any]:
    """Return `values` as data: tensors become `TensorValue`s, read together; containers keep their structure."""
    return begin_freezing(framework, values)()


def frozen_copies(framework: Framework, values: Sequence[Any]) -> list[Any]:
    """Return `values` as data, with copies of the tensors among them: later calls may write into the tensors."""
    return [value.copied() if type(value) is TensorValue else value for value in freeze(framework, values)]


def begin_freezing(framework: Framework, values: Sequence[Any]) -> Callable[[], list[Any]]:
    """Begin to `freeze`; return a function that waits for an asynchronous framework and returns the frozen values."""
    types = framework.tensor_types
    if {*map(type, values)} <= {*types}:  # the most common case: tensors only, no containers
        return framework.reading(values)
    tensors: list[Any] = []
    shapes = [_collect(framework, value, tensors) for value in values]
    read = framework.reading(tensors)

    def filled() -> list[Any]:
        frozen = iter(read())
        return [_fill(shape, frozen) for shape in shapes]

    return filled


#: Placeholder for a tensor whose contents have not been read yet.
_TENSOR = object()


def _collect(framework: Framework, value: Any, tensors: list[Any]) -> Any:
    if isinstance(value, framework.tensor_types):
        tensors.append(value)
        return _TENSOR
    if isinstance(value, (*PLAIN_TYPES, Missing)):
        neutral = value if type(value) in PLAIN_TYPES else framework.literal(value)
        return neutral.path if isinstance(neutral, Root) else value  # an adapter's own dtype may be a text
    if isinstance(value, np.ndarray) or is_scalar(value):
        return TensorValue(np.asarray(value), str(value.dtype), "cpu", False, ARRAY)
    if type(value) is list:
        return [_collect(framework, item, tensors) for item in value]
    if isinstance(value, tuple):
        items, names = [_collect(framework, item, tensors) for item in value], framework.item_names(value)
        return tuple(items) if names == () else NamedItems(items, names)
    if isinstance(value, dict):
        return {key: _collect(framework, item, tensors) for key, item in value.items()}
    neutral = framework.literal(value)
    if isinstance(neutral, Root):
        return neutral.path
    if isinstance(neutral, tuple):  # the adapter's own form of an object of the framework
        return NamedItems([_collect(framework, item, tensors) for item in neutral], None)
    if neutral is not ABSENT:
        return _collect(framework, neutral, tensors)
    return OpaqueObject(type(value).__name__)


def _fill(shape: Any, frozen: Any) -> Any:
    if shape is _TENSOR:
        value: TensorValue = next(frozen)
        return value
    if type(shape) is list:
        return [_fill(item, frozen) for item in shape]
    if type(shape) is tuple:
        return tuple([_fill(item, frozen) for item in shape])
    if type(shape) is NamedItems:
        return NamedItems([_fill(item, frozen) for item in shape], shape.names)
    if type(shape) is dict:
        return {key: _fill(item, frozen) for key, item in shape.items()}
    return shape
