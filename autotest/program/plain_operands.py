"""Says of an operand that is no tensor what tends to decide about a call: which flag it is, or a number's sign."""

from __future__ import annotations

from typing import Any

from autotest.program.calls import Root


def told(operand: Any) -> str:
    """``True``, ``'mean'``, ``None``, ``number``, ``0``, ``negative``, ``NaN``, a dtype's name, or else its type's."""
    if type(operand) is Root:
        return str(operand.path)
    if operand is None or isinstance(operand, (bool, str)):
        return repr(operand)
    if isinstance(operand, (int, float)):
        return "number" if operand > 0 else "0" if operand == 0 else "negative" if operand < 0 else "NaN"
    return type(operand).__name__


__all__ = ["told"]
