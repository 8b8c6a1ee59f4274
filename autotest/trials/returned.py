"""The return value of a test body: the dual tensors in it, and messages about anything else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from autotest.base.errors import NotDual
from autotest.recording.dual import DualObject, Symbol, Value
from autotest.recording.recorder import Recorder


def returned_tensors(returned: Any, recorder: Recorder) -> list[Value]:
    """Return the dual tensors in the return value of a test body, in order.

    Raises:
        NotDual: the value contains something that is not dual, or nothing that can be compared.
    """
    if type(returned) is Value and type(returned._expected) in recorder.pair.reference.tensor_types:
        if not recorder.calls and returned._recorder is not recorder:
            raise NotDual(
                "returned a tensor that was made outside of the trial (in another thread, or at the top of the "
                "file): draw tensors and make calls inside the test function, in its own thread"
            )
        return [returned]  # the most common case
    tensors: list[Value] = []
    empty = ""
    for item in _leaves(returned):
        if isinstance(item, Value):
            tensors.extend(_tensors_of(recorder, item))
        empty = empty or _nothing_to_compare(returned, item, recorder)
        if not (item is None or isinstance(item, DualObject) or _was_observed(recorder, item)):
            raise NotDual(
                f"returned {_short(item)} ({type(item).__name__}){_at(returned, item)}, which is not dual: "
                "return the dual tensors to compare, a tuple, list or dict of them, or None"
            )
    if empty and not tensors:
        raise NotDual(empty)
    return tensors


def _nothing_to_compare(returned: Any, item: Any, recorder: Recorder) -> str:
    """Return the message about an item without contents, or with contents on one side only; "" for any other."""
    reference = recorder.pair.reference
    if isinstance(item, Symbol) and callable(item._sides()[0]):
        name = repr(item).strip("<>").replace("dual ", "", 1)
        return f"returned the function {name}{_at(returned, item)}: return its result, {name}(...)"
    if isinstance(item, reference.tensor_types) and reference.can_backpropagate(item):
        at = _at(returned, item)
        return f"returned a tensor of only one side{at}: return the dual tensor, whose gradients can be compared"
    return ""


def _at(returned: Any, item: Any) -> str:
    place = next((place for place, found in _places(returned) if found is item), "")
    return f" at {place}" if place else ""


def _short(item: Any) -> str:
    text = " ".join(repr(item).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def _places(returned: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the parts of a body's return value, each with its place, such as ``["b"][0]``."""
    if type(returned) in (tuple, list) or hasattr(type(returned), "_fields"):
        for index, item in enumerate(returned):
            yield from _places(item, f"{place}[{index}]")
    elif isinstance(returned, dict):
        for key, item in returned.items():
            yield from _places(item, f"{place}[{json.dumps(key) if isinstance(key, str) else _short(key)}]")
    else:
        yield place, returned


def _leaves(returned: Any) -> Iterator[Any]:
    return (item for _, item in _places(returned))


def _tensors_of(recorder: Recorder, value: Value) -> Iterator[Value]:
    expected = value._sides()[0]
    if isinstance(expected, recorder.pair.reference.tensor_types):
        yield value
    elif isinstance(expected, (tuple, list)):
        for item in value:
            if isinstance(item, Value):
                yield from _tensors_of(recorder, item)


def _was_observed(recorder: Recorder, item: Any) -> bool:
    """Return whether a plain value is a result of a dual call of this trial, and so is compared already."""
    plain = isinstance(item, (bool, int, float, complex, str, tuple))  # torch.Size is a tuple of plain values
    for value in recorder.expected:
        parts = (value, *value) if isinstance(value, tuple) else (value,)
        if item is value or (plain and any(type(item) is type(part) and item == part for part in parts)):
            return True
    return False
