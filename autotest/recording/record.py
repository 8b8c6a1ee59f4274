"""The straight list of calls that a program is made of, while it is being made."""

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

# What a NamedTuple's own constructor does, at half the cost: every call of every trial makes one.
_made = tuple.__new__


class Record:
    """The log of one program, with the live values of both sides.

    `expected[i]` and `actual[i]` are what call `i` returned. They are kept until the record goes, so that
    `id` of any of them identifies it for as long as it matters.
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
        #: Divergences that show when a call is made; the others are found when the trial is over.
        self.mismatches: list[Mismatch] = []
        #: Why the reference refused, once it has.
        self.rejection: Rejection | None = None
        #: Why the program cannot be run again without the test body, if so.
        self.opaque: str | None = None
        #: ids of the reference's tensors whose contents are undefined, slots that hold anything computed from
        #: such, and whether one of them was backpropagated.
        self.undefined: set[int] = set()
        self.undefined_slots: set[int] = set()
        self.backward_undefined = False
        #: Keeps what no call returned alive for as long as its id is noted here: another object may get it otherwise.
        self.held: list[Any] = []
        #: ids of the reference's parameters and buffers that both sides hold alike, and of modules that draw.
        self.synced: set[int] = set()
        self.random_modules: set[int] = set()
        #: id of a buffer of the test -> the candidate's own, since what two frameworks save is not the same.
        self.twins: dict[int, io.BytesIO] = {}
        #: The path of a file that the test saved -> what each side's own of it is called.
        self.files: dict[str, str] = {}
        #: id of what was imported from another record, or of that record -> slot here.
        self.imported: dict[int, int] = {}
        self.modules = ModuleTable()
        #: What steps of optimizers were given, the first of them.
        self.steps: list[Any] = []
        #: The path of the module whose forward is running.
        self.scope: Scope | None = None

    def next_call(
        self, kind: CallKind, target: str, args: tuple[Operand, ...], kwargs: dict[str, Operand], note: str = ""
    ) -> Call:
        """The call that is to be written down next."""
        return _made(Call, (kind, target, args, kwargs, len(self.calls), note, self.scope))

    def write(self, call: Call, expected: Any, actual: Any) -> int:
        """Write the next call down with its results; returns its slot."""
        self.calls.append(call)
        self.expected.append(expected)
        self.actual.append(actual)
        return call.slot

    def capture(self, array: Array) -> Captured:
        """Keep `array` as one of the program's inputs."""
        self.arrays.append(array)
        return Captured(len(self.arrays) - 1)

    def program(self) -> Program:
        """What was recorded so far; raises `NotReplayable` when something in it is not data."""
        if self.opaque is not None:
            raise NotReplayable(self.opaque)
        return self.snapshot()

    def snapshot(self) -> Program:
        """What was recorded so far, to be read and named; it may not be replayable."""
        undefined = [slot for slot in range(len(self.calls)) if self.is_undefined(slot)]
        return Program(tuple(self.calls), tuple(self.arrays), frozenset(undefined))

    # -- contents that nobody specifies -----------------------------------------------------------------

    def is_undefined(self, slot: int) -> bool:
        """Whether the contents of what call `slot` returned, or of something in it, are undefined."""
        if not (self.undefined or self.undefined_slots):
            return False
        return slot in self.undefined_slots or self._holds_undefined(self.expected[slot])

    def _holds_undefined(self, value: Any) -> bool:
        if isinstance(value, (tuple, list)):
            return any(self._holds_undefined(item) for item in value)
        return id(value) in self.undefined

    def gradients_undefined(self) -> set[int]:
        """The slots whose gradients are undefined: of all that undefined contents were computed from, and of these."""
        if not self.backward_undefined:
            return set()
        found = {slot for slot in range(len(self.calls)) if self.is_undefined(slot)}
        found = {slot for slot in found if not (pushes_gradients(self.calls[slot]) or reads_gradient(self.calls[slot]))}
        for call in reversed(self.calls):
            if call.slot in found:
                found.update(ref.slot for ref in refs(call))
        return found

    def mark_undefined(self, slot: int, value: Any) -> None:
        """Note that call `slot` returned `value` with contents that nobody specifies."""
        self.undefined_slots.add(slot)
        if isinstance(value, (tuple, list)):
            for item in value:
                self.mark_undefined(slot, item)
        elif isinstance(value, self.pair.reference.tensor_types):
            self.undefined.add(id(value))

    def spread_undefined(self, slot: int, owner: Any) -> None:
        """What call `slot` computed from undefined contents is undefined, unless the call fills it anew."""
        call, expected = self.calls[slot], self.expected[slot]
        called = is_module_call(call) and isinstance(owner, self.pair.reference.module_types)
        draws = called and id(owner) in self.random_modules and self.pair.reference.draws(owner)
        read = {ref.slot for ref in refs(call)}
        for filled in _filled(call):
            self._define(filled, call)
            read.discard(filled)
        if call.target == "getitem" and read and isinstance(self.expected[call.args[0].slot], (tuple, list)):
            read = {slot}  # one of several values may be undefined, and the others not
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
        """The contents of what call `filled` returned are known since the call `by`, whatever they were."""
        types = self.pair.reference.tensor_types
        # Other data are other memory: what shares that which a tensor had stays as it is.
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
    """The slots whose contents `call` defines, whatever they held."""
    read = [ref.slot for ref in refs(call)]
    if read and (fills(call) or _assigns_all(call) or (call.kind == "setattr" and call.target == "data")):
        return read[:1]
    return [item.slot for item in leaves(call.kwargs.get("out")) if type(item) is Ref]


def _assigns_all(call: Call) -> bool:
    """Whether `call` is ``x[:] = ...``, ``x[...] = ...`` and the like."""
    if call.kind != "operator" or call.target != "setitem":
        return False
    key = call.args[1] if type(call.args[1]) is tuple else (call.args[1],)
    return all(item is Ellipsis or (type(item) is slice and item == slice(None)) for item in key)


def stage_of(kind: CallKind, target: str, function: Any) -> Stage:
    """Where in a test a call stands, of `function` on one side."""
    if target.rpartition(".")[2] in ("backward", "grad") and kind in ("method", "function"):
        return "backward"
    return "build" if kind == "function" and isinstance(function, type) else "forward"
