"""Finds values that share memory, so that a call that fills or spoils one of them affects all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autotest.program import Call, Ref
from autotest.program.semantics import always_shares_memory, covers_its_operand, may_share_memory

#: A class whose constructor does not copy its argument.
_PARAMETER = "nn.Parameter"


def filled_with(calls: Sequence[Call], values: Sequence[Any], tensors: Any, slot: int) -> set[int]:
    """Return the slots that become defined with `slot`: the same tensor, the tensors it covers, and their views.

    Args:
        calls: the calls of the program.
        values: the results of the calls on one side.
        tensors: the tensor classes of that side.
        slot: the slot that gets defined contents.
    """

    def covers(call: Call) -> bool:
        return (always_shares_memory(call) and covers_its_operand(call)) or call.target == _PARAMETER

    return _sharing(calls, values, tensors, slot, covers)


def spoilt_with(calls: Sequence[Call], values: Sequence[Any], tensors: Any, slot: int) -> set[int]:
    """Return the slots that become undefined with `slot`: the same tensor, tensors it is a part of, and their views."""
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
    """Return the slot of the first operand, or None."""
    return call.args[0].slot if call.args and type(call.args[0]) is Ref else None
