"""Torch's names of public functions, methods and operators: the objects they name, and calls of a program."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

from autotest.program import CallKind

#: Special methods -> names in `operator`, for methods whose operands are in the order of the source code.
_OPERATORS: Mapping[str, str] = {
    **{f"__{name}__": name for name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()},
    **{f"__i{name}__": f"i{name}" for name in "add sub mul truediv floordiv mod pow and or xor lshift rshift".split()},
    **{f"__{name}__": name for name in "eq ne lt le gt ge neg pos abs invert getitem setitem".split()},
    "__div__": "truediv",
    "__idiv__": "itruediv",
}
REFLECTED: Mapping[str, str] = {
    **{f"__r{name}__": name for name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()},
    "__rdiv__": "truediv",
}
#: Operator, named as in :mod:`operator` or as its special method without underscores -> torch's function for it.
FUNCTIONS: Mapping[str, str] = {
    "truediv": "div", "floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "invert": "bitwise_not", "pos": "positive", "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
    **{name: name for name in "add sub mul pow matmul neg abs lt le gt ge eq ne".split()},
}  # fmt: skip


class Named(NamedTuple):
    """A program's name for a public function: the kind of the call, its target, and whether operands are swapped."""

    kind: CallKind
    target: str
    swapped: bool = False


def object_at(path: str, root: Any) -> Any:
    """Return the object at the dotted `path` below `root`, such as torch or its class of tensors, or None."""
    return functools.reduce(lambda found, name: getattr(found, name, None), path.split("."), root)


def call_name(path: str) -> Named | None:
    """Return a program's name for the function at a dotted path below torch, or None if it is not public."""
    if path.startswith("Tensor."):
        member = path.removeprefix("Tensor.")
        if member.endswith((".__get__", ".__set__", ".__delete__")):
            attribute, _, access = member.rpartition(".")
            return Named("getattr" if access == "__get__" else "setattr", attribute)
        if member in _OPERATORS:
            return Named("operator", _OPERATORS[member])
        if member in REFLECTED:
            return Named("operator", REFLECTED[member], swapped=True)
        return Named("method", member)
    if any(part.startswith("_") for part in path.split(".")):
        return None
    return Named("function", path)
