"""Describes what a model returned apart from the values of tensors: its structure, and the values of other kinds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from autotest.comparison import TensorValue
from autotest.frameworks import Framework
from autotest.replaying.module_alone import fields_of


def describe_structure(framework: Framework, value: Any) -> str:
    """Describe the structure of `value`: ``"a dict (aux: a tensor, out: a tensor)"``."""
    if isinstance(value, framework.tensor_types):
        return "a tensor"
    kind, value = type(value).__name__, fields_of(value)
    if isinstance(value, Mapping):
        inside = [f"{_key(key)}: {describe_structure(framework, value[key])}" for key in sorted(value, key=str)]
    elif isinstance(value, (tuple, list)):
        inside = [describe_structure(framework, item) for item in value]
    else:
        return "None" if value is None else f"a {kind}"
    return f"a {kind} ({', '.join(inside)})"


def _key(key: Any) -> str:
    """Return the key of a dictionary; that of another type than string has its type, as 1 is not "1"."""
    return key if isinstance(key, str) else f"{type(key).__name__} {key}"


def plain_values(framework: Framework, value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values in `value` that are no tensors, such as numbers, each with its place: ``("['loss']", 1.5)``."""
    if isinstance(value, framework.tensor_types):
        return
    value = fields_of(value)
    if isinstance(value, Mapping):
        for key in value:
            yield from plain_values(framework, value[key], f"{place}[{key!r}]")
    elif isinstance(value, (tuple, list)):
        for number, item in enumerate(value):
            yield from plain_values(framework, item, f"{place}[{number}]")
    elif isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc":
        # The array may share the memory of a tensor, which a later step may write to.
        yield place, TensorValue(np.array(value), value.dtype.name, "cpu", False)
    elif isinstance(value, (bool, int, float, complex, str, bytes, set, frozenset)):
        yield place, value
