"""Lets the tensors of a script share the memory of their arrays, as the tensors of a trial do.

The memory of an array ends with its last element. A framework that allocates a tensor itself rounds its size up, so
that reads or writes out of bounds may go unnoticed.
"""

from __future__ import annotations

import dataclasses

from autotest.program import Call, Program

#: Keyword argument of a call that makes a tensor: whether the tensor shares the memory of its array.
SHARES = "shares_memory"


def sharing(program: Program) -> Program:
    """Return `program` with tensors that are printed as calls of ``from_numpy``."""
    return dataclasses.replace(program, calls=tuple(_sharing(program, call) for call in program.calls))


def _sharing(program: Program, call: Call) -> Call:
    if call.kind != "tensor" or call.kwargs.get("device", "cpu") != "cpu":
        return call
    array = program.arrays[call.args[0].index]
    # `from_numpy` supports only NumPy's dtypes, and OneFlow's rejects arrays without elements.
    if array.data.dtype.name != array.dtype or not array.data.size:
        return call
    return call._replace(kwargs={**call.kwargs, SHARES: True})
