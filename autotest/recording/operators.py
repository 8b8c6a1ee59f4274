"""Gives a class the special methods of Python's operators. Each of them makes one call of the `operator` module."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from generators import nothing, oneof

_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_BINARY = (*_ARITHMETIC, "and_", "or_", "xor", "lshift", "rshift")
_OTHER = ("neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "eq", "ne", "getitem")


def install(owner: type, call: Callable[[Any, str, tuple[Any, ...]], Any]) -> None:
    """Make each operator of `owner` return ``call(self, name, operands)``, with the operands in the written order.

    The exception is ``value | nothing()``: the choice whether to pass the value at all.
    """

    def forward(name: str) -> Callable[..., Any]:
        return lambda self, *operands: call(self, name, (self, *operands))

    def reflected(name: str) -> Callable[..., Any]:
        return lambda self, other: call(self, name, (other, self))

    def alternative(self: Any, other: Any) -> Any:
        # With `nothing` as an operand, `|` is a choice and no operator, as it is between generators.
        return oneof(self, other) if type(other) is nothing else call(self, "or_", (self, other))

    for name in (*_BINARY, *_OTHER):
        setattr(owner, f"__{name.rstrip('_')}__", forward(name))
    for name in _BINARY:
        special = name.rstrip("_")
        setattr(owner, f"__r{special}__", reflected(name))
        if hasattr(operator, f"i{special}"):
            setattr(owner, f"__i{special}__", forward(f"i{special}"))
    setattr(owner, "__or__", alternative)  # noqa: B010 - mypy takes a class's own for that of all classes
