"""The list of calls of a program while it is recorded."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Iterator
from typing import Any

from autotest.base.errors import NotReplayable
from autotest.comparison import Mismatch, Stage
from autotest.comparison.rejection import Rejection
from autotest.frameworks import Pair, files
from autotest.program import Array, Call, CallKind, Captured, File, Operand, Program, Ref, Scope, leaves, refs
from autotest.program.randomness import KnownContents
from autotest.program.semantics import (
    clips_gradients,
    fills,
    is_backward,
    is_class,
    is_module_call,
    is_step,
    loads_state,
    out_operands,
    pushes_gradients,
    reads_gradient,
    written,
)
from autotest.recording.drawn_result import DrawnResult, drawn_by
from autotest.recording.module_table import ModuleTable
from autotest.recording.shared_contents import filled_with, spoilt_with

# Creates a NamedTuple at half the cost of its constructor; every call of every trial creates one.
_made = tuple.__new__


class Record:
    """The recorded calls of one program, with the live values of both sides.

    `expected[i]` and `actual[i]` are the results of call `i` on the reference and on the candidate. The record keeps
    them alive as long as it exists, so that their ids stay unique.
    """

    __slots__ = (
        "actual",
        "arrays",
        "backward_undefined",
        "calls",
        "drawn",
        "expected",
        "files",
        "has_stand_ins",
        "held",
        "imported",
        "mismatches",
        "modules",
        "opaque",
        "pair",
        "random_modules",
        "refused_call",
        "rejection",
        "scope",
        "steps",
        "synced",
        "twins",
        "undefined",
        "undefined_slots",
    )

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.calls: list[Call] = []
        self.arrays: list[Array] = []
        self.expected: list[Any] = []
        self.actual: list[Any] = []
        #: Mismatches found while calls run; all others are found at the end of the trial.
        self.mismatches: list[Mismatch] = []
        #: Why the trial is rejected, such as a refusal by the reference; None if it is not.
        self.rejection: Rejection | None = None
        #: The call that the reference refused, if that is why; `calls` does not contain it.
        self.refused_call: Call | None = None
        #: Why the program cannot be replayed without the test body; None if it can.
        self.opaque: str | None = None
        #: ids of the reference's tensors with undefined contents, the slots of values computed from such tensors, and
        #: whether a backward pass ran through one of them.
        self.undefined: set[int] = set()
        self.undefined_slots: set[int] = set()
        self.backward_undefined = False
        #: Slots of calls whose results are undefined for another reason than their operands, with what they drew.
        self.drawn: dict[int, DrawnResult] = {}
        #: Keeps objects alive that no call returned but whose ids are stored here; otherwise an id might be reused.
        self.held: list[Any] = []
        #: ids of the reference's parameters and buffers that have equal values on both sides, and of modules that draw
        #: random numbers.
        self.synced: set[int] = set()
        self.random_modules: set[int] = set()
        #: id of a buffer of the test -> the candidate's buffer, because two frameworks save different bytes.
        self.twins: dict[int, io.BytesIO] = {}
        #: Path of a file that the test saved -> the name of each side's own copy of it.
        self.files: dict[str, str] = {}
        #: id of an object imported from another record, or of that record -> slot in this record.
        self.imported: dict[int, int] = {}
        #: Whether values of this record were made again for another candidate, so that dual objects hold its values.
        self.has_stand_ins = False
        self.modules = ModuleTable()
        #: The inputs of the first optimizer steps, as `autotest.recording.steps.OptimizerStep`.
        self.steps: list[Any] = []
        #: Path of the module whose forward is running; None outside of any.
        self.scope: Scope | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the trial is rejected or has a mismatch already, so that nothing that follows can change that."""
        return self.rejection is not None or bool(self.mismatches)

    def next_call(
        self, kind: CallKind, target: str, args: tuple[Operand, ...], kwargs: dict[str, Operand], note: str = ""
    ) -> Call:
        """Return the next call, with the next slot, without recording it."""
        return _made(Call, (kind, target, args, kwargs, len(self.calls), note, self.scope))

    def write(self, call: Call, expected: Any, actual: Any) -> int:
        """Record the next call with its results; return its slot."""
        self.calls.append(call)
        self.expected.append(expected)
        self.actual.append(actual)
        return call.slot

    def capture(self, array: Array) -> Captured:
        """Add `array` to the program's inputs; return the operand that refers to it."""
        self.arrays.append(array)
        return Captured(len(self.arrays) - 1)

    def program(self) -> Program:
        """Return the program recorded so far.

        Raises:
            NotReplayable: the program contains something that is not data.
        """
        if self.opaque is not None:
            raise NotReplayable(self.opaque)
        return self.snapshot()

    def snapshot(self) -> Program:
        """Return the program recorded so far for reading and naming; it may not be replayable."""
        undefined = [slot for slot in range(len(self.calls)) if self.is_undefined(slot)]
        return Program(tuple(self.calls), tuple(self.arrays), frozenset(undefined))

    # -- undefined contents -----------------------------------------------------------------------------

    def is_undefined(self, slot: int) -> bool:
        """Return whether the result of call `slot`, or one of its items, has undefined contents."""
        if not (self.undefined or self.undefined_slots):
            return False
        return slot in self.undefined_slots or self._holds_undefined(self.expected[slot])

    def _holds_undefined(self, value: Any) -> bool:
        if isinstance(value, (tuple, list)):
            return any(self._holds_undefined(item) for item in value)
        return id(value) in self.undefined

    def gradients_undefined(self) -> set[int]:
        """Return the slots with undefined gradients: undefined values, and all values that these were computed from.

        These include all slots that contain one of their tensors: a module may be read as a part of another.
        """
        if not self.backward_undefined:
            return set()
        found = {slot for slot in range(len(self.calls)) if self.is_undefined(slot)}
        found = {slot for slot in found if not (pushes_gradients(self.calls[slot]) or reads_gradient(self.calls[slot]))}
        for call in reversed(self.calls):
            if call.slot in found:
                found.update(ref.slot for ref in refs(call))
        tensors_of = self.pair.reference.tensors_of
        tensors = {id(tensor) for slot in found for tensor in tensors_of(self.expected[slot])}
        return found | {
            slot
            for slot, value in enumerate(self.expected)
            if slot not in found and any(id(tensor) in tensors for tensor in tensors_of(value))
        }

    def mark_drawn(self, call: Call) -> None:
        """Mark the result of `call`, the last one, which drew random numbers for it, as undefined."""
        self.drawn[call.slot] = drawn_by(call, self.expected, self.pair.reference)
        self.mark_undefined(call.slot, self.expected[call.slot])

    def _copy_contents(self, slot: int, contents: KnownContents) -> None:
        """Copy random numbers that are data from the reference to the candidate; mark undefined contents as such."""
        expected, actual, reference = self.expected[slot], self.actual[slot], self.pair.reference
        if contents is KnownContents.DEFINED or not isinstance(expected, (tuple, list, reference.tensor_types)):
            return
        if contents is KnownContents.UNDEFINED or not isinstance(actual, self.pair.candidate.tensor_types):
            self.mark_drawn(self.calls[slot])
            return
        array = reference.values([expected])[0].as_array()
        with contextlib.suppress(Exception):  # a different shape or dtype is reported by the comparison
            self.pair.candidate.overwrite(actual, array)
        note = f"drawn by {reference.name}"
        self.write(self.next_call("overwrite", "", (Ref(slot), self.capture(array)), {}, note), None, None)

    def mark_undefined(self, slot: int, value: Any) -> None:
        """Mark `value`, the result of call `slot`, and its items as undefined."""
        self.undefined_slots.add(slot)
        if isinstance(value, (tuple, list)):
            for item in value:
                self.mark_undefined(slot, item)
        elif isinstance(value, self.pair.reference.tensor_types):
            self.undefined.add(id(value))

    def spread_undefined(self, slot: int, owner: Any) -> None:
        """Mark the result of call `slot` as undefined if it read undefined contents, and what it fills as defined.

        Args:
            slot: slot of a recorded call.
            owner: on the reference, the object whose method was called; None for a function.
        """
        call, expected = self.calls[slot], self.expected[slot]
        called = is_module_call(call) and isinstance(owner, self.pair.reference.module_types)
        draws = called and id(owner) in self.random_modules and self.pair.reference.draws(owner)
        read = {ref.slot for ref in refs(call)} | {*self._saved_in(call)}
        for filled in _filled(call):
            self._define(filled, call)
            read.discard(filled)
        types = self.pair.reference.tensor_types
        several = call.target == "getitem" and read and isinstance(self.expected[call.args[0].slot], (tuple, list))
        if several and isinstance(expected, types):
            read = {slot}  # of several tensors, only some may be undefined
        pushed = self.backward_undefined and (is_step(call) or clips_gradients(call))
        if not (
            draws
            or pushed
            or any(self.is_undefined(earlier) for earlier in read)
            or (called and any(id(value) in self.undefined for value in self.pair.reference.state(owner).values()))
        ):
            return
        if is_backward(call):
            self.backward_undefined = True
        changed = {*written(call)}
        if isinstance(expected, types):  # a module that works in place returns its operand
            changed |= {ref for ref in refs(call) if self.expected[ref.slot] is expected}
        for ref in changed:
            for spoilt in spoilt_with(self.calls, self.expected, types, ref.slot):
                self.mark_undefined(spoilt, self.expected[spoilt])
        if called and self.pair.reference.is_training(owner):
            self._hold_undefined(self.pair.reference.buffers(owner).values())  # for example running means
        if loads_state(call) and isinstance(owner, self.pair.reference.module_types):
            self._hold_undefined(self.pair.reference.state(owner).values())
        if is_step(call):
            self._hold_undefined(self.pair.reference.optimized(owner))
        if draws:
            self.mark_drawn(call)
        else:
            self.mark_undefined(slot, expected)

    def _saved_in(self, call: Call) -> Iterator[int]:
        """Yield the earlier calls that wrote the file that `call` reads."""
        if call.target == files.LOADS:
            names = _files_of(call)
            yield from (one.slot for one in self.calls if one.target == files.SAVES and names & _files_of(one))

    def _define(self, filled: int, by: Call) -> None:
        """Mark the result of call `filled` as defined, because the call `by` replaced its contents."""
        types = self.pair.reference.tensor_types
        # Assigning `x.data` gives the tensor other memory: values that share its old memory are not affected.
        moved = by.kind == "setattr"
        same = {at for at, value in enumerate(self.expected) if value is self.expected[filled]} if moved else ()
        for slot in same or filled_with(self.calls, self.expected, types, filled):
            self.undefined.discard(id(self.expected[slot]))
            self.undefined_slots.discard(slot)

    def _hold_undefined(self, tensors: Iterable[Any]) -> None:
        for tensor in tensors:
            self.undefined.add(id(tensor))
            self.held.append(tensor)


def _files_of(call: Call) -> set[File]:
    return {leaf for leaf in leaves((call.args, call.kwargs)) if type(leaf) is File}


def _filled(call: Call) -> list[int]:
    """Return the slots whose contents `call` defines, regardless of their old contents."""
    read = [ref.slot for ref in refs(call)]
    if read and (fills(call) or _assigns_all(call) or (call.kind == "setattr" and call.target == "data")):
        return read[:1]
    return [item.slot for item in out_operands(call)]


def _assigns_all(call: Call) -> bool:
    """Return whether `call` is ``x[:] = ...``, ``x[...] = ...`` or similar."""
    if call.kind != "operator" or call.target != "setitem":
        return False
    key = call.args[1] if type(call.args[1]) is tuple else (call.args[1],)
    return all(item is Ellipsis or (type(item) is slice and item == slice(None)) for item in key)


def stage_of(call: Call) -> Stage:
    """Return the stage of a trial that `call` belongs to."""
    if pushes_gradients(call) or reads_gradient(call):
        return "backward"
    return "build" if is_class(call) else "forward"
