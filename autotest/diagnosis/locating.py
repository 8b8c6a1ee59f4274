"""Finds the first divergent call: the first that disagrees although both sides are given the same operands."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autotest.base.settings import Settings
from autotest.comparison import Mismatch, TensorValue
from autotest.diagnosis.agreement import Agreement, agree
from autotest.diagnosis.gradient_flow import suspects
from autotest.diagnosis.lockstep import first_divergent
from autotest.diagnosis.operands import Held, operands_at
from autotest.frameworks import Framework, Pair
from autotest.program import Program
from autotest.program.isolation import isolated
from autotest.program.rewriting import upto, widened
from autotest.program.semantics import clips_gradients, is_backward, is_module_call, is_step


@dataclasses.dataclass(frozen=True, slots=True)
class Located:
    """Where a divergence begins."""

    #: The first divergent call; None when every call agrees on the reference's operands.
    slot: int | None
    #: A program of that call alone which shows the same symptom, where there is one.
    alone: Agreement | None = None
    #: That call's slot in `alone`.
    alone_slot: int = 0
    #: Where no call is divergent: the optimizer's step after which the sides differ, or the call past which gradients
    #: do. What it is given may be off by rounding, so that it is no more than the place to look at.
    hint: int | None = None


def locate(program: Program, pair: Pair, settings: Settings, first: Mismatch) -> Located:
    """The first divergent call behind `first`, the first mismatch of `program`."""
    clipping = [call.slot for call in program.calls if clips_gradients(call)]
    clipped = _turning(program, clipping, pair, settings)
    if clipped is not None:  # which writes into gradients that agreed
        return Located(clipped)
    if first.stage == "backward":
        return _backward(program, pair, settings, first)
    if first.symptom in ("exception", "accepted", "out of memory"):
        return _forward(program, pair, settings, first, first.slot)
    slot = first_divergent(program, pair, settings)
    if slot is None:
        steps = [call.slot for call in program.calls if is_step(call)]
        return Located(None, hint=_turning(program, steps, pair, settings))
    return _forward(program, pair, settings, first, slot)


def operands(program: Program, framework: Framework, slot: int) -> tuple[dict[int, Any], Any]:
    """What each operand of call `slot` held before it, as data, and what the call gave."""
    held = operands_at(program, framework, [slot]).get(slot, Held({}))
    return held.operands, held.result


def _forward(program: Program, pair: Pair, settings: Settings, first: Mismatch, slot: int) -> Located:
    held = operands_at(program, pair.reference, [slot]).get(slot)
    if held is None or is_backward(program.calls[slot]):
        return Located(slot)
    return Located(slot, *_alone(program, pair, settings, slot, first, held))


def _backward(program: Program, pair: Pair, settings: Settings, first: Mismatch) -> Located:
    """The first call of the backward whose gradients differ although what comes into it agrees."""
    found = suspects(program, pair, settings)
    rounding: Located | None = None
    for some in _in_growing_parts(found.slots):
        held = operands_at(program, pair.reference, some)
        for slot in some:
            if slot not in held:
                continue
            cotangents = {path: value for (at, path), value in found.cotangents.items() if at == slot}
            alone, at = _alone(program, pair, settings, slot, first, held[slot], cotangents)
            if alone is None:
                continue
            located = Located(slot, alone, at)
            if _stays_in_double(alone, pair, settings):
                return located
            # A gradient that is zero but for rounding differs in many a healthy call.
            rounding = rounding or located
    if rounding is not None:
        return rounding
    raised = first.slot if first.symptom in ("exception", "accepted", "out of memory") else None
    return Located(raised, hint=found.slots[0] if found.slots else None)


def _in_growing_parts(slots: Sequence[int]) -> Iterator[Sequence[int]]:
    """`slots` in parts that grow: the first is nearly always the one, and the operands of all may be many."""
    start, size = 0, 4
    while start < len(slots):
        yield slots[start : start + size]
        start, size = start + size, size * 8


def _alone(
    program: Program,
    pair: Pair,
    settings: Settings,
    slot: int,
    first: Mismatch,
    held: Held,
    cotangents: Mapping[str, TensorValue | None] | None = None,
) -> tuple[Agreement | None, int]:
    """Call `slot` by itself, when that shows the symptom of `first`."""
    gradients = first.stage == "backward"

    def cut_out(*, on_copies: bool) -> tuple[Agreement, int]:
        alone, at = isolated(
            program, slot, held.operands, held.result, gradients=gradients, cotangents=cotangents, on_copies=on_copies
        )
        return agree(alone, pair, settings), at

    try:
        found, at = cut_out(on_copies=False)
        if found.refused and gradients and is_module_call(program.calls[slot]):
            found, at = cut_out(on_copies=True)
    except (KeyError, ValueError):  # an operand that cannot be made again by itself
        return None, 0
    if found.mismatches and found.mismatches[0].symptom == first.symptom and found.mismatches[0].stage == first.stage:
        return found, at
    return None, 0


def _stays_in_double(alone: Agreement, pair: Pair, settings: Settings) -> bool:
    """Whether the sides are about as far apart in double precision: what only rounding does nearly goes away."""
    gaps = [item.statistics.greatest_abs for item in alone.mismatches if item.statistics is not None]
    wide = agree(widened(alone.program)[0], pair, settings).mismatches
    return bool(wide) and (
        not gaps or any(item.statistics is None or item.statistics.greatest_abs >= max(gaps) / 100 for item in wide)
    )


def _turning(program: Program, slots: Sequence[int], pair: Pair, settings: Settings) -> int | None:
    """The first of the calls in `slots` before which the sides agree, and after which they do not."""
    low, high = 0, len(slots)
    while low < high:
        middle = (low + high) // 2
        if agree(upto(program, slots[middle] + 1), pair, settings).mismatches:
            high = middle
        else:
            low = middle + 1
    if low == len(slots) or agree(upto(program, slots[low]), pair, settings).mismatches:
        return None
    return slots[low]
