"""A recorded program that is divided into the part before a graph and the part that is built inside the graph."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator
from typing import Any

from autotest.frameworks import Framework
from autotest.frameworks.recorded_calls import run_call
from autotest.program import Call, Ref, captured, refs
from autotest.program.semantics import pushed_pairs, reparametrizes
from autotest.recording.record import Record

#: Calls that put captured arrays into tensors. Other numbers in these do not change the graph.
_FILLING = frozenset(("tensor", "load_state", "overwrite"))


@dataclasses.dataclass(slots=True)
class GraphResult:
    """A tensor that the graph returns: its place in the program, and the result of eager mode."""

    slot: int
    path: tuple[int, ...]
    eager: Any


@dataclasses.dataclass(slots=True)
class DividedProgram:
    """One program, ready to be built into a graph."""

    record: Record
    framework: Framework
    #: slot -> tensor, fresh copies
    inputs: dict[int, Any] = dataclasses.field(default_factory=dict)
    leaves: dict[int, Any] = dataclasses.field(default_factory=dict)
    modules: dict[int, Any] = dataclasses.field(default_factory=dict)
    #: slot of a parameter or buffer -> the slot of the module that contains it, and its name there
    members: dict[int, tuple[int, str]] = dataclasses.field(default_factory=dict)
    #: slot of an input -> the earlier slot of the same tensor, such as that of ``x`` in ``y = x.requires_grad_()``
    aliases: dict[int, int] = dataclasses.field(default_factory=dict)
    #: slots of the calls that are made before the graph is built
    before: list[int] = dataclasses.field(default_factory=list)
    #: slot -> value that is the same inside and outside: plain values, placements
    constants: dict[int, Any] = dataclasses.field(default_factory=dict)
    inside: list[Call] = dataclasses.field(default_factory=list)
    #: (slot of the module, name of the parameter, parameter of the divided module, its eager gradient)
    trained: list[tuple[int, str, Any, Any]] = dataclasses.field(default_factory=list)
    #: The tensors that `build` returns as outputs, in order.
    results: list[GraphResult] = dataclasses.field(default_factory=list)
    backward: list[Call] = dataclasses.field(default_factory=list)
    left_out: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Slot of the call that is being built, for the message if building fails.
    at: int = -1

    def build(
        self, inputs: list[Any], leaves: list[Any], modules: list[Any]
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Make the calls of the graph on its own tensors and modules.

        Args:
            inputs: tensors for `self.inputs`, in the same order.
            leaves: tensors for `self.leaves`, in the same order.
            modules: modules for `self.modules`, in the same order.

        Returns:
            The tensors of `self.results`, and the pairs of output and cotangent to push back.
        """
        values: list[Any] = [None] * len(self.record.calls)
        for held, given in ((self.inputs, inputs), (self.leaves, leaves), (self.modules, modules)):
            for slot, value in zip(held, given, strict=True):
                values[slot] = value
        for slot, same in self.aliases.items():
            values[slot] = values[same]
        for slot, (module, name) in self.members.items():
            values[slot] = self.framework.member(values[module], name)
        for slot, value in self.constants.items():
            values[slot] = value
        for call in self.inside:
            self.at = call.slot
            values[call.slot] = run_call(call, self.framework, values, self.record.arrays)
        outputs: list[Any] = []
        for result in self.results:
            built = values[result.slot]
            for index in result.path:
                built = built[index]
            outputs.append(built)
        back: list[tuple[Any, Any]] = []
        for call in self.backward:
            self.at = call.slot
            for output, cotangent in pushed_by(call):
                back.append((values[output], None if cotangent is None else values[cotangent]))
        return outputs, back

    def slots_read(self) -> set[int]:
        """Return the slots of the values that the calls of the graph and its backward read."""
        return {ref.slot for call in (*self.inside, *self.backward) for ref in refs(call)}

    def kind(self) -> str:
        """Return a key that is equal for programs that one graph can run: they differ only in their initial numbers."""
        record = self.record
        filled = {array.index for call in record.calls if call.kind in _FILLING for array in captured(call)}
        arrays = [
            (array.dtype, array.data.shape, index in filled or array.data.tobytes())
            for index, array in enumerate(record.arrays)
        ]
        calls = [(call.kind, call.target, call.args, call.kwargs) for call in record.calls]
        results = [(result.slot, result.path, self.framework.shape(result.eager)) for result in self.results]
        trained = [(slot, name) for slot, name, *_ in self.trained]
        held = [*self.inputs], [*self.leaves], trained, self.members, self.aliases
        # A weight that a module computes from others is no parameter, so a graph keeps that of its first program.
        own = id(self) if any(map(reparametrizes, record.calls)) else None
        return repr((calls, arrays, results, held, self.constants, self.backward, own))


def pushed_by(call: Call) -> Iterator[tuple[int, int | None]]:
    """Yield the pairs (slot of an output, slot of its cotangent) of a recorded backward."""
    for output, cotangent in pushed_pairs(call):
        yield output.slot, cotangent.slot if type(cotangent) is Ref else None
