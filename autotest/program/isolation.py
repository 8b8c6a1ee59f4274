"""Extracts one call, or all calls from a slot on, into a new program with the recorded values of the operands."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from autotest.program.calls import COTANGENT, Array, Call, CallKind, Captured, Operand, Program, Ref, map_call, refs
from autotest.program.dtypes import is_differentiable
from autotest.program.fixed_cotangents import fixed_cotangent
from autotest.program.paths import item_path, tensors_with_indices
from autotest.program.rewriting import assembled, tensor_call
from autotest.program.semantics import is_setting, loads_state, overwritten_operand, reparametrizes, with_first_operand
from autotest.program.values import TensorValue

_MISSING = object()
#: dtype of a recorded module -> the method that converts a new module to it.
_PRECISIONS = {"float64": "double", "float16": "half", "bfloat16": "bfloat16"}


@dataclasses.dataclass(frozen=True, slots=True)
class ModuleState:
    """The state of a module: its parameters and buffers by name, and whether it was in training mode."""

    tensors: dict[str, TensorValue]
    training: bool


def isolated(
    program: Program,
    slot: int,
    operands: Mapping[int, Any],
    result: Any = None,
    *,
    gradients: bool = False,
    cotangents: Mapping[str, TensorValue | None] | None = None,
    on_copies: bool = False,
) -> tuple[Program, int]:
    """Return a program of call `slot` alone with the recorded values of its operands, and the call's new slot.

    Args:
        program: the program that contains the call.
        slot: the slot of the call.
        operands: slot -> its `TensorValue`, `ModuleState` or plain value before the call. An operand that is missing
            (an optimizer, a list of tensors) is created again by the calls that created it.
        result: the recorded result of the call, which gives the shapes of the cotangents.
        gradients: also propagate cotangents back; every operand that required a gradient becomes a leaf that requires
            one.
        cotangents: the cotangents by path in the result; missing ones are made up.
        on_copies: pass copies of the operands to a module, which may write into them: leaves must not be written into.
    """
    call = program.calls[slot]
    part = _Excerpt(program, operands, slot, asking=gradients)
    for ref in dict.fromkeys(refs(call)):
        part.provide(ref.slot)
    owner = overwritten_operand(call)
    if gradients and owner is not None:
        # A leaf that requires a gradient must not be written into.
        call = with_first_operand(call, Ref(part.add("method", "clone", (owner,))))
    elif on_copies:
        call = call._replace(args=(*call.args[:1], *(part.copy(item) for item in call.args[1:])))
    part.keep(call)
    if gradients:
        root = call.args[0] if call.target == "setitem" else Ref(slot)
        part.push(root, result, cotangents or {})
    new, places = assembled(part.calls, tuple(part.arrays))
    return new, places[slot]


def onwards(program: Program, start: int, held: Mapping[int, Any]) -> Program:
    """Return the calls of `program` from slot `start` on, with the earlier results that `held` contains by slot."""
    part = _Excerpt(program, held, start, asking=True)
    for call in program.calls[start:]:
        for ref in refs(call):
            if ref.slot < start:
                part.provide(ref.slot)
    for call in program.calls[start:]:
        part.keep(call)
    undefined = [slot for slot in program.undefined if slot >= start]
    return assembled(part.calls, tuple(part.arrays), undefined)[0]


class _Excerpt:
    """Collects the calls of a new program taken from another one.

    Calls keep the slots of the original program until they are assembled; additional calls get slots after all of them.
    """

    def __init__(self, program: Program, held: Mapping[int, Any], end: int, *, asking: bool) -> None:
        """Create an empty excerpt.

        Args:
            program: the original program.
            held: the recorded values by slot.
            end: the slot before which calls may be repeated to recreate an operand.
            asking: whether operands that required a gradient require it as leaves.
        """
        self._program, self._held, self._end, self._asking = program, held, end, asking
        self.calls: list[Call] = []
        self.arrays: list[Array] = list(program.arrays)
        self._plain: dict[int, Any] = {}
        self._there: set[int] = set()
        self._next = len(program.calls)

    def keep(self, call: Call) -> None:
        """Append `call`, whose operands are in the excerpt already."""
        self._there.add(call.slot)
        self.calls.append(map_call(call, self._leaf))

    def add(self, kind: CallKind, target: str, args: tuple[Operand, ...]) -> int:
        """Append a call that the original program does not contain; return its slot."""
        self.calls.append(Call(kind, target, args, {}, self._next))
        self._next += 1
        return self._next - 1

    def copy(self, item: Operand) -> Operand:
        """Append a call that clones `item` and return its result, if it is a tensor; else return `item`."""
        held = type(item) is Ref and type(self._held.get(item.slot)) is TensorValue
        return Ref(self.add("method", "clone", (item,))) if held else item

    def provide(self, at: int) -> None:
        """Provide the value of slot `at`: as a new input, as a literal, or by the calls that created it."""
        if at in self._plain or at in self._there:
            return
        value = self._held.get(at, _MISSING)
        if type(value) is TensorValue:
            original = self._program.calls[at]
            grad = self._asking and value.requires_grad and is_differentiable(value.dtype)
            note = original.note if original.kind == "tensor" else ""
            self._there.add(at)
            self.calls.append(self._tensor(value, at, grad, note))
        elif value is not _MISSING and type(value) is not ModuleState:
            self._plain[at] = value
        else:
            self._remake(at, value if type(value) is ModuleState else None)

    def push(self, root: Operand, result: Any, cotangents: Mapping[str, TensorValue | None]) -> None:
        """Append the call that propagates `cotangents` back through `root`, whose value is `result`."""
        pairs = [
            (self._item(root, indices), cotangents.get(item_path(indices)) or _cotangent(tensor))
            for indices, tensor in tensors_with_indices(result, (TensorValue,))
            if tensor.requires_grad or (not indices and is_differentiable(tensor.dtype))
        ]
        given = [Ref(self._input(cotangent)) for _, cotangent in pairs]
        roots = [one for one, _ in pairs]
        if len(pairs) == 1:
            self.add("method", "backward", (roots[0], given[0]))
        elif pairs:
            self.add("function", "autograd.backward", (roots, given))

    def _input(self, cotangent: TensorValue) -> int:
        self.calls.append(self._tensor(cotangent, self._next, False, COTANGENT))
        self._next += 1
        return self._next - 1

    def _item(self, root: Operand, indices: tuple[int, ...]) -> Operand:
        for index in indices:
            root = Ref(self.add("operator", "getitem", (root, index)))
        return root

    def _tensor(self, value: TensorValue, at: int, grad: bool, note: str) -> Call:
        self.arrays.append(value.as_array())
        array = self.arrays[-1]
        return tensor_call(at, len(self.arrays) - 1, array, requires_grad=grad, device=value.device, note=note)

    def _remake(self, at: int, state: ModuleState | None) -> None:
        """Append the calls that created the object in slot `at` and those that changed its state before the end."""
        origin = self._program.calls[at]
        for ref in refs(origin):
            self.provide(ref.slot)
        self.keep(origin)
        training = True
        for later in self._program.calls[at + 1 : self._end]:
            if not later.args or later.args[0] != Ref(at):
                continue
            loads = later.kind == "load_state" or loads_state(later)
            changes_state = (is_setting(later) and not loads) or later.kind in ("enter", "exit")
            if changes_state or reparametrizes(later) or (loads and state is None):
                for ref in refs(later):
                    self.provide(ref.slot)
                self.keep(later)
            if later.target in ("train", "eval"):
                training = later.target == "train" and later.args[1:] != (False,)
        if state is not None:
            self._restore(at, state, training)

    def _restore(self, at: int, state: ModuleState, training: bool) -> None:
        """Append calls that give the new module in slot `at` the recorded precision, tensors and training mode."""
        # In a fixed order with the widest last, as the last of several conversions decides.
        for dtype in sorted({value.dtype for value in state.tensors.values()} & _PRECISIONS.keys()):
            self.add("method", _PRECISIONS[dtype], (Ref(at),))
        if state.tensors:
            names: dict[str, Operand] = {}
            for name, value in state.tensors.items():
                self.arrays.append(value.as_array())
                names[name] = Captured(len(self.arrays) - 1)
            self.add("load_state", "", (Ref(at), names))
        if state.training != training:
            self.add("method", "train", (Ref(at), state.training))

    def _leaf(self, item: Operand) -> Operand:
        return self._plain[item.slot] if type(item) is Ref and item.slot in self._plain else item


def _cotangent(result: TensorValue) -> TensorValue:
    return TensorValue(fixed_cotangent(result.data.shape, result.dtype).data, result.dtype, result.device, False)
