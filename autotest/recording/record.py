"""The calls of a program and their results, while the program is recorded."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from autotest.base.errors import NotReplayable
from autotest.comparison import Mismatch, Stage
from autotest.comparison.rejection import Rejection
from autotest.frameworks import Pair
from autotest.program import Array, Call, CallKind, Captured, Operand, Program, Ref, Scope, leaves, refs
from autotest.program.semantics import (
    assigns_items,
    clips_gradients,
    fills,
    in_place,
    is_backward,
    is_module_call,
    is_step,
    pushes_gradients,
    reads_gradient,
)
from autotest.recording.module_table import ModuleTable
from autotest.recording.undefined import filled_with, spoilt_with

# Builds a NamedTuple at half the cost of its own constructor. Every call of every trial builds one.
_made = tuple.__new__


class Record:
    """The log of one program, with the live values of both sides.

    `expected[i]` and `actual[i]` are the results of call `i`. The record keeps them alive, so that the `id` of a result
    identifies it while the record exists.
    """

    __slots__ = (
        "actual",
        "arrays",
        "backward_undefined",
        "calls",
        "expected",
        "files",
        "held",
        "imported",
        "mismatches",
        "modules",
        "opaque",
        "pair",
        "random_modules",
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
        #: Mismatches found while a call is made. The others are found by the comparison at the end of the trial.
        self.mismatches: list[Mismatch] = []
        #: Why the reference refused a call, or None.
        self.rejection: Rejection | None = None
        #: Why the program cannot be run without the test body, or None if it can.
        self.opaque: str | None = None
        #: ids of the reference's tensors with undefined contents; slots of results computed from undefined contents;
        #: and whether a gradient was pushed back from one of them.
        self.undefined: set[int] = set()
        self.undefined_slots: set[int] = set()
        self.backward_undefined = False
        #: Keeps objects alive that no call returned and whose ids are stored here. Otherwise another object could get
        #: the same id.
        self.held: list[Any] = []
        #: ids of the reference's parameters and buffers that have the same contents on both sides; ids of modules that
        #: draw random numbers.
        self.synced: set[int] = set()
        self.random_modules: set[int] = set()
        #: id of a buffer of the test -> the candidate's own buffer, because the two frameworks save different bytes.
        self.twins: dict[int, io.BytesIO] = {}
        #: Path of a file that the test saved -> the name of each side's own copy.
        self.files: dict[str, str] = {}
        #: id of a value imported from another record, or id of that record -> slot in this record.
        self.imported: dict[int, int] = {}
        self.modules = ModuleTable()
        #: The first steps of optimizers in the trial, with their inputs. See `autotest.recording.steps`.
        self.steps: list[Any] = []
        #: Path of the module whose forward is running, or None.
        self.scope: Scope | None = None

    def next_call(
        self, kind: CallKind, target: str, args: tuple[Operand, ...], kwargs: dict[str, Operand], note: str = ""
    ) -> Call:
        """Return the call to write next. It gets the next free slot."""
        return _made(Call, (kind, target, args, kwargs, len(self.calls), note, self.scope))

    def write(self, call: Call, expected: Any, actual: Any) -> int:
        """Write the next call with its results, and return its slot."""
        self.calls.append(call)
        self.expected.append(expected)
        self.actual.append(actual)
        return call.slot

    def capture(self, array: Array) -> Captured:
        """Keep `array` as one of the program's inputs."""
        self.arrays.append(array)
        return Captured(len(self.arrays) - 1)

    def program(self) -> Program:
        """Return the program recorded until now. Raises `NotReplayable` if it contains something that is not data."""
        if self.opaque is not None:
            raise NotReplayable(self.opaque)
        return self.snapshot()

    def snapshot(self) -> Program:
        """Return the program recorded until now, to read it or to name its values. It may not be replayable."""
        undefined = [slot for slot in range(len(self.calls)) if self.is_undefined(slot)]
        return Program(tuple(self.calls), tuple(self.arrays), frozenset(undefined))

    # -- undefined contents -----------------------------------------------------------------------------

    def is_undefined(self, slot: int) -> bool:
        """Return whether the result of call `slot`, or a part of it, has undefined contents."""
        if not (self.undefined or self.undefined_slots):
            return False
        return slot in self.undefined_slots or self._holds_undefined(self.expected[slot])

    def _holds_undefined(self, value: Any) -> bool:
        if isinstance(value, (tuple, list)):
            return any(self._holds_undefined(item) for item in value)
        return id(value) in self.undefined

    def gradients_undefined(self) -> set[int]:
        """Return the slots with undefined gradients: values with undefined contents, and all values they depend on."""
        if not self.backward_undefined:
            return set()
        found = {slot for slot in range(len(self.calls)) if self.is_undefined(slot)}
        found = {slot for slot in found if not (pushes_gradients(self.calls[slot]) or reads_gradient(self.calls[slot]))}
        for call in reversed(self.calls):
            if call.slot in found:
                found.update(ref.slot for ref in refs(call))
        return found

    def mark_undefined(self, slot: int, value: Any) -> None:
        """Note that the result `value` of call `slot` has contents that no specification fixes."""
        self.undefined_slots.add(slot)
        if isinstance(value, (tuple, list)):
            for item in value:
                self.mark_undefined(slot, item)
        elif isinstance(value, self.pair.reference.tensor_types):
            self.undefined.add(id(value))

    def spread_undefined(self, slot: int, owner: Any) -> None:
        """Mark the result of call `slot` as undefined if it depends on undefined contents.

        Contents that the call overwrites completely become defined.

        Args:
            slot: the call, which has been written.
            owner: the reference's object whose method was called, or None.
        """
        call, expected = self.calls[slot], self.expected[slot]
        called = is_module_call(call) and isinstance(owner, self.pair.reference.module_types)
        draws = called and id(owner) in self.random_modules and self.pair.reference.draws(owner)
        read = {ref.slot for ref in refs(call)}
        for filled in _filled(call):
            self._define(filled, call)
            read.discard(filled)
        if call.target == "getitem" and read and isinstance(self.expected[call.args[0].slot], (tuple, list)):
            read = {slot}  # one item of a tuple may be undefined while the others are defined
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
        if assigns_items(call) or in_place(call) or call.kind == "setattr":
            types = self.pair.reference.tensor_types
            for spoilt in spoilt_with(self.calls, self.expected, types, call.args[0].slot):
                self.mark_undefined(spoilt, self.expected[spoilt])
        if called and self.pair.reference.is_training(owner):
            self._hold_undefined(self.pair.reference.buffers(owner).values())  # such as running means
        if is_step(call):
            self._hold_undefined(self.pair.reference.optimized(owner))
        self.mark_undefined(slot, expected)

    def _define(self, filled: int, by: Call) -> None:
        """Note that call `by` gave the tensor in slot `filled` defined contents."""
        types = self.pair.reference.tensor_types
        # Assigning `.data` gives the tensor other memory. Values that share its old memory stay as they are.
        moved = by.kind == "setattr"
        same = {at for at, value in enumerate(self.expected) if value is self.expected[filled]} if moved else ()
        for slot in same or filled_with(self.calls, self.expected, types, filled):
            self.undefined.discard(id(self.expected[slot]))
            self.undefined_slots.discard(slot)

    def _hold_undefined(self, tensors: Iterable[Any]) -> None:
        for tensor in tensors:
            self.undefined.add(id(tensor))
            self.held.append(tensor)


def _filled(call: Call) -> list[int]:
    """Return the slots whose contents `call` defines completely, whatever they were before."""
    read = [ref.slot for ref in refs(call)]
    if read and (fills(call) or _assigns_all(call) or (call.kind == "setattr" and call.target == "data")):
        return read[:1]
    return [item.slot for item in leaves(call.kwargs.get("out")) if type(item) is Ref]


def _assigns_all(call: Call) -> bool:
    """Return whether `call` is ``x[:] = ...``, ``x[...] = ...`` or similar."""
    if call.kind != "operator" or call.target != "setitem":
        return False
    key = call.args[1] if type(call.args[1]) is tuple else (call.args[1],)
    return all(item is Ellipsis or (type(item) is slice and item == slice(None)) for item in key)


def stage_of(kind: CallKind, target: str, function: Any) -> Stage:
    """Return the stage of a test that a call belongs to. `function` is the called object on one side."""
    if target.rpartition(".")[2] in ("backward", "grad") and kind in ("method", "function"):
        return "backward"
    return "build" if kind == "function" and isinstance(function, type) else "forward"
