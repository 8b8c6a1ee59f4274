"""Names the operator of a mismatch. For a tensor changed in place it is the call after which the sides differ.

Nothing but a write makes an input differ, and a call that reads it may write into it by mistake. For a gradient it is
the call whose backward is wrong, which may be far from the leaf, and for an exception in a backward the call whose
backward raises.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from autotest.base.settings import Settings, Tolerance
from autotest.comparison import Comparison, Mismatch, TensorValue, compare_values
from autotest.frameworks import Framework, Pair, warnings_ignored
from autotest.program import KEPT, LAYOUT, Program, Ref, operator_of, refs
from autotest.program.influence import contributing, shared_memory
from autotest.program.randomness import KnownContents, contents_of_result
from autotest.program.rewriting import needed, upto
from autotest.program.semantics import (
    OPERATIONS,
    argument,
    backward_arguments,
    differentiated_slots,
    first_operand,
    loads_state,
    makes_module,
    pushes_gradients,
    returns_gradients,
    writes,
    written,
)
from autotest.replaying.changing_call import ObjectChange, ObjectChanges
from autotest.replaying.guilty_backward import GuiltyBackward
from autotest.replaying.raising_backward import RaisingCall, raising_call
from autotest.replaying.replay import Place, replay
from autotest.replaying.shared_views import sharing_otherwise
from autotest.results.identity import operator_behind

#: Symptoms of a wrong gradient. ``autograd.grad`` returns it as a value.
_OF_GRADIENTS = ("gradient", "value", "shape", "dtype")
#: The beginning of methods of a module that give its state other contents: ``reset_running_stats``.
_RESETTING = "reset_"
#: The items of results by which a place is reached: ``[1][0]``.
_ITEMS = re.compile(r"\[(\d+)\]")
#: Symptoms of an exception of one side: of the candidate, or of the reference.
_OF_EXCEPTIONS = ("exception", "accepted")


@dataclasses.dataclass(slots=True)
class MismatchNames:
    """The operators that name the mismatches of `program`, for which its gradients are compared at most once.

    Args:
        program: the program.
        pair: the reference and the candidate.
        settings: the settings of the test, for the tolerance of gradients.
        traces_gradients: whether wrong gradients, and exceptions in a backward, are traced to a call, which replays
            the program.
    """

    program: Program
    pair: Pair
    settings: Settings
    traces_gradients: bool = True
    #: By the slot of an ``autograd.grad``, the search for gradients that it returns; None is for those of leaves.
    _guilty: dict[int | None, GuiltyBackward] = dataclasses.field(default_factory=dict)
    #: By the place of a mismatch, the result of `_writer`.
    _writers: dict[Place, int | None] = dataclasses.field(default_factory=dict)
    #: By the slot of a backward that raises, the call to blame.
    _raising: dict[int, RaisingCall | None] = dataclasses.field(default_factory=dict)
    _changes: ObjectChanges | None = None

    @warnings_ignored()
    @np.errstate(all="ignore")
    def operator(self, mismatch: Mismatch) -> str:
        """Return the operator that names `mismatch`. Replays the program if several calls may be the cause."""
        program = self.program
        if mismatch.operator:
            return mismatch.operator
        kept = program.calls[mismatch.slot] if mismatch.slot < len(program.calls) else None
        if kept is not None and kept.note == KEPT and _is_value(mismatch):
            # The copy has what its operand held then, whatever is written into that later.
            before = MismatchNames(upto(program, kept.slot), self.pair, self.settings)
            return before.operator(dataclasses.replace(mismatch, slot=kept.args[0].slot))
        if self.traces_gradients and (changed := self._objects_changed(mismatch)) is not None:
            return changed.operator
        if self.traces_gradients and mismatch.symptom in _OF_GRADIENTS and mismatch.slot < len(program.calls):
            guilty = self._guilty_operator(mismatch)
            if guilty:
                return guilty
        if (raising := self.raising_call(mismatch)) is not None:
            return raising.operator
        if mismatch.symptom == "structure" and _is_of_unused_input(program, mismatch):
            return "autograd.grad"
        writer = self._writer(mismatch)
        if writer is None:
            return operator_behind(program.calls, mismatch)
        sharer = sharing_otherwise(program, mismatch.slot, writer, self.pair)
        return operator_of(program.calls, writer if sharer is None else sharer)

    @warnings_ignored()
    @np.errstate(all="ignore")
    def first(self, mismatches: Sequence[Mismatch]) -> Mismatch:
        """Return the one of `mismatches`, which are in the order of the program, that came about first.

        It is one of a call that the candidate accepted, if there is one, since that explains later changes. A tensor
        that differs only after a call wrote into it comes after the different results that this call used: of
        ``x.masked_fill_(x > 0, 1)`` with a wrong comparison, that is the first.
        """
        calls, memory = self.program.calls, shared_memory(self.program.calls)
        found = next((one for one in mismatches if one.symptom == "accepted"), mismatches[0])
        for later in mismatches[mismatches.index(found) + 1 :] if _is_value(found) else ():
            if not (_is_value(later) and found.slot < later.slot < len(calls)) or calls[later.slot].kind == "tensor":
                continue
            if memory[later.slot] == memory[found.slot]:
                continue  # another view of what the same call wrote into
            writer = self._writer(found)
            if writer is not None and later.slot in _used_by(self.program, writer):
                found = later
        return found

    def _writer(self, mismatch: Mismatch) -> int | None:
        if mismatch.at not in self._writers:
            self._writers[mismatch.at] = _writer(self.program, mismatch, self.pair)
        return self._writers[mismatch.at]

    def _objects_changed(self, mismatch: Mismatch) -> ObjectChange | None:
        """Return the call after which an object differs on which `mismatch` depends; None if there is none."""
        if self._changes is None:
            self._changes = ObjectChanges(self.program, self.pair, self.settings)
        return self._changes.behind(mismatch)

    @warnings_ignored()
    @np.errstate(all="ignore")
    def raising_call(self, mismatch: Mismatch) -> RaisingCall | None:
        """Return the call whose backward raises; None if it is unclear, or `mismatch` is no exception in a backward."""
        calls, slot = self.program.calls, mismatch.slot
        if not self.traces_gradients or mismatch.symptom not in _OF_EXCEPTIONS:
            return None
        if slot >= len(calls) or not pushes_gradients(calls[slot]):
            return None
        if slot not in self._raising:
            side = self.pair.reference if mismatch.symptom == "accepted" else self.pair.candidate
            self._raising[slot] = raising_call(self.program, slot, side, self.pair.reference)
        return self._raising[slot]

    def _guilty_operator(self, mismatch: Mismatch) -> str:
        """Return the operator whose backward is wrong; "" if it is unclear, or `mismatch` is not of a gradient."""
        if mismatch.stage == "backward":
            searched, key, place = self.program, None, (mismatch.slot, mismatch.place.removesuffix(".grad"))
        elif (returned := _as_backward(self.program, mismatch)) is not None:
            searched, key, place = returned.program, returned.slot, (returned.owner, "")
        else:
            return ""
        search = self._guilty.setdefault(key, GuiltyBackward(searched, self.pair, self.settings))
        found = search.operator(*place)
        # What a backward pass leaves agrees: the call returns another one, such as that of another input.
        return "autograd.grad" if key is not None and not found and search.agrees(*place) else found


def _used_by(program: Program, slot: int) -> frozenset[int]:
    """Return the slots of the values that contribute to the operands of the call in `slot`."""
    return contributing(upto(program, slot), [ref.slot for ref in refs(program.calls[slot])])


def _is_value(mismatch: Mismatch) -> bool:
    return (mismatch.stage, mismatch.symptom) == ("forward", "value")


class _AsBackward(NamedTuple):
    """A program with a backward call in place of the ``autograd.grad`` that returned a wrong gradient."""

    program: Program
    #: The slot of that call.
    slot: int
    #: The slot of the value whose gradient is wrong.
    owner: int


def _as_backward(program: Program, mismatch: Mismatch) -> _AsBackward | None:
    """Return `program` with a backward call if `mismatch` is of the result of ``autograd.grad``; else None."""
    call, item = program.calls[mismatch.slot], mismatch.place
    if call.target == "getitem" and type(call.args[0]) is Ref:
        call, item = program.calls[call.args[0].slot], f"[{call.args[1]}]{item}"
    if not returns_gradients(call):
        return None
    inputs = argument(call, 1, "inputs")
    named = {f"[{at}]": one for at, one in enumerate(inputs if isinstance(inputs, (tuple, list)) else (inputs,))}
    owner = named.get(item)
    if type(owner) is not Ref:
        return None
    given = [item for item in backward_arguments(call) if item is not None]
    pushed = call._replace(target="autograd.backward", args=tuple(given), kwargs={})
    before = upto(program, call.slot)
    return _AsBackward(dataclasses.replace(before, calls=(*before.calls, pushed)), call.slot, owner.slot)


def _is_of_unused_input(program: Program, mismatch: Mismatch) -> bool:
    """Whether `mismatch` is of what ``autograd.grad`` returns for a tensor that what it differentiates does not use."""
    returned = _as_backward(program, mismatch) if mismatch.slot < len(program.calls) else None
    if returned is None:
        return False
    return returned.owner not in needed(program, differentiated_slots(returned.program.calls[returned.slot]))


def _writer(program: Program, mismatch: Mismatch, pair: Pair) -> int | None:
    """Return the call after which a tensor first differs; None if it differs before any, or only one may write."""
    slot, of_shape = mismatch.slot, (mismatch.stage, mismatch.symptom) == ("forward", "shape")
    if not (_is_value(mismatch) or of_shape) or slot >= len(program.calls):
        return None
    if makes_module(program.calls[slot]):
        writers = _writers_of_state(program, slot)
        # Its own calls and an optimizer's steps may change it between these. The state of a new module is random, and
        # is loaded before the first call that uses it.
        times = {*writers, *(writer - 1 for writer in writers)}
    else:
        writers = {call.slot for call in program.calls[slot + 1 :] if call.kind in OPERATIONS and writes(call)}
        readers = _readers(program, slot)
        is_input = any(call.slot == slot for call in program.inputs())
        # A call that only reads may write by mistake. Nothing else makes an input differ, so that one reader is enough.
        writers |= readers if len(readers) > is_input else set()
        # The contents of a new tensor that are random or uninitialised differ, and no mismatch is about them.
        drawn = contents_of_result(program.calls[slot]) is not KnownContents.DEFINED
        times = {*writers} if drawn else {slot, *writers}
    if not writers:
        return None
    expected, actual = (_contents_after(program, side, mismatch, times) for side in pair.frameworks)
    how = Comparison("forward", Tolerance())
    for at in sorted(expected.keys() & actual.keys()):
        if compare_values("", expected[at], actual[at], how):
            return at if at in writers else None
    return None


def _writers_of_state(program: Program, slot: int) -> set[int]:
    """Return the operations that write into the state of the module in `slot`, besides its own calls and steps."""
    memory = shared_memory(program.calls)
    found = set()
    for call in program.calls[slot + 1 :]:
        whole = loads_state(call) or (call.kind == "method" and call.target.startswith(_RESETTING))
        changed = [first_operand(call)] if whole else written(call)
        if call.kind in OPERATIONS and any(ref is not None and memory[ref.slot] == memory[slot] for ref in changed):
            found.add(call.slot)
    return found


def _readers(program: Program, slot: int) -> set[int]:
    """Return the operations that have an operand which may share memory with the tensor in `slot`.

    What a backward writes is the work of an operator that it differentiates, and a view that lays out memory reads it.
    """
    memory = shared_memory(program.calls)
    return {
        call.slot
        for call in program.calls[slot + 1 :]
        if call.kind in OPERATIONS
        and call.note != LAYOUT
        and not pushes_gradients(call)
        and any(memory[ref.slot] == memory[slot] for ref in refs(call))
    }


def _contents_after(
    program: Program, framework: Framework, mismatch: Mismatch, times: set[int]
) -> dict[int, TensorValue]:
    """Return the contents of the tensor of `mismatch` after each call in `times`, until the replay ends."""
    found: dict[int, TensorValue] = {}

    def between_calls(done: int, values: list[object]) -> None:
        if done - 1 not in times:
            return
        tensor = values[mismatch.slot]
        if isinstance(tensor, framework.module_types):
            tensor = framework.state(tensor).get(mismatch.place.removeprefix("."))
        for item in _ITEMS.findall(mismatch.place):
            tensor = tensor[int(item)] if isinstance(tensor, (tuple, list)) else tensor
        if isinstance(tensor, framework.tensor_types):
            found[done - 1] = framework.values([tensor])[0].copied()

    replay(program, framework, between_calls=between_calls, upto=max(times) + 1)
    return found
