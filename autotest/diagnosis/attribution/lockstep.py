"""Runs both sides call by call, with the candidate's values corrected, so that no call is blamed for its operands."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Container, Iterable, Iterator
from typing import Any, Literal, TypeAlias

import numpy as np

from autotest.base.settings import EXACT, Settings
from autotest.comparison import Comparison, TensorValue
from autotest.frameworks import Framework, Pair
from autotest.frameworks.freezing import PLAIN_TYPES, freeze, frozen_copies
from autotest.program import Array, Call, Program, refs
from autotest.program.exact_conversions import exact_conversions
from autotest.program.influence import shared_memory
from autotest.program.randomness import KnownContents, contents_of_result
from autotest.program.semantics import is_backward, is_class, is_step, loads_state, written
from autotest.recording.pairing import is_data
from autotest.replaying.replay import Contexts, call_both

#: Calls whose result is a leaf that requires grad.
_MAKING_LEAVES = frozenset(("requires_grad_", "nn.Parameter"))
_SILENT = frozenset(("tensor", "load_state", "overwrite", "setattr", "enter", "exit"))


#: Pairs of the reference's and the candidate's gradient of each tensor that an optimizer steps; None if a side has no
#: gradient.
Gradients: TypeAlias = list[tuple[TensorValue | None, TensorValue | None]]


def first_divergent(program: Program, pair: Pair, settings: Settings) -> int | None:
    """Return the slot of the first call on whose result the sides disagree when both get the reference's operands."""
    return _Lockstep(program, pair, settings).run()


def first_divergent_in(values: Container[int], program: Program, pair: Pair, settings: Settings) -> int | None:
    """Return the first call that, on the reference's operands, gives the value of one of the slots `values` unlike."""
    return _Lockstep(program, pair, settings, values=values).run()


def first_unlike_in_zeros(values: Container[int], program: Program, pair: Pair, settings: Settings) -> int | None:
    """Return the first call that, on the reference's operands, gives one of `values` another sign of zero.

    -0.0 equals 0.0, so that the call agrees; what is computed from it, such as ``1 / x``, does not.
    """
    return _Lockstep(program, pair, settings, values=values, only_zeros=True).run()


def is_given_alike(slot: int, program: Program, pair: Pair, settings: Settings) -> bool:
    """Return whether both sides give the call in `slot` the same tensors, if each call before gets the reference's.

    If not, an earlier call wrote into a tensor that shares memory with one of them on one side only.
    """
    return _Lockstep(program, pair, settings).is_given_alike(slot)


def gradients_of_steps(program: Program, pair: Pair, settings: Settings) -> dict[int, Gradients] | None:
    """Return the gradients before each step of an optimizer, by the slot of the step; None if a step disagrees.

    After each step, the candidate gets the reference's parameters. Until the next step, each side runs on its own.
    """
    run = _Lockstep(program, pair, settings, only_steps=True)
    return run.gradients if run.run() is None else None


@dataclasses.dataclass(slots=True)
class _Touched:
    """A value of both sides that a call may have written into."""

    expected: Any
    actual: Any
    #: Whether it is compared exactly.
    exactly: bool
    #: Whether the call is divergent if the sides disagree on it.
    counts: bool = False


class _Lockstep:
    """A run of a program on both sides, call by call, each call on the reference's operands."""

    def __init__(
        self,
        program: Program,
        pair: Pair,
        settings: Settings,
        *,
        only_steps: bool = False,
        values: Container[int] | None = None,
        only_zeros: bool = False,
    ) -> None:
        self._program, self._pair, self._settings, self._only_steps = program, pair, settings, only_steps
        #: Whether the signs of zeros are compared, and nothing else.
        self._only_zeros = only_zeros
        #: The slots whose values count; a call that gives another value unlike is passed over.
        self._counting: Container[int] = range(len(program.calls)) if values is None else values
        self._exact = frozenset[int]() if settings.tolerance.given else exact_conversions(program.calls)
        self._values: tuple[list[Any], list[Any]] = ([], [])
        #: Slots of random results, which a later call overwrites with the same numbers on both sides.
        self._given = {call.args[0].slot for call in program.calls if call.kind == "overwrite"}
        #: Slots of modules, whose parameters an optimizer may change.
        self._modules: list[int] = []
        #: By the slot of a module, the buffers of both sides, until a call may add some.
        self._buffers: dict[int, list[tuple[Any, Any]]] = {}
        self.gradients: dict[int, Gradients] = {}
        #: The values that share memory: a write into one of them changes all of them.
        self._memory = shared_memory(program.calls)

    def run(self) -> int | None:
        with Contexts(self._program.calls, self._pair.reference, self._pair.candidate) as contexts:
            for call in self._program.calls:
                if self._is_divergent(call, contexts):
                    return call.slot
        return None

    def is_given_alike(self, slot: int) -> bool:
        with Contexts(self._program.calls, self._pair.reference, self._pair.candidate) as contexts:
            for call in self._program.calls[:slot]:
                self._is_divergent(call, contexts)
                if len(self._values[1]) <= call.slot:  # it failed
                    return True
            operands = dict.fromkeys(ref.slot for ref in refs(self._program.calls[slot]))
            given = [at for at in operands if isinstance(self._values[0][at], self._pair.reference.tensor_types)]
            own, other = (
                freeze(side, [values[at] for at in given])
                for side, values in zip(self._pair.frameworks, self._values, strict=True)
            )
            return not any(
                self._unlike(one, theirs, exactly=False, contents=at not in self._program.undefined)
                for at, one, theirs in zip(given, own, other, strict=True)
            )

    def _is_divergent(self, call: Call, contexts: Contexts) -> bool:
        """Make `call` on both sides, on the reference's operands; return whether it fails or the sides disagree."""
        given_alike = True
        if is_step(call):
            if self._only_steps:
                self._note_gradients(call)
            given_alike = self._share_gradients()
        return not self._make(call, contexts) or self._diverges(call, given_alike=given_alike)

    def _make(self, call: Call, contexts: Contexts) -> bool:
        """Make `call` on both sides; return whether it succeeds."""
        try:
            call_both(call, self._pair, self._values, self._program, contexts)
        except Exception:  # noqa: BLE001 - a framework may raise any exception
            return False
        self._share_memory(call)
        if call.kind != "getattr" and not self._is_of_tensors(call):
            self._buffers.clear()
        return True

    def _diverges(self, call: Call, *, given_alike: bool) -> bool:
        """Whether the sides disagree on what `call` gives, although an optimizer's step was given like gradients."""
        if isinstance(self._values[0][call.slot], self._pair.reference.module_types):
            self._modules.append(call.slot)
            return False
        if contents_of_result(call) is not KnownContents.DEFINED:
            # All but the contents is compared. This also copies the reference's result to the candidate.
            return self._differs(call, contents=False) and given_alike and not self._is_silent(call)
        return self._is_judged(call) and self._differs(call) and given_alike

    def _share_memory(self, call: Call) -> None:
        """Note that the result of `call` is one of its operands, as of a module that does nothing in evaluation."""
        values, reference = self._values[0], self._pair.reference
        made = values[call.slot]
        for ref in refs(call) if isinstance(made, reference.tensor_types) else ():
            own, other, given = self._memory[call.slot], self._memory[ref.slot], values[ref.slot]
            if own != other and isinstance(given, reference.tensor_types) and reference.same(made, given):
                self._memory = [other if memory == own else memory for memory in self._memory]

    def _is_of_tensors(self, call: Call) -> bool:
        """Whether all operands that `call` takes from earlier calls are tensors."""
        return all(isinstance(self._values[0][ref.slot], self._pair.reference.tensor_types) for ref in refs(call))

    def _is_judged(self, call: Call) -> bool:
        drawn = call.slot in self._program.undefined or call.slot in self._given
        return not drawn and not self._is_silent(call)

    def _is_silent(self, call: Call) -> bool:
        """Whether nothing that `call` gives is compared."""
        if self._only_steps:
            return not is_step(call)
        return call.kind in _SILENT or is_backward(call) or is_class(call)

    def _differs(self, call: Call, *, contents: bool = True) -> bool:
        """Whether the sides disagree on the call's result or on a value that it may have changed, if that counts.

        The candidate's values are replaced by the reference's.
        """
        expected, actual = self._values
        slot = call.slot
        exactly = slot in self._exact
        is_plain = isinstance(expected[slot], PLAIN_TYPES) and expected[slot] is not None
        # The result of `type` contains the name of the framework.
        counts = is_plain and call.target != "type" and slot in self._counting
        differs = counts and self._unlike(expected[slot], actual[slot], exactly=exactly, contents=contents)
        found = self._touched_once(call, exactly=exactly)
        one = freeze(self._pair.reference, [touched.expected for touched in found])
        other = freeze(self._pair.candidate, [touched.actual for touched in found])
        for touched, mine, theirs in zip(found, one, other, strict=True):
            differs = differs or (
                touched.counts and self._unlike(mine, theirs, exactly=touched.exactly, contents=contents)
            )
        # Only now, because several of these values may share memory.
        for touched, mine, theirs in zip(found, one, other, strict=True):
            self._overwrite_candidate(touched.actual, mine, theirs)
        return differs

    def _unlike(self, mine: Any, theirs: Any, *, exactly: bool, contents: bool) -> bool:
        if self._only_zeros:
            return _has_unlike_zeros(mine, theirs)
        settings = self._settings
        tolerance, values = EXACT if exactly else settings.tolerance, settings.check_values and contents
        how = Comparison("forward", tolerance, 0, settings.check_dtype, values)
        if self._pair.candidate.has_gradients:
            return how.differs(mine, theirs)
        return any(item.symptom != "requires_grad" for item in how.compare("", mine, theirs))

    def _overwrite_candidate(self, live: Any, mine: Any, theirs: Any) -> None:
        if type(mine) is TensorValue and type(theirs) is TensorValue and mine.data.tobytes() != theirs.data.tobytes():
            with contextlib.suppress(Exception):  # a tensor of another shape, or an expanded one, stays as it is
                self._pair.candidate.overwrite(live, Array(mine.data.copy(), mine.dtype))
        elif isinstance(mine, (tuple, list)) and isinstance(theirs, (tuple, list)) and isinstance(live, (tuple, list)):
            for item, one, other in zip(live, mine, theirs, strict=False):
                self._overwrite_candidate(item, one, other)

    def _touched_once(self, call: Call, *, exactly: bool) -> list[_Touched]:
        """Return what `_touched` yields, each pair of values once: a network has the buffers of all its layers.

        Args:
            call: the call.
            exactly: whether its result is compared exactly.
        """
        found: dict[tuple[int, int, bool], _Touched] = {}
        for slot, own, live in self._touched(call):
            exact = exactly and slot == call.slot
            touched = found.setdefault((id(own), id(live), exact), _Touched(own, live, exact))
            touched.counts = touched.counts or slot in self._counting
        return [*found.values()]

    def _touched(self, call: Call) -> Iterator[tuple[int, Any, Any]]:
        """Yield the call's result and the values that it may have written into, with their slots, on both sides."""
        expected, actual = self._values
        written_into = {self._memory[ref.slot] for ref in written(call)}
        sharing = (slot for slot in range(call.slot) if self._memory[slot] in written_into) if written_into else ()
        for slot in dict.fromkeys((call.slot, *(ref.slot for ref in refs(call)), *sharing)):
            if isinstance(expected[slot], self._pair.reference.module_types):
                if call.target != "step":
                    yield from ((slot, own, other) for own, other in self._buffers_of(slot))
                if loads_state(call):
                    yield from ((slot, own, other) for own, other in self._parts(slot, "parameters"))
            elif is_data(self._pair.reference, expected[slot]):
                yield slot, expected[slot], actual[slot]
        if is_step(call):
            for slot in self._modules:
                yield from ((slot, own, other) for own, other in self._parts(slot, "parameters"))
            yield from ((slot, expected[slot], actual[slot]) for slot in self._leaves(call.slot))

    def _buffers_of(self, slot: int) -> list[tuple[Any, Any]]:
        if slot not in self._buffers:
            self._buffers[slot] = self._parts(slot, "buffers")
        return self._buffers[slot]

    def _parts(self, slot: int, kind: Literal["parameters", "buffers"]) -> list[tuple[Any, Any]]:
        """Return the parameters or buffers of both sides of the module in `slot`, as far as both have them."""
        own = getattr(self._pair.reference, kind)(self._values[0][slot])
        other = getattr(self._pair.candidate, kind)(self._values[1][slot])
        return [(own[name], other[name]) for name in own if name in other]

    def _note_gradients(self, call: Call) -> None:
        """Record the gradients that the optimizer's step `call` will use."""
        optimizers = [values[call.args[0].slot] for values in self._values]
        own, other = (
            gradients_before(side, optimizer) for side, optimizer in zip(self._pair.frameworks, optimizers, strict=True)
        )
        if own and len(own) == len(other):
            self.gradients[call.slot] = [*zip(own, other, strict=True)]

    def _share_gradients(self) -> bool:
        """Copy the reference's gradients to the candidate, so that a step is judged on its own.

        Return whether both sides have gradients for the same tensors: a step cannot be blamed for a missing gradient.
        """
        reference, candidate = self._pair.reference, self._pair.candidate
        complete = True
        found: list[tuple[Any, Any]] = []
        for own, other in self._trained():
            gradients = reference.gradient(own), candidate.gradient(other)
            if any(one is None for one in gradients):
                complete = complete and gradients[0] is gradients[1]
            else:
                found.append(gradients)
        mine, theirs = freeze(reference, [one for one, _ in found]), freeze(candidate, [one for _, one in found])
        for (_, live), one, other in zip(found, mine, theirs, strict=True):
            self._overwrite_candidate(live, one, other)
        return complete

    def _trained(self) -> Iterable[tuple[Any, Any]]:
        """Return the pairs of tensors that an optimizer may step, each once: a network has those of its layers, too."""
        leaves = ((self._values[0][slot], self._values[1][slot]) for slot in self._leaves(len(self._values[0])))
        parameters = (pair for slot in self._modules for pair in self._parts(slot, "parameters"))
        return {(id(own), id(other)): (own, other) for own, other in (*parameters, *leaves)}.values()

    def _leaves(self, end: int) -> Iterator[int]:
        """Yield the slots before `end` of tensors that an optimizer may step and that no module has.

        An input with a memory layout of its own requires grad only after the views that give it this.
        """
        types = self._pair.reference.tensor_types
        for call in self._program.calls[:end]:
            made = call.kwargs["requires_grad"] if call.kind == "tensor" else call.target in _MAKING_LEAVES
            if made and isinstance(self._values[0][call.slot], types):  # a module has a requires_grad_, too
                yield call.slot


def _has_unlike_zeros(mine: Any, theirs: Any) -> bool:
    """Return whether a zero of one tensor is -0.0 and that of the other one 0.0."""
    if type(mine) is not TensorValue or type(theirs) is not TensorValue or mine.data.shape != theirs.data.shape:
        return False
    if {mine.data.dtype.kind, theirs.data.dtype.kind} != {"f"}:
        return False
    zeros = (mine.data == 0) & (theirs.data == 0)
    return bool((np.signbit(mine.data) != np.signbit(theirs.data))[zeros].any())


def gradients_before(framework: Framework, optimizer: Any) -> list[TensorValue | None]:
    """Return the current gradient of each tensor that `optimizer` steps, in its order; None for a missing gradient."""
    return frozen_copies(framework, [framework.gradient(tensor) for tensor in framework.optimized(optimizer)])
