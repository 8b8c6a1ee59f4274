"""Whether the operands that must be sorted are: a search among others has no defined result."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.program.calls import LAYOUT, Call, Program, Ref
from autotest.program.inputs import viewed

#: Function -> the position and the name of the operand that must be sorted along its last dimension.
_SORTED = MappingProxyType({"searchsorted": (0, "sorted_sequence"), "bucketize": (1, "boundaries")})


def searches_unsorted(program: Program) -> bool:
    """Return whether a call of `program` searches in an input that is not sorted."""
    return any(_searches_unsorted(program, call) for call in program.calls)


def _searches_unsorted(program: Program, call: Call) -> bool:
    place, name = _SORTED.get(call.target.rpartition(".")[2], (0, ""))
    if not name or call.kwargs.get("sorter") is not None:
        return False
    searched = call.args[place] if len(call.args) > place else call.kwargs.get(name)
    data = _contents(program, searched.slot) if isinstance(searched, Ref) else None
    return data is not None and not np.array_equal(np.sort(data, -1), data, equal_nan=data.dtype.kind == "f")


def _contents(program: Program, slot: int) -> np.ndarray[Any, Any] | None:
    """Return the contents of the input at `slot`; None if it is another call's result, or a single number."""
    call = program.calls[slot]
    if call.kind == "tensor":
        data = program.arrays[call.args[0].index].data
        return data if data.ndim else None
    if call.note == LAYOUT and isinstance(call.args[0], Ref):
        base = _contents(program, call.args[0].slot)
        return None if base is None else viewed(base, call)
    return None
