"""Finds the first divergent call: the first whose results differ although both sides get the same operands."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autotest.base.settings import Settings
from autotest.comparison import Mismatch, TensorValue
from autotest.diagnosis.attribution.influences import influences
from autotest.diagnosis.attribution.lockstep import first_divergent_in, first_unlike_in_zeros, is_given_alike
from autotest.frameworks import Framework, Pair
from autotest.program import Call, Program, operator_of
from autotest.program.isolation import isolated
from autotest.program.rewriting import upto, widened
from autotest.program.semantics import OPERATIONS, is_backward, is_module_call, is_step, writes
from autotest.replaying.agreement import Agreement, agree
from autotest.replaying.changing_call import ObjectChange, ObjectChanges
from autotest.replaying.gradient_flow import PairedGradients, suspects
from autotest.replaying.operands import CallData, operands_at
from autotest.replaying.operator_of_mismatch import MismatchNames
from autotest.replaying.shared_views import sharing_otherwise


@dataclasses.dataclass(frozen=True, slots=True)
class Located:
    """The place where a divergence begins."""

    #: The slot of the first divergent call; None if every call agrees on the reference's operands.
    slot: int | None
    #: The agreement on a program of that call alone that shows the same symptom; None if there is no such program.
    alone: Agreement | None = None
    #: The slot of that call in `alone`.
    alone_slot: int = 0
    #: If no call is divergent: the slot of the optimizer's step, of the write, or of the call in the backward, after
    #: which the sides differ, or of the call whose result has a zero of another sign. Its operands may already differ
    #: by rounding, so this is only a place to start looking.
    hint: int | None = None
    #: Pairs of the reference's and the candidate's gradients, if they were compared.
    gradients: PairedGradients | None = None
    #: What that call changed, if it is the first divergent one because of an object, and not of its result.
    change: ObjectChange | None = None

    @property
    def beginning(self) -> int | None:
        """The slot of the first divergent call, or else `hint`."""
        return self.hint if self.slot is None else self.slot


def locate(
    program: Program, pair: Pair, settings: Settings, first: Mismatch, known: Agreement | None = None
) -> Located:
    """Return the first divergent call that causes `first`, the first mismatch of `program`.

    Args:
        program: the program.
        pair: the reference and the candidate.
        settings: the settings of the test.
        first: the first mismatch of the program.
        known: the agreement on the program, if it is known: a program of one call is not run again for that call alone.
    """
    return _Search(program, pair, settings, first, known).located()


def operands(program: Program, framework: Framework, slot: int) -> tuple[dict[int, Any], Any]:
    """Return the content of each operand of call `slot` before the call, and the call's result, as data."""
    held = operands_at(program, framework, [slot]).get(slot, CallData({}))
    return held.operands, held.result


@dataclasses.dataclass(frozen=True)
class _Search:
    """The search for the call that causes `first`, the first mismatch of `program`."""

    program: Program
    pair: Pair
    settings: Settings
    first: Mismatch
    known: Agreement | None = None

    def located(self) -> Located:
        found = self._found()
        writer = found.hint if found.slot is None else found.slot
        is_value = (self.first.stage, self.first.symptom) == ("forward", "value")
        if is_value and writer is not None and _changes(self.program.calls[writer]):
            shown = next(iter(self._differing_after(writer + 1)), self.first).slot
            sharer = sharing_otherwise(self.program, shown, writer, self.pair)
            if sharer is not None:  # it is right alone, and so is the write that shows what it shares
                return Located(None, hint=sharer)
        return found

    def _found(self) -> Located:
        program, first = self.program, self.first
        changed = ObjectChanges(program, self.pair, self.settings).behind(first)
        if changed is not None:
            return Located(changed.slot, change=changed)
        if first.stage == "backward":
            return self._backward()
        if first.symptom in ("exception", "accepted", "out of memory"):
            return self._forward(first.slot)
        slot = self._only_call()
        if slot is None:
            slot = first_divergent_in(self._influences, program, self.pair, self.settings)
        # A write may change more values on one side, where the result of a call is its operand or a view of it.
        changing = [call.slot for call in program.calls if _changes(call)]
        if slot is None:
            turning = self._turning(changing)
            return Located(None, hint=self._unlike_in_zeros() if turning is None else turning)
        found = self._forward(slot)
        reads = first.slot == slot or program.calls[first.slot].kind == "tensor"
        if found.alone is None and (reads or slot in changing or not self._is_given_alike(slot)):
            # It may only read what an earlier write reached by mistake: its own result, or an operand, shows that.
            earlier = self._turning([other for other in changing if other < slot])
            return found if earlier is None else Located(None, hint=earlier)
        return found

    def _is_given_alike(self, slot: int) -> bool:
        return is_given_alike(slot, self.program, self.pair, self.settings)

    def _unlike_in_zeros(self) -> int | None:
        if self.first.symptom != "value":
            return None
        return first_unlike_in_zeros(self._influences - {self.first.slot}, self.program, self.pair, self.settings)

    def _only_call(self) -> int | None:
        """Return the call that gave the first mismatch its value, if it is the only one of the program, besides inputs.

        Nothing is compared before it, and the comparison after it is the one that showed the mismatch.
        """
        calls = [call for call in self.program.calls if call.kind != "tensor"]
        if len(calls) != 1 or calls[0].kind not in OPERATIONS or self.first.symptom != "value":
            return None
        slot = calls[0].slot
        return slot if self.first.slot == slot and slot not in self.program.undefined else None

    @functools.cached_property
    def _influences(self) -> frozenset[int]:
        return influences(self.program, self.first)

    def _forward(self, slot: int) -> Located:
        held = operands_at(self.program, self.pair.reference, [slot]).get(slot)
        if held is None or is_backward(self.program.calls[slot]):
            return Located(slot)
        return Located(slot, *self._alone(slot, held))

    def _backward(self) -> Located:
        """Return the first call of the backward whose outgoing gradients differ although the incoming ones agree."""
        found, first = suspects(self.program, self.pair, self.settings), self.first
        names = MismatchNames(self.program, self.pair, self.settings)
        raising = names.raising_call(first)
        guilty = None if raising is None else raising.slot
        slots = found.slots if guilty is None else [guilty, *(slot for slot in found.slots if slot != guilty)]
        rounding: Located | None = None
        for some in _in_growing_parts(slots):
            held = operands_at(self.program, self.pair.reference, some)
            for slot in some:
                if slot not in held:
                    continue
                cotangents = {path: value for (at, path), value in found.cotangents.items() if at == slot}
                alone, at = self._alone(slot, held[slot], cotangents)
                if alone is None:
                    continue
                located = Located(slot, alone, at, gradients=found.pairs)
                if self._stays_in_double(alone):
                    return located
                # A gradient that is zero except for rounding differs in many correct calls.
                rounding = rounding or located
        if rounding is not None:
            return rounding
        raised = first.slot if first.symptom in ("exception", "accepted", "out of memory") else None
        raised = raised if guilty is None else guilty
        named = names.operator(first) if len(found.slots) > 1 else ""
        alike = (slot for slot in found.slots if operator_of(self.program.calls, slot) == named)
        hint = next(alike, found.slots[0] if found.slots else None)
        return Located(raised, hint=hint, gradients=found.pairs)

    def _alone(
        self, slot: int, held: CallData, cotangents: Mapping[str, TensorValue | None] | None = None
    ) -> tuple[Agreement | None, int]:
        """Return the agreement on call `slot` by itself, and its slot there; None, 0 if the symptom does not show."""
        program, first = self.program, self.first
        gradients = first.stage == "backward"

        def cut_out(*, on_copies: bool) -> tuple[Agreement, int]:
            values, result = held.operands, held.result
            alone, at = isolated(
                program, slot, values, result, gradients=gradients, cotangents=cotangents, on_copies=on_copies
            )
            if self.known is not None and _are_same(alone, self.known.program):
                return self.known, at
            return self._agreement(alone), at

        try:
            found, at = cut_out(on_copies=False)
            if found.refused and gradients and is_module_call(program.calls[slot]):
                found, at = cut_out(on_copies=True)
        except (KeyError, ValueError):  # an operand cannot be created on its own
            return None, 0
        shown = [(one.symptom, one.stage) for one in found.mismatches[:1]]
        return (found, at) if shown == [(first.symptom, first.stage)] else (None, 0)

    def _agreement(self, program: Program) -> Agreement:
        return agree(program, self.pair, self.settings)

    def _stays_in_double(self, alone: Agreement) -> bool:
        """Whether the sides differ by about as much in double precision, where rounding errors nearly vanish."""
        gaps = [item.statistics.greatest_abs for item in alone.mismatches if item.statistics is not None]
        wide = self._agreement(widened(alone.program)[0]).mismatches
        return bool(wide) and (
            not gaps or any(item.statistics is None or item.statistics.greatest_abs >= max(gaps) / 100 for item in wide)
        )

    def _turning(self, slots: Sequence[int]) -> int | None:
        """Return the first of the calls in `slots` before which the sides agree and after which they differ.

        Only values that contribute to the first mismatch are looked at.
        """
        low, high = 0, len(slots)
        while low < high:
            middle = (low + high) // 2
            if self._differing_after(slots[middle] + 1):
                high = middle
            else:
                low = middle + 1
        return None if low == len(slots) or self._differing_after(slots[low]) else slots[low]

    def _differing_after(self, end: int) -> list[Mismatch]:
        """Return the mismatches of values that contribute to the first mismatch after the calls before `end`."""
        found = self._agreement(upto(self.program, end)).mismatches
        return [item for item in found if item.slot in self._influences]


def _are_same(one: Program, other: Program) -> bool:
    """Whether two programs make the same calls of the same numbers."""
    if one.calls != other.calls or one.undefined != other.undefined or len(one.arrays) != len(other.arrays):
        return False
    return all(
        (mine.dtype, mine.data.dtype, mine.data.shape) == (theirs.dtype, theirs.data.dtype, theirs.data.shape)
        and mine.data.tobytes() == theirs.data.tobytes()
        for mine, theirs in zip(one.arrays, other.arrays, strict=True)
    )


def _in_growing_parts(slots: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield `slots` in parts of growing size.

    The first slot nearly always is the right one, and the operands of all slots may need much memory.
    """
    start, size = 0, 4
    while start < len(slots):
        yield slots[start : start + size]
        start, size = start + size, size * 8


def _changes(call: Call) -> bool:
    """Whether `call` changes earlier values: it writes into them, or is an optimizer's step."""
    return is_step(call) or writes(call)
