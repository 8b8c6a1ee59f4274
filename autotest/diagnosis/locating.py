"""Finds the first divergent call: the first that disagrees although both sides are given the same operands."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from typing import Any

from autotest.base.settings import Settings
from autotest.comparison import Mismatch, TensorValue, compare_values
from autotest.diagnosis.agreement import Agreement, agree
from autotest.frameworks import Framework, Pair
from autotest.program import Array, Call, Program, refs
from autotest.program.rewriting import in_place, is_backward, is_class, isolated
from autotest.recording.freezing import freeze
from autotest.replaying.replay import Contexts, perform, replay

_SILENT = frozenset(("tensor", "load_state", "overwrite", "setattr", "enter", "exit"))
_PLAIN = (type(None), bool, int, float, complex, str)
#: Calls that are looked at alone for their gradients, at most.
_ALONE = 24


@dataclasses.dataclass(frozen=True, slots=True)
class Located:
    """Where a divergence begins."""

    #: The first divergent call; None when every call agrees on the reference's operands.
    slot: int | None
    #: A program of that call alone which shows the same symptom, where there is one.
    alone: Agreement | None = None
    #: That call's slot in `alone`.
    alone_slot: int = 0
    #: Where no call is divergent: the optimizer's step after which the sides differ. It is given gradients that may
    #: be off by rounding, so that it is no more than the place to look at.
    step: int | None = None


def locate(program: Program, pair: Pair, settings: Settings, first: Mismatch) -> Located:
    """The first divergent call behind `first`, the first mismatch of `program`."""
    if first.symptom in ("exception", "accepted", "out of memory"):
        slot: int | None = first.slot
        return Located(slot, *_alone(program, pair, settings, first.slot, first))
    if first.stage == "backward":
        for slot in _differentiable(program):
            alone, at = _alone(program, pair, settings, slot, first)
            if alone is not None:
                return Located(slot, alone, at)
        return Located(None)
    slot = _lockstep(program, pair, settings)
    if slot is None:
        return Located(None, step=_step(program, pair, settings))
    return Located(slot, *_alone(program, pair, settings, slot, first))


def operands(program: Program, framework: Framework, slot: int) -> tuple[dict[int, Any], Any]:
    """What each operand of call `slot` held before it, as data, and what the call gave."""
    before = replay(program, framework, upto=slot)
    if before.error is not None:
        return {}, None
    found: dict[int, Any] = {}
    read = sorted({ref.slot for ref in refs(program.calls[slot])})
    tensors = [at for at in read if isinstance(before.values[at], framework.tensor_types)]
    for at, value in zip(tensors, freeze(framework, [before.values[at] for at in tensors]), strict=True):
        # The call may write into it.
        found[at] = dataclasses.replace(value, data=value.data.copy())
    found |= {at: before.values[at] for at in read if isinstance(before.values[at], _PLAIN)}
    after = replay(program, framework, upto=slot + 1)
    if after.error is not None:
        return found, None
    result = after.values[slot]
    if in_place(program.calls[slot]) and result is None:
        result = after.values[read[0]]
    return found, freeze(framework, [result])[0] if isinstance(result, framework.tensor_types) else None


def _alone(
    program: Program, pair: Pair, settings: Settings, slot: int, first: Mismatch
) -> tuple[Agreement | None, int]:
    """Call `slot` by itself, when that shows the symptom of `first`."""
    if is_backward(program.calls[slot]):
        return None, 0
    held, result = operands(program, pair.reference, slot)
    try:
        alone, at = isolated(program, slot, held, result, gradients=first.stage == "backward")
    except (KeyError, ValueError):  # an operand that cannot be made again by itself
        return None, 0
    found = agree(alone, pair, settings)
    if found.mismatches and found.mismatches[0].symptom == first.symptom and found.mismatches[0].stage == first.stage:
        return found, at
    return None, 0


def _differentiable(program: Program) -> list[int]:
    """Calls that may hand gradients on, the last first: it is nearest to where the cotangent comes in."""
    found = [
        call.slot
        for call in program.calls
        if call.kind in ("function", "method", "operator") and not is_backward(call) and not is_class(call)
    ]
    return found[::-1][:_ALONE]


def _lockstep(program: Program, pair: Pair, settings: Settings) -> int | None:
    """The slot of the first forward call that disagrees, each side having been given the reference's operands."""
    held: tuple[list[Any], list[Any]] = ([], [])
    sides = list(zip((pair.reference, pair.candidate), held, strict=True))
    with Contexts() as contexts:
        for call in program.calls:
            if is_backward(call):
                break
            try:
                # Contexts are left in the opposite order: the sides may be one framework.
                for side, values in reversed(sides) if call.kind == "exit" else sides:
                    values.append(perform(call, side, values, program.arrays, _NO_DTYPES))
                    contexts.note(side, call, values)
                    if call.kind == "exit":
                        # Whoever keeps the context keeps OneFlow's entered.
                        values[call.args[0].slot] = None
            except Exception:  # noqa: BLE001 - the frameworks', whatever they are
                return call.slot
            if call.kind in _SILENT or call.slot in program.undefined or is_class(call):
                continue
            if _differs(call, pair, settings, held):
                return call.slot
    return None


def _step(program: Program, pair: Pair, settings: Settings) -> int | None:
    """The first step of an optimizer before which the sides agree, and after which they do not."""
    for call in program.calls:
        if call.kind == "method" and call.target == "step":
            before, after = (agree(_upto(program, end), pair, settings) for end in (call.slot, call.slot + 1))
            if after.mismatches:
                return None if before.mismatches else call.slot
    return None


def _upto(program: Program, end: int) -> Program:
    return Program(program.calls[:end], program.arrays, frozenset(slot for slot in program.undefined if slot < end))


_NO_DTYPES: Mapping[str, str] = {}


def _differs(call: Call, pair: Pair, settings: Settings, held: tuple[list[Any], list[Any]]) -> bool:
    """Whether the call's result or an operand that it may have changed disagrees; the candidate's is put right."""
    expected, actual = held
    slots = [call.slot, *dict.fromkeys(ref.slot for ref in refs(call))]
    slots = [slot for slot in slots if not isinstance(expected[slot], (*_PLAIN, *pair.reference.module_types))]
    one = freeze(pair.reference, [expected[slot] for slot in slots])
    other = freeze(pair.candidate, [actual[slot] for slot in slots])
    differs = False
    for slot, mine, theirs in zip(slots, one, other, strict=True):
        wrong = compare_values(
            "",
            slot,
            "forward",
            mine,
            theirs,
            settings.tolerance,
            check_dtype=settings.check_dtype,
            check_values=settings.check_allclose,
        )
        differs = differs or bool(wrong)
        if type(mine) is TensorValue and type(theirs) is TensorValue and mine.data.tobytes() != theirs.data.tobytes():
            with contextlib.suppress(Exception):  # of another shape, or expanded: it stays as it is
                pair.candidate.overwrite(actual[slot], Array(mine.data.copy(), mine.dtype))
    if not slots or call.slot not in slots:
        plain = type(expected[call.slot]) in _PLAIN and call.target != "type"  # which names the framework
        differs = differs or (plain and expected[call.slot] != actual[call.slot])
    return differs
