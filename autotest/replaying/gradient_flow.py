"""Compares the gradients of all intermediate results of both sides, and finds the calls whose backward may be wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Set
from typing import Any, TypeAlias

from autotest.base.settings import Settings
from autotest.comparison import Comparison, TensorValue
from autotest.frameworks import Framework, Pair
from autotest.frameworks.freezing import frozen_copies
from autotest.program import Call, Program, Ref, refs
from autotest.program.influence import contributing
from autotest.program.paths import item_path, tensors_with_indices
from autotest.program.semantics import (
    OPERATIONS,
    describes,
    is_backward,
    is_class,
    is_module_call,
    pushes_gradients,
    writes,
    written,
)
from autotest.replaying.replay import Place, replay

#: Pairs of the reference's and the candidate's gradients, by place; None if a side has no gradient there.
PairedGradients: TypeAlias = Mapping[Place, tuple[TensorValue | None, TensorValue | None]]
_Pairs: TypeAlias = dict[Place, tuple[TensorValue | None, TensorValue | None]]


@dataclasses.dataclass(slots=True)
class Flow:
    """The gradients of one side, by place; None if there is none."""

    gradients: dict[Place, TensorValue | None] = dataclasses.field(default_factory=dict)
    #: Places whose gradient cannot be read any more.
    lost: Set[Place] = frozenset()
    #: The gradients of leaves and parameters after each backward call, by its slot.
    leaves: dict[int, dict[Place, TensorValue | None]] = dataclasses.field(default_factory=dict)
    #: Whether the framework made all calls.
    complete: bool = True


def flow(program: Program, framework: Framework) -> Flow:
    """Run `program` on `framework`, and return the gradients of all its intermediate results, leaves and parameters."""
    run = _FlowRun(program, framework)
    run.found.complete &= replay(program, framework, between_calls=run.between_calls).error is None
    known = run.readable()
    run.found.gradients = _gradients(known, framework)
    run.found.lost = run.kept.keys() - known.keys()
    return run.found


class _FlowRun:
    """A run of a program in which the tensors keep their gradients."""

    def __init__(self, program: Program, framework: Framework) -> None:
        self._program, self._framework = program, framework
        self.found = Flow()
        self.kept: dict[Place, Any] = {}
        #: The autograd node of each kept tensor, which changes when the tensor is written into.
        self._nodes: dict[Place, Any] = {}
        #: Results that are the call's operand itself. They have no gradient of their own: other calls may read the
        #: operand.
        self._handed_back: set[Place] = set()
        self._leaves: dict[Place, Any] = {}
        #: The slot that made each module, by id. Of modules that are called, each backward records the parameters.
        self._modules: dict[int, int] = {}
        self._read = {ref.slot for call in program.calls if may_pass_gradients(call) for ref in refs(call)}

    def between_calls(self, done: int, values: list[Any]) -> None:
        """Let the results of the latest call keep their gradients; after a backward, read those of leaves."""
        if not done:
            return
        call, value = self._program.calls[done - 1], values[done - 1]
        if isinstance(value, self._framework.module_types):
            self._modules.setdefault(id(value), call.slot)
        for indices, tensor in tensors_with_indices(value, self._framework.tensor_types):
            if self._passes(tensor):
                self._keep(call, (call.slot, item_path(indices)), tensor)
        if is_backward(call):
            self.found.leaves[call.slot] = _gradients(self._leaves | self._parameters(values), self._framework)

    def _passes(self, tensor: Any) -> bool:
        try:
            return self._framework.can_backpropagate(tensor)
        except Exception:  # noqa: BLE001 - a lazy framework's call raises when its result is looked at
            self.found.complete = False
            return False

    def _keep(self, call: Call, place: Place, tensor: Any) -> None:
        if call.kind == "tensor":
            self._leaves[place] = tensor
            return
        self._framework.keep_gradient(tensor)
        node = self._framework.node(tensor)
        self.kept[place], self._nodes[place] = tensor, node
        operands = ((ref.slot, "") for ref in refs(call))
        if node is not None and any(self.kept.get(at) is tensor and self._nodes[at] is node for at in operands):
            self._handed_back.add(place)

    def _parameters(self, values: list[Any]) -> dict[Place, Any]:
        return {
            (slot, f".{name}"): one
            for slot in self._modules.values()
            if slot in self._read
            for name, one in self._framework.parameters(values[slot]).items()
        }

    def readable(self) -> dict[Place, Any]:
        """Return the kept tensors whose gradient is still theirs: one that was written into has lost it."""
        kept = self.kept
        changed = {id(kept.get((ref.slot, ""))) for call in self._program.calls for ref in _changed(call)}
        last: dict[int, Place] = {id(tensor): place for place, tensor in kept.items()}

        def is_whole(place: Place, tensor: Any) -> bool:
            node = self._nodes[place]
            if node is None:  # the framework does not say
                return id(tensor) not in changed or last[id(tensor)] == place
            return node is self._framework.node(tensor)

        return {
            place: tensor
            for place, tensor in kept.items()
            if is_whole(place, tensor) and place not in self._handed_back
        }


def _changed(call: Call) -> Iterator[Ref]:
    """Return the operands that `call` may write into: all of them for a module's call, whose effects are unknown."""
    return refs(call) if is_module_call(call) else written(call)


def _gradients(tensors: dict[Place, Any], framework: Framework) -> dict[Place, TensorValue | None]:
    gradients = [framework.gradient(tensor) for tensor in tensors.values()]
    return dict(zip(tensors, frozen_copies(framework, gradients), strict=True))


@dataclasses.dataclass(frozen=True, slots=True)
class ComparedGradients:
    """The gradients of both sides up to the first backward call after which those of leaves differ."""

    pairs: _Pairs
    #: Whether each pair agrees.
    agrees: dict[Place, bool]
    #: Places where a side had a gradient that cannot be read any more.
    lost: Set[Place]
    #: The reference's gradients of the results of all calls.
    cotangents: dict[Place, TensorValue | None]
    #: The slot of that backward call; that of the last one if no gradient of a leaf differs, None if there is none.
    pushed: int | None
    #: Whether both sides made all calls.
    complete: bool
    #: Places where the reference had a gradient, and the candidate a result through which none passes.
    cut: Set[Place]


def compare_gradients(program: Program, pair: Pair, how: Comparison) -> ComparedGradients:
    """Run `program` on both sides, and compare the gradients of all its results, leaves and parameters."""
    own, other = flow(program, pair.reference), flow(program, pair.candidate)
    pushed, pairs = _first_wrong_push(own, other, how)
    pairs |= {
        place: (one, other.gradients.get(place)) for place, one in own.gradients.items() if place not in other.lost
    }
    agrees = {place: not _differ(*both, how) for place, both in pairs.items()}
    reached = {place for place, gradient in own.gradients.items() if gradient is not None}
    cut = reached - other.gradients.keys() - other.lost
    return ComparedGradients(
        pairs, agrees, own.lost | other.lost, own.gradients, pushed, own.complete and other.complete, cut
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Suspects:
    """The calls whose backward may be wrong, and the gradients that were compared."""

    #: The slots of the calls, in the order of the backward; those of unlikely calls come last.
    slots: tuple[int, ...]
    #: The reference's gradients of the results of all calls, by place.
    cotangents: dict[Place, TensorValue | None]
    pairs: PairedGradients


def suspects(program: Program, pair: Pair, settings: Settings) -> Suspects:
    """Return the calls of `program` whose incoming gradients agree, if known, and whose outgoing gradients may not.

    Args:
        program: the program, which runs on both sides.
        pair: the reference and the candidate.
        settings: the settings of the test, for the tolerance of gradients.
    """
    how = Comparison("backward", settings.gradient_tolerance, check_values=settings.check_values)
    compared = compare_gradients(program, pair, how)
    agrees, pushed = compared.agrees, compared.pushed
    of_slot: dict[int, list[bool]] = {}
    for (slot, _), agreed in agrees.items():
        of_slot.setdefault(slot, []).append(agreed)
    upstream = _agreeing_upstream(program, of_slot)
    found, hidden = [], []
    differentiated = _differentiated(program, pushed)
    for call in reversed(program.calls[:pushed]):
        if call.slot not in differentiated and not describes(call):  # such as `retain_grad`
            continue
        if not may_pass_gradients(call) or not all(of_slot.get(call.slot, ())):
            continue
        read = dict.fromkeys(ref.slot for ref in refs(call))
        outgoing = [agreed for slot in read for agreed in of_slot.get(slot, ())]
        unknown = writes(call) or any(_is_computed(program.calls[slot]) and slot not in of_slot for slot in read)
        if not all(outgoing) or (unknown and call.slot not in of_slot):
            found.append(call.slot)
        elif not all(upstream[slot] for slot in read):
            hidden.append(call.slot)
    # Last come calls that can only be wrong in a gradient that was not kept, such as that of an overwritten tensor.
    found += hidden
    return Suspects(tuple(found), compared.cotangents, compared.pairs)


def _differentiated(program: Program, last: int | None) -> frozenset[int]:
    """Return the slots of the values that contribute to what the backward calls up to slot `last` differentiate.

    The backward of another call does not run, and is no reason for a wrong gradient, even if it is wrong.
    """
    pushes = filter(pushes_gradients, program.calls[: None if last is None else last + 1])
    return contributing(program, [ref.slot for push in pushes for ref in refs(push)])


def _agreeing_upstream(program: Program, of_slot: dict[int, list[bool]]) -> list[bool]:
    """Return, by slot, whether its gradients agree, or, if these are unknown, those of all values it depends on."""
    agreeing: list[bool] = []
    for call in program.calls:
        known = of_slot.get(call.slot)
        before = (agreeing[ref.slot] for ref in refs(call)) if may_pass_gradients(call) else ()
        agreeing.append(all(before if known is None else known))
    return agreeing


def may_pass_gradients(call: Call) -> bool:
    """Whether gradients may pass through `call`."""
    return call.kind in OPERATIONS and not is_backward(call) and not is_class(call)


def _is_computed(call: Call) -> bool:
    return may_pass_gradients(call) and call.target not in ("parameters", "named_parameters", "state_dict")


def _first_wrong_push(own: Flow, other: Flow, how: Comparison) -> tuple[int | None, _Pairs]:
    """Return the slot of the first backward call after which gradients of leaves differ, and these gradients.

    If none differ, these are of the last backward call.
    """
    slot, pairs = None, {}
    for slot, leaves in own.leaves.items():
        theirs = other.leaves.get(slot, {})
        pairs = {place: (one, theirs.get(place)) for place, one in leaves.items()}
        if any(_differ(*pair, how) for pair in pairs.values()):
            break
    return slot, pairs


def _differ(one: TensorValue | None, other: TensorValue | None, how: Comparison) -> bool:
    if one is None or other is None:
        return one is not other
    return how.differs(one, other)
