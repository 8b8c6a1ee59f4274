"""A recorded program as a function of its leaves, and whether its gradients are what differences say."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autotest.base.errors import AutotestError
from autotest.emission import names
from autotest.frameworks import Framework, warnings_shown
from autotest.gradients.by_definition import ProgramRun, redefined
from autotest.gradients.checking import GradcheckResult, check, forward_rows
from autotest.gradients.function import FunctionOfInputs, overlaps, second_order
from autotest.gradients.public import made_cotangents
from autotest.gradients.rule import Rule
from autotest.program import Array, Call, Program, Ref, leaves, refs
from autotest.program.rewriting import widened
from autotest.program.semantics import (
    OPERATIONS,
    backward_arguments,
    base_name,
    makes_optimizer,
    pushes_gradients,
    written,
)
from autotest.replaying.replay import perform

#: What modules are told once: what they hold then is what is varied.
_TELLING = frozenset(("double", "to", "load_state_dict"))


class NotNumeric(AutotestError):
    """A program whose gradients cannot be held against differences; the message says why."""


@dataclasses.dataclass(slots=True)
class VariedLeaf:
    """One thing to vary: where the program made it, and what its gradient is called."""

    slot: int
    suffix: str
    tensor: Any


@warnings_shown()  # forward mode of newer torch warns of its own making
def check_program(
    program: Program, framework: Framework, rule: Rule, *, order: int = 1, forward: bool = False
) -> tuple[GradcheckResult, dict[str, tuple[int, str]]]:
    """Hold the gradients that `framework` gives for `program` against differences of it.

    Args:
        order: 2 checks the gradients of gradients too.
        forward: check forward mode too, where the framework has it.

    Returns:
        what was found, and for each input that a row names, its slot in `program` and what of its value it is.

    Raises:
        NotNumeric: the program computes with undefined contents, or cannot run in double precision on this framework.
    """
    if not any(map(pushes_gradients, program.calls)):
        return GradcheckResult(), {}
    if program.undefined:
        raise NotNumeric("it computes with contents that nobody specifies, such as a random mask")
    wide, upto, roots, back = differentiated(program)
    shown = names(program)
    outputs = [shown[back[slot]] for slot in roots]
    try:
        runner = ProgramFunction(wide, upto, roots, framework)
        varied = runner.leaves
        if not varied:
            return GradcheckResult(), {}
        inputs = [leaf.tensor for leaf in varied]
        places = {shown[back[leaf.slot]] + leaf.suffix: (back[leaf.slot], leaf.suffix) for leaf in varied}
        function = FunctionOfInputs(framework, runner, inputs)
        found = check(function, rule, (list(places), outputs))
        if forward:
            substituted = [position for position, leaf in enumerate(varied) if not leaf.suffix]
            found.rows += forward_rows(function, rule, (list(places), outputs), substituted)
        if order == 2 and found.passed:
            cotangents = made_cotangents(framework, runner, inputs)
            places.update({f"cotangent of {shown[back[slot]]}": (back[slot], "") for slot in roots})
            twice = second_order(framework, runner, len(inputs))
            again = FunctionOfInputs(framework, twice, [*inputs, *cotangents])
            second = [f"gradient {position}" for position in range(len(again.outputs()))]
            more = check(again, rule, (list(places), second))
            found.rows += more.rows
            found.warnings += more.warnings
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        said = f"{type(error).__name__}: {lines[-1][:200]}"
        raise NotNumeric(f"{framework.name} cannot run it in double precision ({said})") from error
    return found, places


class DifferentiatedProgram(NamedTuple):
    """A program in double precision, as far as cotangents are first pushed back: ``program.calls[:upto]``."""

    program: Program
    upto: int
    #: The slots that cotangents are pushed into.
    roots: list[int]
    #: Which slot of the program as it was recorded each one of this program's is.
    recorded: dict[int, int]


def differentiated(program: Program) -> DifferentiatedProgram:
    """What of `program`, which pushes something back, is a function of its leaves."""
    push = next(call for call in program.calls if pushes_gradients(call))
    wide, places = widened(program)
    roots = dict.fromkeys(places[item.slot] for item in leaves(backward_arguments(push)[0]) if type(item) is Ref)
    return DifferentiatedProgram(wide, places[push.slot], list(roots), {new: old for old, new in places.items()})


class ProgramFunction:
    """Carries the calls of a program out again and again, on leaves that stay the same tensors."""

    def __init__(self, program: Program, upto: int, roots: Sequence[int], framework: Framework) -> None:
        self._program, self._framework, self._roots = program, framework, roots
        self._calls = program.calls[:upto]
        self._kept: dict[int, Any] = {}
        #: The slots of what is computed of leaves.
        self._carrying: set[int] = set()
        #: What autograd takes for constants, by slot: contents and device.
        self.constants: dict[int, tuple[Array, str]] = {}
        #: Leaves whose elements shared memory, and do not any more: contents and device.
        self.apart: dict[int, tuple[Array, str]] = {}
        self._values: list[Any] = []
        #: The slots of leaves and modules that calls outside of autograd write into, or copy.
        self.outside: set[int] = set()
        #: What the roots came to at first; None while nothing did.
        self._accepted: list[Array] | None = None
        #: The buffers of modules as they were when these were set up, by slot and name: a run may change them, and the
        #: next one is to find them as this one did.
        self._buffers: dict[int, dict[str, Array]] = {}
        self._run({}, first=True)
        self._buffers = dict(self._changed())
        #: The slots of what gets a gradient that is no derivative.
        self.redefined = redefined(ProgramRun(self._calls, self._values, framework, self._buffers))
        #: What may be varied.
        self.leaves = [leaf for leaf in self._leaves() if leaf.slot not in self.redefined]

    def __call__(self, *given: Any) -> list[Any]:
        """The values that cotangents are pushed into, for `given` in place of the leaves."""
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
            if self._accepted is None or instead:  # what a framework has no forward mode for, it says itself
                raise
            # Beside a point that was accepted: there is no value, which is no reason to look nowhere else.
            return [self._made(_without_value(one), "cpu") for one in self._accepted]
        found = [self._values[slot] for slot in self._roots]
        if self._accepted is None:
            self._accepted = [value.as_array() for value in self._framework.values(found)]
        return found

    def _leaves(self) -> Iterator[VariedLeaf]:
        """Every leaf that requires grad, and every parameter of a module."""
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
        for call in self._calls:
            if call.slot in self._kept:
                kept = self._kept[call.slot]
                values.append(instead.get(id(kept), kept))
            elif call.slot in self.constants:
                values.append(self._made(*self.constants[call.slot]))
            else:
                value = perform(call, self._framework, values, self._program.arrays, {})
                values.append(self._settled(call, value) if first else value)

    def _settled(self, call: Call, value: Any) -> Any:
        """What stands for the result of `call` from now on, if it is not to be carried out again.

        Leaves and modules are made once, and told once what they are. What reads something that carries gradients and
        does not carry any itself (``detach``, ``no_grad``) is a constant to autograd, and must be one to differences.
        """
        framework = self._framework
        tensor = isinstance(value, framework.tensor_types)
        carries = tensor and framework.can_backpropagate(value)
        if carries and _makes_leaf(call) and not any(ref.slot in self._carrying for ref in refs(call)):
            if overlaps(framework, value):
                self.apart[call.slot] = self._frozen(value)
                value = self._made(*self.apart[call.slot], requires_grad=True)  # it could not be varied in place
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
            self._carrying.add(call.slot)
        return value

    def _builds(self, call: Call, value: Any) -> bool:
        modules = self._framework.module_types
        if makes_optimizer(call):
            return True
        if call.kind in ("function", "builtin") and isinstance(value, modules):
            return True  # of a function such as `spectral_norm`, which a module bears once
        owner = call.args[0] if call.args else None
        told = call.kind == "load_state" or (call.kind == "method" and call.target in _TELLING)
        return told and type(owner) is Ref and isinstance(self._values[owner.slot], modules)

    def _writes_into_kept(self, call: Call) -> bool:
        """Whether `call` writes, outside of autograd, into a leaf or a parameter, which holds that from now on."""
        into = {id(self._values[ref.slot]) for ref in written(call)}
        held = [leaf for leaf in self._leaves() if id(leaf.tensor) in into] if into else []
        if call.kind not in ("overwrite", "load_state"):
            self.outside.update(leaf.slot for leaf in held)
        return bool(held)

    def _note_buffers(self, call: Call, value: Any) -> None:
        """Note what the module that `call` made or told something holds besides parameters."""
        framework, modules = self._framework, self._framework.module_types
        owner = self._values[call.args[0].slot] if call.args and type(call.args[0]) is Ref else None
        module = owner if isinstance(owner, modules) else value
        if isinstance(module, modules):
            slot = next((slot for slot, kept in self._kept.items() if kept is module), None)
            if slot is None:  # it was taken out of another one
                slot = call.args[0].slot
                self._kept[slot] = module
            buffers = framework.buffers(module)
            found = framework.values(list(buffers.values()))
            self._buffers[slot] = {
                name: Array(one.data.copy(), one.dtype) for name, one in zip(buffers, found, strict=True)
            }

    def _changed(self) -> Iterator[tuple[int, dict[str, Array]]]:
        """The slots of modules whose buffers are not what they were, and what these were."""
        framework = self._framework
        for slot, state in self._buffers.items():
            buffers = framework.buffers(self._kept[slot])
            known = {name: array for name, array in state.items() if name in buffers}
            now = framework.values([buffers[name] for name in known])
            same = (
                np.array_equal(one.data, two.data, equal_nan=one.data.dtype.kind in "fc")
                for one, two in zip(known.values(), now, strict=True)
            )
            if not all(same):
                yield slot, known

    def _frozen(self, value: Any) -> tuple[Array, str]:
        (frozen,) = self._framework.values([value])
        return Array(frozen.data.copy(), frozen.dtype), frozen.device

    def _made(self, array: Array, device: str, requires_grad: bool = False) -> Any:
        return self._framework.tensor(array, device=device, requires_grad=requires_grad)


def _makes_leaf(call: Call) -> bool:
    """Whether `call` makes a leaf where its result requires grad."""
    if call.kind == "tensor" or base_name(call) in ("requires_grad_", "deepcopy", "Parameter"):
        return True
    return call.kwargs.get("requires_grad") is True


def _computes(call: Call) -> bool:
    """Whether `call` gives a value that autograd may know, or may have been told not to."""
    return call.kind in OPERATIONS or (call.kind == "getattr" and call.target == "data")


def _without_value(array: Array) -> Array:
    return array if array.data.dtype.kind not in "fc" else Array(np.full_like(array.data, np.nan), array.dtype)


__all__ = ["NotNumeric", "ProgramFunction", "VariedLeaf", "check_program", "differentiated"]
