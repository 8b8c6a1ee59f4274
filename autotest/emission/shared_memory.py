"""Lets the tensors of a script lie in the memory of their arrays, without anything beyond, as those of a trial do.

A framework that allocates a tensor by itself rounds its size up: what reads or writes too far may go unnoticed there.
"""

from __future__ import annotations

import dataclasses

from autotest.program import Call, Program

#: Of a call that makes a tensor: whether it lies in the memory of its array.
SHARES = "shares_memory"


def sharing(program: Program) -> Program:
    """`program`, whose tensors are made by ``from_numpy`` where it is printed."""
    return dataclasses.replace(program, calls=tuple(_sharing(program, call) for call in program.calls))


def _sharing(program: Program, call: Call) -> Call:
    if call.kind != "tensor" or call.kwargs.get("device", "cpu") != "cpu":
        return call
    array = program.arrays[call.args[0].index]
    # `from_numpy` knows no other dtypes than NumPy's, and OneFlow's refuses what has no elements.
    if array.data.dtype.name != array.dtype or not array.data.size:
        return call
    return call._replace(kwargs={**call.kwargs, SHARES: True})


__all__ = ["SHARES", "sharing"]
