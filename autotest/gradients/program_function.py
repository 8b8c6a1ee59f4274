"""A recorded program as a function of its leaves, which can be called again and again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autotest.base.errors import AutotestError
from autotest.comparison.elementwise import same_array
from autotest.comparison.rejection import first_line
from autotest.frameworks import Framework
from autotest.frameworks.recorded_calls import run_call
from autotest.gradients.function import overlaps
from autotest.gradients.redefined_gradients import ProgramRun, redefined
from autotest.program import Array, Call, Program, Ref, operator_of, refs
from autotest.program.rewriting import widened
from autotest.program.semantics import (
    OPERATIONS,
    base_name,
    differentiated_slots,
    makes_optimizer,
    pushes_gradients,
    written,
)
from autotest.replaying.replay import Contexts

#: Methods of modules that are called only once: the state after them is what is varied.
_TELLING = frozenset(("double", "to", "load_state_dict"))


class NotNumeric(AutotestError):
    """Raised if the gradients of a program cannot be compared with differences; the message is the reason."""


class SingularMatrix(NotNumeric):
    """Raised if a matrix that was regular in the program's own precision, because of rounding, is singular in double.

    Attributes:
        operator: the operator that cannot compute with it.
        type: the name of the framework's exception.
    """

    def __init__(self, operator: str, error: Exception) -> None:
        super().__init__(f"in double precision: {first_line(error)}")
        self.operator, self.type = operator, type(error).__name__


@dataclasses.dataclass(slots=True)
class VariedLeaf:
    """A tensor to vary: the slot of the call that made it, and its path inside that value (``.weight`` or empty)."""

    slot: int
    suffix: str
    tensor: Any


class DifferentiatedProgram(NamedTuple):
    """A program in double precision; the calls before its first backward pass are ``program.calls[:upto]``."""

    program: Program
    upto: int
    #: The slots of the backward pass's roots.
    roots: list[int]
    #: Slot of this program -> slot of the recorded program.
    recorded: dict[int, int]


def differentiated(program: Program) -> DifferentiatedProgram:
    """Return the part of `program` before its first backward pass, in double precision. It must have one."""
    push = next(call for call in program.calls if pushes_gradients(call))
    wide, places = widened(program)
    roots = dict.fromkeys(places[slot] for slot in differentiated_slots(push))
    return DifferentiatedProgram(wide, places[push.slot], list(roots), {new: old for old, new in places.items()})


class ProgramFunction:
    """Runs the calls of a program repeatedly, on leaves that stay the same tensors.

    Args:
        program: the program, in double precision.
        upto: the number of calls to run.
        roots: the slots of the values to return.
        framework: the framework to run it on.
    """

    def __init__(self, program: Program, upto: int, roots: Sequence[int], framework: Framework) -> None:
        self._program, self._framework, self._roots = program, framework, roots
        self._calls = program.calls[:upto]
        read = {ref.slot for call in self._calls for ref in refs(call)}
        #: Slots of inputs that no call reads, such as cotangents. They are made once, for the first run.
        self._unread = {call.slot for call in self._calls if call.kind == "tensor"} - read - {*roots}
        self._kept: dict[int, Any] = {}
        #: Slots of the values that are computed from leaves.
        self._computed: set[int] = set()
        #: Slot of a value that is a constant for autograd -> its contents and device.
        self.constants: dict[int, tuple[Array, str]] = {}
        #: Slot of a leaf that shared memory, and was replaced by a copy -> its contents and device.
        self.copied_leaves: dict[int, tuple[Array, str]] = {}
        self._values: list[Any] = []
        #: Slots of leaves and modules that calls outside of autograd write into or copy.
        self.outside: set[int] = set()
        #: The roots' values in the first successful call; None before it.
        self._accepted: list[Array] | None = None
        #: Slot of a module -> its buffers after it was set up, by name. A run may change them, so each run restores
        #: them first.
        self._buffers: dict[int, dict[str, Array]] = {}
        self._run({}, first=True)
        self._buffers = dict(self._changed())
        #: Slots of the values whose gradient is, by definition, not the derivative.
        self.redefined = redefined(ProgramRun(self._calls, self._values, framework, self._buffers))
        #: The tensors that may be varied.
        self.leaves = [leaf for leaf in self._leaves() if leaf.slot not in self.redefined]

    def __call__(self, *given: Any) -> list[Any]:
        """Return the roots of the backward pass, with the tensors `given` in place of the leaves."""
        instead = {
            id(leaf.tensor): one
            for leaf, one in zip(self.leaves, given, strict=False)
            if one is not leaf.tensor and not leaf.suffix
        }
        try:
            self._run(instead, first=False)
        except AutotestError:
            raise
        except Exception:
            if self._accepted is None or instead:  # for example, an operator without forward mode
                raise
            # The call failed near a point where it succeeded: return NaN, so that other elements are still checked.
            return [self._made(_without_value(one), "cpu") for one in self._accepted]
        found = [self._values[slot] for slot in self._roots]
        if self._accepted is None:
            self._accepted = [value.as_array() for value in self._framework.values(found)]
        return found

    def between(self) -> list[Any]:
        """Return the tensors that the last run computed from leaves, for gradients to flow through."""
        return [self._values[slot] for slot in sorted(self._computed)]

    def is_in_module(self, leaf: VariedLeaf) -> bool:
        """Return whether a module contains `leaf`. What the module computes does not use a tensor in place of it."""
        kept = (value for value in self._kept.values() if isinstance(value, self._framework.module_types))
        return any(one is leaf.tensor for module in kept for one in self._framework.parameters(module).values())

    def _leaves(self) -> Iterator[VariedLeaf]:
        """Yield each leaf that requires grad, and each parameter of a module."""
        framework = self._framework
        seen: set[int] = set()
        for slot, value in self._kept.items():
            tensors = {"": value} if isinstance(value, framework.tensor_types) else {}
            if isinstance(value, framework.module_types):
                tensors = {f".{name}": tensor for name, tensor in framework.parameters(value).items()}
            for suffix, tensor in tensors.items():
                if framework.can_backpropagate(tensor) and id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield VariedLeaf(slot, suffix, tensor)

    def _run(self, instead: Mapping[int, Any], *, first: bool) -> None:
        values = self._values = []
        for slot, state in self._buffers.items() if not first else ():
            self._framework.load_state(self._kept[slot], state)
        with Contexts(self._calls, self._framework) as contexts:  # the program may end, or fail, inside of one
            for call in self._calls:
                values.append(self._result(call, instead, first=first))
                contexts.note(self._framework, call, values)

    def _result(self, call: Call, instead: Mapping[int, Any], *, first: bool) -> Any:
        """Return the result of `call`, which is made again only if it has to be."""
        if call.slot in self._kept:
            kept = self._kept[call.slot]
            return instead.get(id(kept), kept)
        if call.slot in self._unread and not first:
            return None
        if call.slot in self.constants:
            return self._made(*self.constants[call.slot])
        try:
            value = run_call(call, self._framework, self._values, self._program.arrays)
        except Exception as error:
            if first and type(error).__name__.endswith("LinAlgError"):  # of torch, NumPy and SciPy
                raise SingularMatrix(operator_of(self._calls, call.slot), error) from error
            raise
        return self._reusable_result(call, value) if first else value

    def _reusable_result(self, call: Call, value: Any) -> Any:
        """Return the result of `call`, and decide whether later runs reuse it instead of running the call again.

        Leaves and modules are made and set up only once. A result that is computed from a value that carries gradients,
        but does not carry any itself (``detach``, ``no_grad``), is a constant for autograd, so it must be one for
        differences, too.
        """
        framework = self._framework
        tensor = isinstance(value, framework.tensor_types)
        carries = tensor and framework.can_backpropagate(value)
        # It shares the memory of the tensor that it is made of, which gets no gradient from it.
        parameter = base_name(call) == "Parameter"
        if carries and _makes_leaf(call) and (parameter or not any(ref.slot in self._computed for ref in refs(call))):
            if overlaps(framework, value) or parameter or self._is_detached(call):
                self.copied_leaves[call.slot] = self._frozen(value)
                # Elements that share memory, with each other or with another leaf, cannot be varied one by one.
                value = self._made(*self.copied_leaves[call.slot], requires_grad=True)
                value = framework.invoke("function", call.target, (value,), {}) if parameter else value
            self._kept[call.slot] = value
        elif self._builds(call, value) or self._writes_into_kept(call):
            self._kept[call.slot] = value
            if base_name(call) in ("deepcopy", "load_state_dict"):
                self.outside.update(ref.slot for ref in refs(call))
            self._note_buffers(call, value)
        elif tensor and _computes(call) and not carries:
            read = [self._values[ref.slot] for ref in refs(call)]
            if any(isinstance(item, framework.tensor_types) and framework.can_backpropagate(item) for item in read):
                self.constants[call.slot] = self._frozen(value)
        elif carries:
            self._computed.add(call.slot)
        return value

    def _is_detached(self, call: Call) -> bool:
        """Return whether the leaf that `call` makes may share memory with the value that it was detached from."""
        return any(ref.slot in self.constants for ref in refs(call))

    def _builds(self, call: Call, value: Any) -> bool:
        modules = self._framework.module_types
        if makes_optimizer(call):
            return True
        if call.kind in ("function", "builtin") and isinstance(value, modules):
            return True  # a function such as `spectral_norm` may be applied to a module only once
        owner = call.args[0] if call.args else None
        changes_module = call.kind == "load_state" or (call.kind == "method" and call.target in _TELLING)
        return changes_module and type(owner) is Ref and isinstance(self._values[owner.slot], modules)

    def _writes_into_kept(self, call: Call) -> bool:
        """Return whether `call` writes, outside of autograd, into a leaf or parameter, which then keeps the result."""
        into = {id(self._values[ref.slot]) for ref in written(call)}
        held = [leaf for leaf in self._leaves() if id(leaf.tensor) in into] if into else []
        if call.kind not in ("overwrite", "load_state"):
            self.outside.update(leaf.slot for leaf in held)
        return bool(held)

    def _note_buffers(self, call: Call, value: Any) -> None:
        """Record the buffers of the module that `call` made or set up."""
        framework, modules = self._framework, self._framework.module_types
        owner = self._values[call.args[0].slot] if call.args and type(call.args[0]) is Ref else None
        module = owner if isinstance(owner, modules) else value
        if isinstance(module, modules):
            slot = next((slot for slot, kept in self._kept.items() if kept is module), None)
            if slot is None:  # a submodule of another module
                slot = call.args[0].slot
                self._kept[slot] = module
            buffers = framework.buffers(module)
            found = framework.values(list(buffers.values()))
            self._buffers[slot] = {
                name: Array(one.data.copy(), one.dtype) for name, one in zip(buffers, found, strict=True)
            }

    def _changed(self) -> Iterator[tuple[int, dict[str, Array]]]:
        """Yield the slots of modules whose buffers have changed, with the buffers from before."""
        framework = self._framework
        for slot, state in self._buffers.items():
            buffers = framework.buffers(self._kept[slot])
            known = {name: array for name, array in state.items() if name in buffers}
            now = framework.values([buffers[name] for name in known])
            same = (same_array(one.data, two.data) for one, two in zip(known.values(), now, strict=True))
            if not all(same):
                yield slot, known

    def _frozen(self, value: Any) -> tuple[Array, str]:
        (frozen,) = self._framework.values([value])
        return Array(frozen.data.copy(), frozen.dtype), frozen.device

    def _made(self, array: Array, device: str, requires_grad: bool = False) -> Any:
        return self._framework.tensor(array, device=device, requires_grad=requires_grad)


def _makes_leaf(call: Call) -> bool:
    """Return whether the result of `call` is a leaf if it requires grad."""
    if call.kind == "tensor" or base_name(call) in ("requires_grad_", "deepcopy", "Parameter"):
        return True
    return call.kwargs.get("requires_grad") is True


def _computes(call: Call) -> bool:
    """Return whether `call` computes a value that autograd tracks, unless tracking is off."""
    return call.kind in OPERATIONS or (call.kind == "getattr" and call.target == "data")


def _without_value(array: Array) -> Array:
    return array if array.data.dtype.kind not in "fc" else Array(np.full_like(array.data, np.nan), array.dtype)
