"""Describes operands that are not tensors by what usually determines a call's behaviour: a flag, or a number's sign."""

from __future__ import annotations

from typing import Any

from autotest.program.calls import Root


def operand_text(operand: Any) -> str:
    """Return a short description of `operand`.

    It is ``True``, ``'mean'``, ``None``, ``number``, ``0``, ``negative``, ``NaN``, a dtype's name, or the name of the
    operand's type.
    """
    if type(operand) is Root:
        return str(operand.path)
    if operand is None or isinstance(operand, (bool, str)):
        return repr(operand)
    if isinstance(operand, (int, float)):
        return "number" if operand > 0 else "0" if operand == 0 else "negative" if operand < 0 else "NaN"
    return type(operand).__name__
