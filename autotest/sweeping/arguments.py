"""Summarizes the properties of arguments that decide most crashes: ranks, emptiness, flags and signs of numbers."""

from __future__ import annotations

from typing import Any

from autotest.program import Program, Ref, plain_operands
from autotest.program.semantics import base_name, is_setting


def arguments(program: Program, *, refused: bool) -> str:
    """Return a summary of the arguments of `program`, such as ``matmul(1-d, 3-d)``.

    It is the same for all forms and dtypes, and for calls that differ only in numbers. `refused` is whether the
    reference refuses the program.
    """
    operands = [
        f"{base_name(call).rstrip('_')}({', '.join(_text(program, item) for item in (call.args, call.kwargs) if item)})"
        for call in program.calls
        if call.kind != "tensor" and not call.note and not is_setting(call)
    ]
    return "; ".join(operands) + (" refused" if refused else "")


def _text(program: Program, operand: Any) -> str:
    if isinstance(operand, (tuple, list)):
        return f"[{', '.join(_text(program, item) for item in operand)}]"
    if isinstance(operand, dict):
        return ", ".join(f"{name}={_text(program, item)}" for name, item in operand.items())
    if type(operand) is Ref:
        call = program.calls[operand.slot]
        if call.kind != "tensor":
            return "result"
        shape = program.arrays[call.args[0].index].data.shape
        return "empty" if 0 in shape else f"{len(shape)}-d"
    return plain_operands.operand_text(operand)
