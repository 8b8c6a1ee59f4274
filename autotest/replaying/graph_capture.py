"""Divides a recorded program into what stands outside of a graph and what is built inside of it."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator
from typing import Any

from autotest.frameworks import ABSENT, Framework
from autotest.program import Call, Captured, Ref, captured, leaves, refs
from autotest.program.semantics import (
    always_shares_memory,
    assigns_items,
    is_backward,
    is_step,
    reads_gradient,
    returns_gradients,
    writes,
)
from autotest.recording.record import Record
from autotest.replaying.replay import perform

#: Methods that, called on what stands outside of the graph, belong there too.
_OUTSIDE = frozenset(("to_global", "to_local", "requires_grad_", "placement", "sbp"))


#: Calls that put captured arrays into tensors, so that other numbers make no other graph.
_FILLING = frozenset(("tensor", "load_state", "overwrite"))


class CannotStage(Exception):
    """The whole program is none for a graph; the message is the reason."""


@dataclasses.dataclass(slots=True)
class Result:
    """A tensor that the graph gives: where it is found in the program, and what eager mode gave there."""

    slot: int
    path: tuple[int, ...]
    eager: Any


@dataclasses.dataclass(slots=True)
class Stage:
    """One program, ready to be built into a graph."""

    record: Record
    framework: Framework
    #: slot -> tensor, fresh copies
    inputs: dict[int, Any] = dataclasses.field(default_factory=dict)
    leaves: dict[int, Any] = dataclasses.field(default_factory=dict)
    modules: dict[int, Any] = dataclasses.field(default_factory=dict)
    #: slots of the calls that are made before there is a graph
    before: list[int] = dataclasses.field(default_factory=list)
    #: slot -> what is the same inside and outside: plain values, placements
    constants: dict[int, Any] = dataclasses.field(default_factory=dict)
    inside: list[Call] = dataclasses.field(default_factory=list)
    #: (slot of the module, name of the parameter, parameter of the staged module, its eager gradient)
    trained: list[tuple[int, str, Any, Any]] = dataclasses.field(default_factory=list)
    #: What `build` returns first, in its order.
    results: list[Result] = dataclasses.field(default_factory=list)
    backward: list[Call] = dataclasses.field(default_factory=list)
    left_out: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: The call that is being built, to name it when building fails.
    at: int = -1

    def build(
        self, inputs: list[Any], leaves: list[Any], modules: list[Any]
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Make the inner calls on what stands for the outer values; leaves results, and what to push back."""
        values: list[Any] = [None] * len(self.record.calls)
        for held, given in ((self.inputs, inputs), (self.leaves, leaves), (self.modules, modules)):
            for slot, value in zip(held, given, strict=True):
                values[slot] = value
        for slot, value in self.constants.items():
            values[slot] = value
        for call in self.inside:
            self.at = call.slot
            values[call.slot] = perform(call, self.framework, values, tuple(self.record.arrays), {})
        outputs: list[Any] = []
        for result in self.results:
            built = values[result.slot]
            for index in result.path:
                built = built[index]
            outputs.append(built)
        pushed: list[tuple[Any, Any]] = []
        for call in self.backward:
            self.at = call.slot
            for output, cotangent in pushed_by(call):
                pushed.append((values[output], None if cotangent is None else values[cotangent]))
        return outputs, pushed

    def kind(self) -> str:
        """Equal for programs that one graph serves: those that differ in nothing but the numbers they start from."""
        record = self.record
        filled = {array.index for call in record.calls if call.kind in _FILLING for array in captured(call)}
        arrays = [
            (array.dtype, array.data.shape, index in filled or array.data.tobytes())
            for index, array in enumerate(record.arrays)
        ]
        calls = [(call.kind, call.target, call.args, call.kwargs) for call in record.calls]
        results = [(result.slot, result.path, self.framework.shape(result.eager)) for result in self.results]
        trained = [(slot, name) for slot, name, *_ in self.trained]
        return repr((calls, arrays, results, [*self.inputs], [*self.leaves], trained, self.constants, self.backward))


def stage(record: Record, *, backward: bool = True) -> Stage:
    """Divide `record`, which ran without a finding; raises `CannotStage` with a reason."""
    framework = record.pair.candidate
    staged = Stage(record, framework)
    drawn = {call.args[0].slot: call.args[1] for call in record.calls if call.kind == "overwrite"}
    outside: dict[int, Any] = {}
    for call in record.calls:
        _divide(staged, call, drawn, outside)
    if not staged.inside:
        raise CannotStage("nothing is left to build")
    _choose_inputs(staged, outside, backward)
    staged.results = [
        Result(call.slot, path, eager)
        for call in staged.inside
        for path, eager in _tensors(framework, record.actual[call.slot])
    ]
    return staged


def _divide(staged: Stage, call: Call, drawn: dict[int, Captured], outside: dict[int, Any]) -> None:
    record, framework, slot = staged.record, staged.framework, call.slot
    actual = record.actual[slot]
    name = call.target.rpartition(".")[2]
    if record.pair.candidate is not framework or call.kind in ("enter", "exit"):
        raise CannotStage("context managers")
    if call.kind == "overwrite":
        if call.args[0].slot not in outside:
            raise CannotStage("random numbers drawn in place")
        staged.before.append(slot)
    elif call.kind == "tensor" or (slot in drawn and call.kind == "function"):
        array = record.arrays[drawn[slot].index if slot in drawn else call.args[0].index]
        if array.dtype.startswith("complex"):
            raise CannotStage("complex numbers")
        outside[slot] = framework.tensor(array)
        staged.before.append(slot)
    elif is_backward(call):
        staged.backward.append(call)
    elif returns_gradients(call) or reads_gradient(call):
        raise CannotStage("gradients as values")
    elif isinstance(actual, framework.module_types) or _sets_up(staged, call):
        if any(ref in set(refs(earlier)) for earlier in staged.inside for ref in refs(call)):
            raise CannotStage("modules that change between their calls")
        values = [staged.modules.get(at, record.actual[at]) for at in range(slot)]
        for at, value in outside.items():
            values[at] = value
        made = perform(call, framework, values, tuple(record.arrays), {})
        staged.before.append(slot)
        if isinstance(actual, framework.module_types):
            staged.modules[slot] = made
    elif is_step(call):
        raise CannotStage("steps of optimizers")
    elif call.kind == "setattr":
        raise CannotStage("assigned attributes")
    elif name == "Parameter":
        raise CannotStage("creation of parameters")
    elif assigns_items(call):
        raise CannotStage("assignments to items")
    elif not any(True for _ in _tensors(framework, actual)):
        staged.constants[slot] = actual
        if call.kind == "builtin" or name in ("item", "numpy", "tolist"):
            staged.left_out["values on the host"] += 1
    elif _belongs_outside(staged, call, outside):
        values = [staged.constants.get(at, outside.get(at)) for at in range(slot)]
        outside[slot] = perform(call, framework, values, tuple(record.arrays), {})
        staged.before.append(slot)
    else:
        if writes(call) and _has_views(record):
            raise CannotStage("calls in place, with views")
        staged.inside.append(call)


def _belongs_outside(staged: Stage, call: Call, outside: dict[int, Any]) -> bool:
    """Whether a call only brings an outer tensor to where it is used."""
    if call.target not in _OUTSIDE or not all(
        ref.slot in outside or ref.slot in staged.constants for ref in refs(call)
    ):
        return False
    owner = staged.record.actual[call.args[0].slot]
    # What is global already, a graph can move; and its gradient then is looked at.
    if call.target == "requires_grad_" or not staged.framework.can_backpropagate(owner):
        return True
    return staged.framework.placed_like(owner) is None


def _sets_up(staged: Stage, call: Call) -> bool:
    """Whether a call changes a module, outside of any calculation."""
    owner = call.args[0] if call.args else None
    if type(owner) is not Ref or owner.slot not in staged.modules:
        return False
    if call.kind == "load_state":
        return True
    returned = staged.record.actual[call.slot]
    return (call.kind == "setattr" and not any(type(leaf) is Ref for leaf in leaves(call.args[1]))) or (
        call.kind == "method" and call.target not in ("__call__", "forward") and returned is None
    )


def _has_views(record: Record) -> bool:
    """Whether one tensor of the program may share memory with another, which no value inside of a graph does."""
    return any(map(always_shares_memory, record.calls))


def _choose_inputs(staged: Stage, outside: dict[int, Any], backward: bool) -> None:
    """Which outer tensors are leaves whose gradient is looked at, and which are mere inputs."""
    record, framework = staged.record, staged.framework
    read = {ref.slot for call in (*staged.inside, *staged.backward) for ref in refs(call)}
    wanted = backward and bool(staged.backward)
    for slot, tensor in outside.items():
        if slot in read:
            eager = record.actual[slot]
            leaf = (
                wanted
                and framework.holds_gradient(eager)
                and framework.gradient(eager) is not None
                and 0 not in framework.shape(eager)
            )
            (staged.leaves if leaf else staged.inputs)[slot] = tensor
    seen: set[int] = set()
    for slot, module in staged.modules.items():
        eager = framework.parameters(record.actual[slot])
        for name, parameter in framework.parameters(module).items():
            if wanted and id(parameter) not in seen and framework.gradient(eager[name]) is not None:
                seen.add(id(parameter))
                staged.trained.append((slot, name, parameter, framework.gradient(eager[name])))
    if not wanted:
        staged.backward = []


def pushed_by(call: Call) -> Iterator[tuple[int, int | None]]:
    """(slot of an output, slot of its cotangent) of a recorded backward."""
    if call.kind == "method":
        rest = [*call.args[1:], *(call.kwargs[key] for key in ("gradient",) if key in call.kwargs)]
        yield call.args[0].slot, rest[0].slot if rest and type(rest[0]) is Ref else None
        return
    outputs, cotangents = call.args[0], call.args[1] if len(call.args) > 1 else None
    for index, output in enumerate(outputs if isinstance(outputs, (list, tuple)) else [outputs]):
        yield output.slot, None if cotangents is None else cotangents[index].slot


def _tensors(framework: Framework, value: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The tensors in `value`, each with the path of indices to it."""
    if isinstance(value, framework.tensor_types):
        yield (), value
    elif isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            for path, tensor in _tensors(framework, item):
                yield (index, *path), tensor
    elif value is not ABSENT and framework.literal(value) is not ABSENT and isinstance(framework.literal(value), tuple):
        yield from _tensors(framework, framework.literal(value))
