"""Changes the memory layouts of a program's tensors: permuted, expanded, with gaps, and views that are written into."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autotest.comparison.elementwise import Values
from autotest.program import VIEW, Array, Call, Program, Ref, leaves, reading
from autotest.program.rewriting import assembled
from autotest.program.semantics import in_place
from autotest.sources.mutated_inputs import Mutation, inputs, one, with_array

#: A call that makes a view: its kind, its target, and its operands after the first.
ViewOperation = tuple[str, str, tuple[Any, ...]]
#: Rank -> dimensions of images in memory order, and the permutation that restores their usual order.
_CHANNELS_LAST: Final = {4: ((0, 2, 3, 1), (0, 3, 1, 2)), 5: ((0, 2, 3, 4, 1), (0, 4, 1, 2, 3))}


def viewed(program: Program, index: int, data: Values, view: ViewOperation) -> Program:
    """Return `program` with a view between the input of array `index`, set to `data`, and all calls that read it."""
    program = with_array(program, index, data)
    calls: list[Call] = []
    views: dict[int, Ref] = {}
    extra = len(program.calls)
    for call in program.calls:
        calls.append(reading(call, views))
        if call.kind == "tensor" and call.args[0].index == index:
            kind, target, rest = view
            calls.append(Call(kind, target, (Ref(call.slot), *rest), {}, extra, VIEW))  # type: ignore[arg-type]
            views[call.slot] = Ref(extra)
            extra += 1
    return assembled(calls, program.arrays, program.undefined)[0]


def _laid_out(fits: Callable[[Array], bool], change: Callable[[Values], tuple[Values, ViewOperation]]) -> Mutation:
    """Return a mutation that makes one of the small inputs that `fits` a view of another array, as `change` says."""

    def mutated(program: Program, source: random.Random) -> Program | None:
        index = one(program, source, fits)
        return None if index is None else viewed(program, index, *change(program.arrays[index].data))

    return mutated


def _in_reverse_order(data: Values) -> tuple[Values, ViewOperation]:
    return data.transpose(), ("method", "permute", tuple(range(data.ndim))[::-1])


def _with_channels_last(data: Values) -> tuple[Values, ViewOperation]:
    in_memory, back = _CHANNELS_LAST[data.ndim]
    return data.transpose(in_memory), ("method", "permute", back)


def _with_gaps(data: Values) -> tuple[Values, ViewOperation]:
    """Return every second element of a longer tensor, along the last dimension."""
    return np.repeat(data, 2, axis=-1), ("operator", "getitem", ((Ellipsis, slice(None, None, 2)),))


permuted: Final = _laid_out(lambda array: array.data.ndim > 1, _in_reverse_order)
channels_last: Final = _laid_out(lambda array: array.data.ndim in _CHANNELS_LAST, _with_channels_last)
expanded: Final = _laid_out(
    lambda array: array.data.ndim > 0 and array.data.shape[0] > 1,
    lambda data: (data[:1], ("method", "expand", data.shape)),
)
offset: Final = _laid_out(
    lambda array: array.data.ndim > 0 and array.data.shape[0] > 0,
    lambda data: (np.concatenate([data[:1], data]), ("operator", "getitem", (slice(1, None),))),
)
gaps: Final = _laid_out(lambda array: array.data.ndim > 0 and array.data.size > 0, _with_gaps)


def through_a_view(program: Program, source: random.Random) -> Program | None:
    """Let a call in place write into a view of a tensor, and read the tensor afterwards."""
    last = program.calls[-1]
    if not in_place(last) or not last.args or type(last.args[0]) is not Ref:
        return None
    end = len(program.calls)
    base = Call("method", "clone", (last.args[0],), {}, end)
    view = Call("method", "view_as", (Ref(end), Ref(end)), {}, end + 1, VIEW)
    written = last._replace(args=(Ref(end + 1), *last.args[1:]))
    read = Call("method", "clone", (Ref(end),), {}, end + 2)
    return assembled([*program.calls[:-1], base, view, written, read], program.arrays, program.undefined)[0]


def into_gaps(program: Program, source: random.Random) -> Program | None:
    """Let a call in place write into every second element of a tensor, and read the tensor afterwards."""
    last = program.calls[-1]
    copied = last.args[0] if in_place(last) and last.args else None
    copy = program.calls[copied.slot] if type(copied) is Ref else last
    given = copy.args[0] if copy.target == "clone" else None
    if type(given) is not Ref or program.calls[given.slot].kind != "tensor":
        return None
    index = program.calls[given.slot].args[0].index
    data = program.arrays[index].data
    # No other call may read the input, because its array becomes twice as long.
    readers = sum(item == given for call in program.calls for item in leaves((call.args, call.kwargs)))
    if index not in inputs(program) or readers > 1 or not data.size or not data.ndim:
        return None
    doubled = with_array(program, index, np.repeat(data, 2, axis=-1))
    end = len(program.calls)
    view = Call("operator", "getitem", (copied, (Ellipsis, slice(None, None, 2))), {}, end, VIEW)
    written = last._replace(args=(Ref(end), *last.args[1:]))
    read = Call("method", "clone", (copied,), {}, end + 1)
    return assembled([*doubled.calls[:-1], view, written, read], doubled.arrays, doubled.undefined)[0]


def out_permuted(program: Program, source: random.Random) -> Program | None:
    """Make `out=` a tensor whose dimensions are laid out in reverse order."""
    index = _written_to(program)
    if index is None or program.arrays[index].data.ndim < 2:
        return None
    return viewed(program, index, *_in_reverse_order(program.arrays[index].data))


def _written_to(program: Program) -> int | None:
    """Return the array of the only tensor passed as `out=` to the last call, if it is small and not empty."""
    given = program.calls[-1].kwargs.get("out")
    if type(given) is not Ref or program.calls[given.slot].kind != "tensor":
        return None
    index: int = program.calls[given.slot].args[0].index
    data = program.arrays[index].data
    return index if index in inputs(program) and data.size and data.ndim else None


def out_with_gaps(program: Program, source: random.Random) -> Program | None:
    """Make `out=` every second element of a tensor, and read the tensor afterwards."""
    index = _written_to(program)
    if index is None:
        return None
    wide = viewed(program, index, *_with_gaps(program.arrays[index].data))
    base = next(call.slot for call in wide.inputs() if call.args[0].index == index)
    read = Call("method", "clone", (Ref(base),), {}, len(wide.calls))
    return assembled([*wide.calls, read], wide.arrays, wide.undefined)[0]
