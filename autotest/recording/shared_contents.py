"""Finds the values that share memory, so that all of them become defined or undefined together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autotest.program import Call
from autotest.program.semantics import always_shares_memory, covers_its_operand, first_operand, may_share_memory

#: A class whose instances share the memory of their argument.
_PARAMETER = "nn.Parameter"


def filled_with(calls: Sequence[Call], values: Sequence[Any], tensors: Any, slot: int) -> set[int]:
    """Return the slots that become defined together with `slot`: the same tensor, bases it covers, and their views.

    Args:
        calls: the calls of a program.
        values: the results of the calls on one side.
        tensors: the tensor classes of that side.
        slot: slot of the tensor whose contents were filled.
    """

    def covers(call: Call) -> bool:
        return (always_shares_memory(call) and covers_its_operand(call)) or call.target == _PARAMETER

    return _sharing(calls, values, tensors, slot, covers)


def spoilt_with(calls: Sequence[Call], values: Sequence[Any], tensors: Any, slot: int) -> set[int]:
    """Return the slots that become undefined together with `slot`: the same tensor, its bases, and their views.

    The arguments are those of `filled_with`.
    """
    return _sharing(calls, values, tensors, slot, _shares)


def _sharing(
    calls: Sequence[Call], values: Sequence[Any], tensors: Any, slot: int, upwards: Callable[[Call], bool]
) -> set[int]:
    top = at = slot
    while (owner := _owner(calls[at])) is not None and upwards(calls[at]):
        at = owner
        if isinstance(values[at], tensors):
            top = at
        elif not isinstance(values[at], (tuple, list)):  # several views, as of `chunk`, lead to the tensor behind them
            break
    found, same = {slot, top}, {id(values[slot]), id(values[top])}
    for call in calls:
        if not isinstance(values[call.slot], (tensors, tuple, list)):
            continue
        if id(values[call.slot]) in same or (_shares(call) and _owner(call) in found):
            found.add(call.slot)
            same.add(id(values[call.slot]))
    return found


def _shares(call: Call) -> bool:
    return may_share_memory(call) or call.target == _PARAMETER


def _owner(call: Call) -> int | None:
    """Return the slot of the first operand, or None if it is no reference to a slot."""
    owner = first_operand(call)
    return None if owner is None else owner.slot
