"""The inputs of a program as the test drew them, with their memory layouts; and programs with other inputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from autotest.program.calls import LAYOUT, Array, Call, CallKind, Captured, Program, Ref, refs
from autotest.program.rewriting import assembled, tensor_call
from autotest.program.values import TensorValue
from generators import lay_out

#: Target of the view that makes a layout -> name of the layout.
_LAYOUT_OF: Mapping[str, str] = {"transpose": "transposed", "getitem": "strided", "expand": "expanded"}


@dataclasses.dataclass(frozen=True, slots=True)
class Input:
    """An input tensor of a program, which the rest of the program reads from `slot`."""

    slot: int
    #: The slots of the calls that make it: one, or the base and the views that give it its memory layout.
    made_by: tuple[int, ...]
    array: Array
    layout: str
    requires_grad: bool
    device: str
    #: Slot of the call that overwrites the contents after the last view, or None. Such an input can be varied alone.
    filled_by: int | None = None

    def with_data(self, data: np.ndarray[Any, Any], dtype: str | None = None) -> Input:
        """Return this input with the contents `data`, converted to its own dtype or declared as `dtype`."""
        like = self.array.data.dtype if dtype is None else data.dtype
        array = Array(np.asarray(data, dtype=like), dtype or self.array.dtype)
        return dataclasses.replace(self, array=array)

    def with_size(self, size: int, other: int) -> Input:
        """Return this input with each dimension of length `size` cut to `other`, or its numbers repeated up to it."""
        data = self.array.data
        for axis, length in enumerate(data.shape):
            if length == size:
                data = np.take(data, np.arange(other), axis=axis, mode="wrap")
        return self if data is self.array.data else self.with_data(data)

    def with_layout(self, layout: str) -> Input:
        """Return this input with the memory layout named `layout`."""
        return dataclasses.replace(self, layout=layout)


def inputs_of(program: Program, values: Mapping[int, TensorValue]) -> list[Input]:
    """Return the inputs of `program`, including cotangents.

    Args:
        program: the program.
        values: the value of each slot after the program, which may have written into its inputs. Inputs without a
            value are left out.
    """
    found = []
    for call in program.inputs():
        made_by, layout, grad = [call.slot], "contiguous", bool(call.kwargs["requires_grad"])
        array = program.arrays[call.args[0].index]
        view = _view_of(program, call.slot)
        while view is not None:
            made_by.append(view.slot)
            array = Array(viewed(array.data, view), array.dtype)
            layout = layout_of(view, layout, array.data.ndim)
            grad = grad or view.target == "requires_grad_"
            view = _view_of(program, view.slot)
        value = next((values[slot] for slot in reversed(made_by) if slot in values), None)
        if value is not None:
            filled_by = _filled_by(program, made_by[-1])
            if filled_by is not None:
                array = program.arrays[program.calls[filled_by].args[1].index]
            found.append(Input(made_by[-1], tuple(made_by), array, layout, grad, value.device, filled_by))
    return found


def _filled_by(program: Program, slot: int) -> int | None:
    """Return the slot of the next call if it overwrites `slot` with a captured array, else None."""
    after = program.calls[slot + 1 : slot + 2]
    return next((call.slot for call in after if call.kind == "overwrite" and call.args[0] == Ref(slot)), None)


def _view_of(program: Program, slot: int) -> Call | None:
    """Return the view that gives `slot` its memory layout, if it is the only reader of `slot`, else None."""
    readers = [call for call in program.calls[slot + 1 :] if Ref(slot) in set(refs(call))]
    return readers[0] if len(readers) == 1 and readers[0].note == LAYOUT else None


def viewed(data: np.ndarray[Any, Any], view: Call) -> np.ndarray[Any, Any]:
    """Return the view of `data` that the call `view` of a memory layout makes."""
    if view.target == "getitem":
        part: np.ndarray[Any, Any] = data[view.args[1]]
        return part
    if view.target == "transpose":
        return data.swapaxes(*view.args[1:]) if data.ndim else data  # torch also swaps dimension 0 of a scalar
    return np.broadcast_to(data, view.args[1]) if view.target == "expand" else data


def layout_of(view: Call, before: str, rank: int) -> str:
    """Return the name of the layout that the call `view` makes of an operand of `rank` with the layout `before`."""
    if view.target == "getitem":
        (*earlier, last) = view.args[1]
        if last.step not in (None, 1):
            return "strided"
        if not earlier:
            return "offset"
        return "pitched" if len(earlier) + 1 == rank else "sliced"
    if view.target == "transpose" and (before == "channels_last" or view.args[2] - view.args[1] > 1):
        return "channels_last"
    return _LAYOUT_OF.get(view.target, before)


def with_inputs(program: Program, others: Iterable[Input]) -> Program:
    """Return `program` with its inputs in the slots of `others` replaced by these.

    Raises:
        GeneratorError: an input has an expanded layout but values that do not repeat.
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
    """Return the kind, target and further arguments of the call that performs one `step` of a memory layout."""
    name, *details = step
    if name == "slice":
        dim, start, stop, stride = details
        return "operator", "getitem", ((*[slice(None)] * dim, slice(start, stop, stride)),)
    return "method", name, tuple(details)
