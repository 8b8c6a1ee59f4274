"""The inputs of a program as a test drew them, numbers and the memory they lie in, and programs on others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from autotest.program.calls import LAYOUT, Array, Call, CallKind, Captured, Program, Ref, refs
from autotest.program.rewriting import assembled, tensor_call
from autotest.program.values import TensorValue
from generators import lay_out

#: The names of layouts by the call that makes them.
_LAYOUT_OF: Mapping[str, str] = {"transpose": "transposed", "getitem": "strided", "expand": "expanded"}


@dataclasses.dataclass(frozen=True, slots=True)
class Input:
    """A tensor that a program starts from: what the rest of the program reads in `slot`."""

    slot: int
    #: The slots of the calls that make it: one, or the base and the views that lay it out in memory.
    made_by: tuple[int, ...]
    array: Array
    layout: str
    requires_grad: bool
    device: str
    #: The call that fills it once it is laid out, where there is one: such an input can be varied by itself.
    filled_by: int | None = None

    def with_data(self, data: np.ndarray[Any, Any], dtype: str | None = None) -> Input:
        """This input with the contents `data`, of `dtype` where that is another."""
        like = self.array.data.dtype if dtype is None else data.dtype
        array = Array(np.asarray(data, dtype=like), dtype or self.array.dtype)
        return dataclasses.replace(self, array=array)

    def with_layout(self, layout: str) -> Input:
        """This input laid out in memory as `layout` says."""
        return dataclasses.replace(self, layout=layout)


def inputs_of(program: Program, values: Mapping[int, TensorValue]) -> list[Input]:
    """The inputs of `program`, of which `values` says what each slot holds; cotangents are among them."""
    found = []
    for call in program.inputs():
        made_by, layout, grad = [call.slot], "contiguous", bool(call.kwargs["requires_grad"])
        view = _view_of(program, call.slot)
        while view is not None:
            made_by.append(view.slot)
            layout = layout_of(view, layout)
            grad = grad or view.target == "requires_grad_"
            view = _view_of(program, view.slot)
        value = next((values[slot] for slot in reversed(made_by) if slot in values), None)
        if value is not None:
            array = value.as_array()
            filled_by = _filled_by(program, made_by[-1])
            found.append(Input(made_by[-1], tuple(made_by), array, layout, grad, value.device, filled_by))
    return found


def _filled_by(program: Program, slot: int) -> int | None:
    """The call right after `slot` that puts captured numbers there."""
    after = program.calls[slot + 1 : slot + 2]
    return next((call.slot for call in after if call.kind == "overwrite" and call.args[0] == Ref(slot)), None)


def _view_of(program: Program, slot: int) -> Call | None:
    """The call that lays `slot` out in memory, where nothing else reads it."""
    readers = [call for call in program.calls[slot + 1 :] if Ref(slot) in set(refs(call))]
    return readers[0] if len(readers) == 1 and readers[0].note == LAYOUT else None


def layout_of(view: Call, before: str) -> str:
    """How the call `view` lays its operand out in memory, which lay as `before` says."""
    if view.target == "getitem":
        (*earlier, last) = view.args[1]
        whole_rows = not earlier and last.step in (None, 1)
        return "offset" if whole_rows else "strided"
    if view.target == "transpose" and (before == "channels_last" or view.args[2] - view.args[1] > 1):
        return "channels_last"
    return _LAYOUT_OF.get(view.target, before)


def with_inputs(program: Program, others: Iterable[Input]) -> Program:
    """`program` with these in place of its inputs of the same slots.

    Raises `GeneratorError` where numbers that do not repeat are to lie in expanded memory.
    """
    new = {item.slot: item for item in others}
    gone = {slot for item in new.values() for slot in (*item.made_by, item.filled_by)}
    arrays, calls = list(program.arrays), []
    free = len(program.calls)
    for call in program.calls:
        item = new.get(call.slot)
        if item is None:
            calls += [] if call.slot in gone else [call]
            continue
        base, steps = lay_out(item.array.data, item.layout)
        arrays.append(Array(base, item.array.dtype))
        grad = item.requires_grad and not steps
        made = [tensor_call(free, len(arrays) - 1, arrays[-1], requires_grad=grad, device=item.device)]
        views = [call_of_step(step) for step in steps]
        if steps and item.requires_grad:
            views.append(("method", "requires_grad_", ()))
        for kind, target, details in views:
            made.append(Call(kind, target, (Ref(made[-1].slot), *details), {}, made[-1].slot + 1, LAYOUT))
        free = made[-1].slot + 1
        calls += [*made[:-1], made[-1]._replace(slot=call.slot)]
        if item.filled_by is not None and steps:
            arrays.append(item.array)
            calls.append(Call("overwrite", "", (Ref(call.slot), Captured(len(arrays) - 1)), {}, item.filled_by))
    return assembled(calls, tuple(arrays), program.undefined)[0]


def call_of_step(step: tuple[Any, ...]) -> tuple[CallKind, str, tuple[Any, ...]]:
    """The kind, the target and the further arguments of the call that takes `step` of a layout."""
    name, *details = step
    if name == "slice":
        dim, start, stop, stride = details
        return "operator", "getitem", ((*[slice(None)] * dim, slice(start, stop, stride)),)
    return "method", name, tuple(details)
