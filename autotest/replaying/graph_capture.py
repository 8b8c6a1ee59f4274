"""Divides a recorded program into the part before a graph and the part that is built inside the graph."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

from autotest.frameworks import ABSENT, Framework
from autotest.frameworks.recorded_calls import run_call
from autotest.program import LAYOUT, Array, Call, Captured, refs
from autotest.program.dtypes import is_complex
from autotest.program.semantics import (
    always_shares_memory,
    base_name,
    is_backward,
    is_module_call,
    reads_gradient,
    returns_gradients,
    writes,
)
from autotest.recording.record import Record
from autotest.replaying.divided_program import DividedProgram, GraphResult
from autotest.replaying.graph_setup import GRADIENTS_READ, CannotDivide, Reads, contexts, members, setup_calls, unfit
from autotest.replaying.replay import Contexts

#: Methods that are called outside of the graph if their tensor is outside.
_OUTSIDE = frozenset(("to_global", "to_local", "placement", "sbp"))


def divide(record: Record, *, backward: bool = True) -> DividedProgram:
    """Divide `record`, which ran without a finding.

    Raises:
        CannotDivide: the program cannot run in a graph; the text is the reason.
    """
    if record.opaque is not None:
        raise CannotDivide("arguments that programs cannot contain")
    framework = record.pair.candidate
    divided = DividedProgram(record, framework)
    division = _Division(divided)
    with Contexts(record.calls, framework) as entered:
        for call in record.calls:
            division.assign(call, entered)
    if not divided.inside:
        raise CannotDivide("nothing is left to build")
    division.finish()
    _choose_inputs(divided, division.outside, backward)
    divided.results = [
        GraphResult(call.slot, path, eager)
        for call in divided.inside
        for path, eager in _tensors(framework, record.actual[call.slot])
    ]
    return divided


class _Part(enum.Enum):
    """The part of the divided program that a call belongs to."""

    #: Creates a tensor from captured numbers, before the graph.
    DATA = enum.auto()
    #: Writes captured numbers into such a tensor.
    CONTENTS = enum.auto()
    #: Creates a module, or sets one up.
    SETUP = enum.auto()
    #: Returns a plain value, which is the same inside and outside.
    CONSTANT = enum.auto()
    #: Moves a tensor to where it is used.
    PLACEMENT = enum.auto()
    BACKWARD = enum.auto()
    INSIDE = enum.auto()


class _Division:
    """Assigns the calls to parts one by one, and makes those outside of the graph on fresh copies."""

    def __init__(self, divided: DividedProgram) -> None:
        self._divided, self._record, self._framework = divided, divided.record, divided.framework
        #: slot -> tensor
        self.outside: dict[int, Any] = {}
        #: slots of random tensors -> the numbers that the reference drew for them
        self._drawn: dict[int, Captured] = {
            call.args[0].slot: call.args[1] for call in self._record.calls if call.kind == "overwrite"
        }
        self._setup_calls = setup_calls(self._record)
        self._contexts = contexts(self._record.calls)
        #: Results and operands of the calls that set up modules.
        self._values: list[Any] = [None] * len(self._record.calls)
        self._reads = Reads(self._record)
        #: Whether tensors inside the graph may share memory. In a graph, no values share memory.
        self._has_views = any(
            always_shares_memory(call) for call in self._record.calls if call.slot not in self._setup_calls
        )
        #: Number of `with` blocks that are open.
        self._depth = 0

    def assign(self, call: Call, entered: Contexts) -> None:
        """Assign `call` to a part, and make it now if it is outside of the graph. Raises `CannotDivide`."""
        divided, slot = self._divided, call.slot
        part = self._part(call)
        if self._depth and part in (_Part.INSIDE, _Part.BACKWARD):
            raise CannotDivide("context managers")
        if part is _Part.INSIDE:
            self._reads.note(call)
            divided.inside.append(call)
        elif part is _Part.BACKWARD:
            divided.backward.append(call)
        elif part is _Part.CONSTANT:
            divided.constants[slot] = self._values[slot] = self._record.actual[slot]
            if call.kind == "builtin" or base_name(call) in ("item", "numpy", "tolist"):
                divided.left_out["values on the host"] += 1
        else:
            divided.before.append(slot)
            if part is _Part.DATA:
                self.outside[slot] = self._values[slot] = self._framework.tensor(self._array(call))
            elif part is _Part.PLACEMENT:
                self.outside[slot] = self._values[slot] = self._carried_out(call)
            elif part is _Part.SETUP:
                self._set_up(call, entered)

    def _set_up(self, call: Call, entered: Contexts) -> None:
        if call.slot not in self._contexts:
            self._reads.check(call)
        self._values[call.slot] = self._carried_out(call)
        entered.note(self._framework, call, self._values)
        if call.kind in ("enter", "exit"):
            self._depth += 1 if call.kind == "enter" else -1

    def finish(self) -> None:
        """Find the modules and the outer tensors that the graph needs. Raises `CannotDivide`."""
        divided, framework = self._divided, self._framework
        made = {slot: self._values[slot] for slot in self._setup_calls}
        read = divided.slots_read()
        divided.members = members(framework, made, read)
        wanted = read | {slot for slot, _ in divided.members.values()}
        divided.modules = {
            slot: value for slot, value in made.items() if slot in wanted and isinstance(value, framework.module_types)
        }
        for slot in sorted((read & made.keys()) - divided.members.keys() - divided.modules.keys()):
            value = made[slot]
            if not isinstance(value, framework.tensor_types):
                divided.constants[slot] = self._record.actual[slot]
            elif slot in self.outside or not framework.can_backpropagate(value):
                self.outside[slot] = value
            elif base_name(self._record.calls[slot]) == "Parameter":  # in no module
                self.outside[slot] = framework.invoke("method", "detach", [value], {})
            else:
                raise CannotDivide("calculations with parameters before a module is set up")

    def _part(self, call: Call) -> _Part:
        """Return the part of `call`. Raises `CannotDivide` if it can be neither outside nor inside the graph."""
        if call.kind in ("enter", "exit") or call.slot in self._contexts:
            return _Part.SETUP
        if call.slot in self._setup_calls and call.kind != "tensor":
            return _Part.SETUP
        if call.kind == "overwrite":
            if call.args[0].slot not in self.outside:
                raise CannotDivide("random numbers drawn in place")
            return _Part.CONTENTS
        if call.kind == "tensor" or (call.slot in self._drawn and call.kind == "function"):
            if is_complex(self._array(call).dtype):
                raise CannotDivide("complex numbers")
            return _Part.DATA
        if is_backward(call):
            return _Part.BACKWARD
        if returns_gradients(call) or reads_gradient(call):
            raise CannotDivide(GRADIENTS_READ)
        actual = self._record.actual[call.slot]
        if reason := unfit(self._record, call):
            raise CannotDivide(reason)
        if next(_tensors(self._framework, actual), None) is None:
            return _Part.CONSTANT
        if self._is_placement(call):
            return _Part.PLACEMENT
        if writes(call) and self._has_views:
            raise CannotDivide("calls in place, with views")
        return _Part.INSIDE

    def _array(self, call: Call) -> Array:
        """Return the numbers of a tensor."""
        held = self._drawn[call.slot] if call.slot in self._drawn else call.args[0]
        return self._record.arrays[held.index]

    def _carried_out(self, call: Call) -> Any:
        return run_call(call, self._framework, self._values, self._record.arrays)

    def _is_placement(self, call: Call) -> bool:
        """Return whether a call only moves an outer tensor to where it is used."""
        known = self.outside.keys() | self._divided.constants.keys()
        if call.note == LAYOUT and call.args[0].slot in known:  # a view that gives an input its layout
            return True
        if call.target in ("requires_grad_", "deepcopy"):
            return self._makes_leaf(call)
        if call.target not in _OUTSIDE or not all(ref.slot in known for ref in refs(call)):
            return False
        owner = self._record.actual[call.args[0].slot]
        # A graph can move a tensor that is global already, and then the tensor's gradient is compared.
        if not self._framework.can_backpropagate(owner):
            return True
        return self._framework.placed_like(owner) is None

    def _makes_leaf(self, call: Call) -> bool:
        """Return whether `call` makes a leaf from values that are, or can be computed, outside of the graph.

        The calls that lead to the leaf are made outside, too. They also stay inside, where other calls may read their
        results.

        Raises:
            CannotDivide: only the graph can compute the value of the leaf.
        """
        divided, framework = self._divided, self._framework
        leaf = self._record.actual[call.slot]
        if framework.can_backpropagate(leaf) and not framework.holds_gradient(leaf):
            return False  # it was part of an autograd graph before
        inside = {one.slot: one for one in divided.inside}
        found: set[int] = set()
        waiting = [ref.slot for ref in refs(call)]
        while waiting:
            slot = waiting.pop()
            if slot in inside and slot not in found:
                found.add(slot)
                waiting.extend(ref.slot for ref in refs(inside[slot]))
        leading = [inside[slot] for slot in sorted(found)]
        # Such a call, also one of a module, may write into a tensor that leads to the leaf.
        if leading and any(writes(one) or is_module_call(one) for one in divided.inside):
            raise CannotDivide("leaves that are made from results of the graph")
        for one in leading:
            self._values[one.slot] = self._carried_out(one)
        if leading and framework.can_backpropagate(self._values[call.args[0].slot]):
            return False
        divided.before.extend(one.slot for one in leading)
        return True


def _choose_inputs(divided: DividedProgram, outside: dict[int, Any], backward: bool) -> None:
    """Divide the outer tensors that the graph reads into leaves, whose gradient is compared, and other inputs."""
    record, framework = divided.record, divided.framework
    read = divided.slots_read()
    wanted = backward and bool(divided.backward)
    given: dict[int, int] = {}  # id in eager mode -> slot
    for slot, tensor in outside.items():
        if slot in read:
            eager = record.actual[slot]
            if given.setdefault(id(eager), slot) != slot:
                divided.aliases[slot] = given[id(eager)]
                continue
            leaf = (
                wanted
                and framework.holds_gradient(eager)
                and framework.gradient(eager) is not None
                and 0 not in framework.shape(eager)
            )
            (divided.leaves if leaf else divided.inputs)[slot] = tensor
    seen: set[int] = set()
    for slot, module in divided.modules.items():
        eager = framework.parameters(record.actual[slot])
        for name, parameter in framework.parameters(module).items():
            if wanted and id(parameter) not in seen and framework.gradient(eager[name]) is not None:
                seen.add(id(parameter))
                divided.trained.append((slot, name, parameter, framework.gradient(eager[name])))
    if not wanted:
        divided.backward = []


def _tensors(framework: Framework, value: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield the tensors in `value`, each with its path of indices."""
    if isinstance(value, framework.tensor_types):
        yield (), value
    elif isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            for path, tensor in _tensors(framework, item):
                yield (index, *path), tensor
    elif value is not ABSENT and framework.literal(value) is not ABSENT and isinstance(framework.literal(value), tuple):
        yield from _tensors(framework, framework.literal(value))
