"""Finds the call whose backward makes a gradient wrong: its own gradient agrees, and one that it passes on differs.

A wrong gradient reaches every leaf behind the call, so the first call that reads the leaf says nothing about the fault.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from typing import Any

from autotest.base.settings import Settings, Tolerance
from autotest.comparison import Comparison, TensorValue, compare_values
from autotest.comparison.elementwise import distance
from autotest.frameworks import Framework, Pair
from autotest.frameworks.freezing import frozen_copies
from autotest.program import LAYOUT, Call, Program, Ref, operator_of, reading, refs
from autotest.program.influence import shared_memory
from autotest.program.rewriting import assembled, needed, widened
from autotest.program.semantics import (
    clips_gradients,
    describes,
    is_class,
    may_share_memory,
    overwritten_operand,
    pushes_gradients,
    reads_gradient,
    writes,
    written,
)
from autotest.program.sequentials import unrolled
from autotest.replaying.gradient_flow import PairedGradients, compare_gradients, may_pass_gradients
from autotest.replaying.replay import Place, replay

#: The tolerance in double precision, unless the test gives one. Rounding errors are far smaller there, so that a call
#: whose gradients differ by more is wrong.
_IN_DOUBLE = Tolerance(1e-4, 1e-9)


@dataclasses.dataclass(slots=True)
class GuiltyBackward:
    """The search for the operators whose backward makes gradients of `program` wrong.

    Its replays, which compare the gradients of all intermediate results, are shared by all the gradients asked for.
    """

    program: Program
    pair: Pair
    settings: Settings
    #: The program with the layers of containers called one by one, and the new slot of each slot of `program`.
    _plain: tuple[_Readers, Mapping[int, int]] | None = None
    #: The compared gradients in double precision, then in the program's own; None if that is not possible.
    _compared: list[tuple[_Compared, Mapping[int, int]] | None] = dataclasses.field(default_factory=list)
    _found: dict[Place, str] = dataclasses.field(default_factory=dict)

    def operator(self, slot: int, suffix: str) -> str:
        """Return the operator whose backward makes a gradient wrong; "" if it is unclear.

        Nothing is replayed if only one operator lies between the leaf and what the backward starts from.

        Args:
            slot: the slot of the leaf, or of the module that has it as a parameter.
            suffix: the name of the parameter, such as ``".weight"``; empty for a tensor.
        """
        place = slot, suffix
        if place not in self._found:
            self._found[place] = self._searched(slot, suffix)
        return self._found[place]

    def agrees(self, slot: int, suffix: str) -> bool:
        """Return whether the gradient of a leaf agrees in double precision and in the program's own."""
        _, new = self._readers()
        found = [*self._replays()] if slot in new else []
        return bool(found) and all(compared.agrees.get((places[new[slot]], suffix)) for compared, places in found)

    def _readers(self) -> tuple[_Readers, Mapping[int, int]]:
        if self._plain is None:
            plain, moved = unrolled(self.program)
            self._plain = _Readers.of(plain), moved
        return self._plain

    def _searched(self, slot: int, suffix: str) -> str:
        readers, new = self._readers()
        if slot not in new or not readers.comparable:
            return ""
        clipping = {operator_of(self.program.calls, call.slot) for call in self.program.calls if clips_gradients(call)}
        if len(clipping | readers.operators_behind(new[slot])) < 2:
            return ""
        agreed = False
        for compared, places in self._replays():
            found = compared.operator((places[new[slot]], suffix), self.pair)
            if found:
                return found
            agreed = compared.agrees.get((places[new[slot]], suffix), False)
        # What a backward computed agrees, and was changed after it.
        return self._clipping(slot, suffix) if agreed and clipping else ""

    def _clipping(self, slot: int, suffix: str) -> str:
        """Return the first function that scales gradients after which that of a leaf differs; "" if there is none."""
        calls = self.program.calls
        slots = [call.slot for call in calls if clips_gradients(call)]
        own, other = (_gradients_after(self.program, side, (slot, suffix), slots) for side in self.pair.frameworks)
        how = Comparison("backward", self.settings.gradient_tolerance)
        differing = (at for at in slots if at in own and at in other and compare_values("", own[at], other[at], how))
        return next((operator_of(calls, at) for at in differing), "")

    def _replays(self) -> Iterator[tuple[_Compared, Mapping[int, int]]]:
        """Yield the compared gradients of the program in double precision, then those in its own.

        Rounding may exceed the tolerance at another call in each trial, but not in double precision. Not every
        candidate has that, and a fault may be in the code for one precision only.
        """
        own = self.settings.gradient_tolerance
        for turn in range(2):
            if turn == len(self._compared):
                self._compared.append(self._replayed(own if turn or own.given else _IN_DOUBLE, wide=not turn))
            found = self._compared[turn]
            if found is not None:
                yield found

    def _replayed(self, tolerance: Tolerance, *, wide: bool) -> tuple[_Compared, Mapping[int, int]] | None:
        plain = self._readers()[0].program
        program, places = widened(plain) if wide else (plain, {call.slot: call.slot for call in plain.calls})
        # A candidate may compute in single precision what should be double.
        checks = self.settings.check_dtype and not wide
        how = Comparison("backward", tolerance, check_dtype=checks, check_values=self.settings.check_values)
        compared = _Compared.of(_Readers.of(program), self.pair, how)
        return None if compared is None else (compared, places)


@dataclasses.dataclass(frozen=True, slots=True)
class _Readers:
    """The calls of `program` through which a gradient may reach each value."""

    program: Program
    #: By slot, the calls that read the value before it is written into.
    of_slot: Mapping[int, Sequence[Call]]
    #: By the slots of a call and of an operand, the slot of the value that it reads: that of the last write, if any.
    read: Mapping[tuple[int, int], int]
    #: By the slot of a ``requires_grad_``, the slot of the tensor that it returns.
    own: Mapping[int, int]
    #: Whether both sides compute the gradients from the same values; not if each side drew its own random numbers.
    comparable: bool

    @classmethod
    def of(cls, program: Program) -> _Readers:
        calls = program.calls
        pushed = needed(program, [ref.slot for call in calls if pushes_gradients(call) for ref in refs(call)])
        memory, last_write = shared_memory(calls), dict[int, int]()
        found: dict[int, list[Call]] = {}
        values: dict[tuple[int, int], int] = {}
        own: dict[int, int] = {}
        for call in calls:
            if call.target == "requires_grad_" and call.args and type(call.args[0]) is Ref:
                own[call.slot] = own.get(call.args[0].slot, call.args[0].slot)
            elif _passes(call) and call.slot in pushed:
                for slot in dict.fromkeys(ref.slot for ref in refs(call)):
                    read = own.get(slot, slot)
                    read = read if is_class(calls[slot]) else max(read, last_write.get(memory[slot], -1))
                    values[call.slot, slot] = read
                    found.setdefault(read, []).append(call)
            for ref in written(call) if _passes(call) else ():
                last_write[memory[ref.slot]] = call.slot
        return cls(program, found, values, own, program.undefined.isdisjoint(pushed))

    def operators_behind(self, slot: int) -> set[str]:
        """Return the operators through which a gradient may reach the value in `slot`."""
        first = self.own.get(slot, slot)
        reached, names = {first}, set()
        for at in range(first, len(self.program.calls)):
            for reader in self.of_slot.get(at, ()) if at in reached else ():
                reached.add(reader.slot)
                if reader.note != LAYOUT and not describes(reader):
                    names.add(operator_of(self.program.calls, reader.slot))
        return names


def _passes(call: Call) -> bool:
    """Whether gradients may pass through `call`, which may be ``x.T``."""
    return may_pass_gradients(call) or (call.kind == "getattr" and not reads_gradient(call))


@dataclasses.dataclass(frozen=True, slots=True)
class _Compared:
    """The result of comparing all gradients of a program."""

    readers: _Readers
    how: Comparison
    #: Whether each gradient that could be read agrees.
    agrees: Mapping[Place, bool]
    #: By the slot of each value with a gradient, whether it agrees; None if it could not be read.
    states: Mapping[int, bool | None]
    #: The slot of the first backward call after which a gradient differs.
    pushed: int
    #: The compared gradients.
    pairs: PairedGradients
    #: The slots of the calls through whose results no gradient of the candidate passes.
    cut: Set[int]

    @classmethod
    def of(cls, readers: _Readers, pair: Pair, how: Comparison) -> _Compared | None:
        """Compare all gradients of a program; None if that is not possible."""
        program = readers.program
        try:
            found = compare_gradients(program, pair, how)
        except Exception:  # noqa: BLE001 - a failure that cannot be examined keeps its simple name
            return None
        if not found.complete or found.pushed is None:
            return None
        states: dict[int, bool | None] = {}
        for (slot, suffix), (one, other) in found.pairs.items():
            if one is not None or other is not None:
                at = readers.own.get(slot, slot)
                states[at] = bool(states.get(at, True)) and found.agrees[slot, suffix]
        for call in program.calls:  # a write returns nothing if it assigns items
            if (call.slot, "") in found.lost or (_passes(call) and writes(call)):
                states.setdefault(call.slot, None)
        agrees = {(readers.own.get(slot, slot), suffix): agreed for (slot, suffix), agreed in found.agrees.items()}
        return cls(readers, how, agrees, states, found.pushed, found.pairs, {slot for slot, _ in found.cut})

    def operator(self, place: Place, pair: Pair) -> str:
        """Return the operator whose backward makes the gradient at `place` wrong; "" if it is unclear."""
        leaf = self.readers.own.get(place[0], place[0])
        if self.agrees.get((leaf, place[1]), True):
            return ""
        calls, blamed = self.readers.program.calls, self._blamed(leaf)
        if len({operator_of(calls, slot) for slot in blamed}) < 2:
            return operator_of(calls, blamed[0]) if blamed else ""
        # A copy may hide a fault that depends on what memory is shared; such a fault is nearly always that of a write.
        unclear = next((operator_of(calls, slot) for slot in reversed(blamed) if writes(calls[slot])), "")
        return self._told_apart((leaf, place[1]), blamed, pair) or unclear

    def _blamed(self, leaf: int) -> Sequence[int]:
        """Return the slots of the calls whose backward may make the gradient of the value in `leaf` wrong.

        From the leaf, this follows wrong gradients to the calls whose own gradient agrees. A call whose gradient is
        wrong explains that the value it reads has a wrong one, so that other calls that read the value are not blamed.
        """
        states, blamed, wrong_result = self.states, dict[int, frozenset[int]](), set[int]()
        for slot in sorted({leaf, *states}, reverse=True):
            following = [call.slot for call in self.readers.of_slot.get(slot, ()) if call.slot in states]
            following = [reader for reader in following if reader < self.pushed]
            wrong = [reader for reader in following if states[reader] is False]
            if wrong:
                wrong_result.add(slot)
                whose = ({reader} if reader in self.cut else blamed[reader] for reader in wrong)
                blamed[slot] = frozenset().union(*whose)
            else:
                unknown = (blamed[reader] for reader in following if states[reader] is None)
                blamed[slot] = frozenset(following).difference(wrong_result).union(*unknown)
        return sorted(blamed[leaf])

    def _told_apart(self, leaf: Place, blamed: Sequence[int], pair: Pair) -> str:
        """Return the operator to blame among several, from another replay; "" if it is still unclear.

        They read the same value, whose gradient is the sum of theirs, or one whose gradient was lost in a write. There,
        each reads a copy of its own. If several are wrong, it is the first in the backward; if none is wrong enough to
        tell, it is the one whose gradient differs most.
        """
        separate, places, copies = self._with_copies(blamed)
        again = _Compared.of(_Readers.of(separate), pair, self.how) if copies else None
        leaf = places[leaf[0]], leaf[1]
        if again is None or again.agrees.get(leaf, True):
            return ""
        blamed = again._blamed(leaf[0])
        found = [slot for slot in blamed if slot not in copies]
        if blamed and not found:  # each gradient is within the tolerance, and their sum is not
            most = max(blamed, key=again._difference)
            return operator_of(separate.calls, again.readers.of_slot[most][0].slot)
        clear = len({operator_of(separate.calls, slot) for slot in found}) == 1
        if clear or (found and all(again.states[slot] for slot in found)):
            return operator_of(separate.calls, found[-1])
        return ""

    def _difference(self, slot: int) -> float:
        """Return the greatest difference of the two gradients of the value in `slot`; 0 if they cannot be compared."""
        one, other = self.pairs.get((slot, ""), (None, None))
        if one is None or other is None or one.data.shape != other.data.shape:
            return 0.0
        return float(distance(one.data, other.data).max(initial=0.0))

    def _with_copies(self, blamed: Sequence[int]) -> tuple[Program, Mapping[int, int], set[int]]:
        """Return the program in which the calls in `blamed` read and write copies, its new slots, and the copies'.

        A tensor that has views is written as before.
        """
        readers, states, program = self.readers, self.states, self.readers.program
        memory, calls = shared_memory(program.calls), program.calls
        viewed = {memory[call.slot] for call in calls if may_share_memory(call) or is_class(call)}
        fresh, copies, changed = len(calls), set[int](), list[Call]()
        #: By the slot of a tensor, the copy that holds its contents since the last write.
        newest: dict[int, int] = {}
        for call in calls:
            instead = {slot: Ref(newest[memory[slot]]) for slot in _slots(call) if memory[slot] in newest}
            owner = overwritten_operand(call)
            for slot in _slots(call) if _passes(call) else ():
                copied = owner is not None and slot == owner.slot and memory[slot] not in viewed
                if owner is None and call.slot in blamed:
                    value = readers.read.get((call.slot, slot), slot)
                    known = (value, "") in self.agrees  # not for a module, and for a list of tensors
                    copied = states.get(value, True) is None or (known and not states[value])
                if copied:
                    changed.append(Call("method", "clone", (instead.get(slot, Ref(slot)),), {}, fresh))
                    instead[slot] = Ref(fresh)
                    if owner is not None:
                        newest[memory[slot]] = fresh
                    copies.add(fresh)
                    fresh += 1
            changed.append(reading(call, instead))
        separate, places = assembled(changed, program.arrays, program.undefined)
        return separate, places, {places[slot] for slot in copies}


def _gradients_after(
    program: Program, framework: Framework, leaf: Place, slots: Collection[int]
) -> Mapping[int, TensorValue | None]:
    """Return the gradient of `leaf` after each of the calls in `slots`."""
    found: dict[int, TensorValue | None] = {}

    def between_calls(done: int, values: list[Any]) -> None:
        if done - 1 in slots:
            tensor = values[leaf[0]]
            if isinstance(tensor, framework.module_types):
                tensor = framework.parameters(tensor)[leaf[1].removeprefix(".")]
            (found[done - 1],) = frozen_copies(framework, [framework.gradient(tensor)])

    replay(program, framework, between_calls=between_calls)
    return found


def _slots(call: Call) -> Sequence[int]:
    return [*dict.fromkeys(ref.slot for ref in refs(call))]
