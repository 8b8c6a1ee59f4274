"""Finds the ``requires_grad_`` of a module after which a parameter requires grad on one side alone."""

from __future__ import annotations

from typing import Any

from autotest.comparison import Mismatch
from autotest.frameworks import Framework, Pair
from autotest.program import Program
from autotest.program.influence import shared_memory
from autotest.program.semantics import first_operand, makes_module
from autotest.replaying.replay import replay


def freezing_call(program: Program, mismatch: Mismatch, pair: Pair) -> int | None:
    """Return the call after which the parameter of `mismatch` first requires grad on one side alone.

    None if `mismatch` is about something else, or if the parameter was made so.
    """
    slot, calls = mismatch.slot, program.calls
    if mismatch.symptom != "requires_grad" or slot >= len(calls) or not makes_module(calls[slot]):
        return None
    memory = shared_memory(calls)
    owners = ((call.slot, first_operand(call)) for call in calls if call.target == "requires_grad_")
    slots = [at for at, owner in owners if owner is not None and memory[owner.slot] == memory[slot]]
    if not slots:
        return None
    expected, actual = (_required(program, side, mismatch, {slots[0] - 1, *slots}) for side in pair.frameworks)
    for at in sorted(expected.keys() & actual.keys()):
        if expected[at] != actual[at]:
            return at if at in slots else None
    return None


def _required(program: Program, framework: Framework, mismatch: Mismatch, times: set[int]) -> dict[int, bool]:
    """Return whether the parameter of `mismatch` requires grad after each call in `times`."""
    found: dict[int, bool] = {}

    def between_calls(done: int, values: list[Any]) -> None:
        if done - 1 in times:
            parameter = framework.parameters(values[mismatch.slot]).get(mismatch.place.removeprefix("."))
            if parameter is not None:
                found[done - 1] = framework.values([parameter])[0].requires_grad

    replay(program, framework, between_calls=between_calls, upto=max(times) + 1)
    return found
