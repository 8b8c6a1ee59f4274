"""Finds which values hold the same memory, so that what fills or spoils one of them is known of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autotest.program import Call, Ref
from autotest.program.semantics import always_shares_memory, covers_its_operand, may_share_memory

#: A class that makes no copy of what it is given.
_PARAMETER = "nn.Parameter"


def filled_with(calls: Sequence[Call], values: Sequence[Any], tensors: Any, slot: int) -> set[int]:
    """The slots whose contents are defined once those of `slot` are: the same tensor, what it covers, and their views.

    `values` are what the calls gave on one side, and `tensors` the classes of that side's tensors.
    """

    def covers(call: Call) -> bool:
        return (always_shares_memory(call) and covers_its_operand(call)) or call.target == _PARAMETER

    return _sharing(calls, values, tensors, slot, covers)


def spoilt_with(calls: Sequence[Call], values: Sequence[Any], tensors: Any, slot: int) -> set[int]:
    """The slots that hold something undefined once `slot` does: the same tensor, what has it as a part, their views."""
    return _sharing(calls, values, tensors, slot, _shares)


def _sharing(
    calls: Sequence[Call], values: Sequence[Any], tensors: Any, slot: int, upwards: Callable[[Call], bool]
) -> set[int]:
    top = slot
    while (owner := _owner(calls[top])) is not None and isinstance(values[owner], tensors) and upwards(calls[top]):
        top = owner
    found, same = {slot, top}, {id(values[slot]), id(values[top])}
    for call in calls:
        if not isinstance(values[call.slot], tensors):
            continue
        if id(values[call.slot]) in same or (_shares(call) and _owner(call) in found):
            found.add(call.slot)
            same.add(id(values[call.slot]))
    return found


def _shares(call: Call) -> bool:
    return may_share_memory(call) or call.target == _PARAMETER


def _owner(call: Call) -> int | None:
    """The slot of the first operand."""
    return call.args[0].slot if call.args and type(call.args[0]) is Ref else None
