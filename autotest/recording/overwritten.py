"""Finds the results that a call is about to overwrite, so that a copy of them can be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from autotest.program import KEPT, Call, Operand, Ref, leaves, randomness, refs
from autotest.program.semantics import OPERATIONS, overwrites
from autotest.recording.record import Record

#: Names of calls that replace the contents of their first operand, for a cheap first check.
OVERWRITING: Final = randomness.FILLING | {"setitem"}


def about_to_be_overwritten(
    record: Record, target: str, operands: Sequence[Operand], named: Mapping[str, Operand]
) -> Iterator[int]:
    """Yield the slots of computed tensors of the reference that the call of `target` is about to overwrite."""
    written = [*operands[:1]] if randomness.function_name(target) in OVERWRITING else []
    for operand in (*written, *leaves(named.get("out"))):
        if type(operand) is Ref and _is_worth_keeping(record, operand.slot):
            yield operand.slot


def _is_worth_keeping(record: Record, slot: int) -> bool:
    """Whether a call computed the tensor in `slot`; contents that were only stored there agree anyway."""
    tensor = record.expected[slot]
    if not isinstance(tensor, record.pair.reference.tensor_types) or record.is_undefined(slot):
        return False
    return any(made is tensor and _computes(call) for call, made in zip(record.calls, record.expected, strict=True))


def _computes(call: Call) -> bool:
    if call.kind not in OPERATIONS or overwrites(call):
        return False
    return any(True for _ in refs(call))


def is_kept_copy(call: Call) -> bool:
    """Whether `call` was inserted to copy a tensor that the next call overwrites."""
    return call.note == KEPT
