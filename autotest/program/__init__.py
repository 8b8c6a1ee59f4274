"""Takes calls and captured arrays; leaves Programs as plain data, what a call means, and smaller or other Programs."""

from autotest.program.calls import (
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
    captured,
    leaves,
    map_operand,
    operator_of,
    plain_container,
    refs,
)

__all__ = [
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
    "captured",
    "leaves",
    "map_operand",
    "operator_of",
    "plain_container",
    "refs",
]
