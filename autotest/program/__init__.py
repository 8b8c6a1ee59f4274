"""Takes recorded calls and arrays; returns Programs as plain data, what each call means, and rewritten Programs."""

from autotest.program.calls import (
    COTANGENT,
    LAYOUT,
    Array,
    Call,
    CallKind,
    Captured,
    File,
    Operand,
    Program,
    Ref,
    Root,
    Scope,
    captured,
    leaves,
    map_operand,
    plain_container,
    refs,
)
from autotest.program.operator_names import operator_of

__all__ = [
    "COTANGENT",
    "LAYOUT",
    "Array",
    "Call",
    "CallKind",
    "Captured",
    "File",
    "Operand",
    "Program",
    "Ref",
    "Root",
    "Scope",
    "captured",
    "leaves",
    "map_operand",
    "operator_of",
    "plain_container",
    "refs",
]
