"""Keeps what an optimizer's step is about to be given, and tells whether what differs may be what a step made."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.comparison import Mismatch
from autotest.program import Operand, Ref, refs
from autotest.program.semantics import OPERATIONS, is_class, may_share_memory
from autotest.recording.record import Record

#: Steps of one trial that are kept, at most.
MOST = 10


@dataclasses.dataclass(frozen=True, slots=True)
class OptimizerStep:
    """One step: its slot, that of the optimizer, the optimizer's tensors, and what they and their gradients held."""

    slot: int
    owner: int
    tensors: list[Any]
    parameters: list[np.ndarray[Any, Any]]
    gradients: list[np.ndarray[Any, Any] | None]


def keep_step(record: Record, optimizer: Any, operand: Operand) -> None:
    """Note the step that `optimizer` of the reference is going to make with the next call of `record`."""
    reference = record.pair.reference
    tensors = reference.optimized(optimizer)
    if not tensors or type(operand) is not Ref or len(record.steps) >= MOST:
        return
    gradients = [reference.gradient(tensor) for tensor in tensors]
    present = [gradient for gradient in gradients if gradient is not None]
    values = [np.array(value.data) for value in reference.values([*tensors, *present])]
    rest = iter(values[len(tensors) :])
    held = [None if gradient is None else next(rest) for gradient in gradients]
    record.steps.append(OptimizerStep(len(record.calls), operand.slot, tensors, values[: len(tensors)], held))


def may_be_of_a_step(record: Record, mismatches: Sequence[Mismatch]) -> bool:
    """Whether an optimizer stepped, and nothing differs that was computed before."""
    if not record.steps:
        return False
    calls = record.calls
    # What a parameter is made of, and a view of one, hold what the step has made of it.
    parameters: set[int] = set()
    for call in reversed(calls):
        if call.target == "nn.Parameter" or (call.slot in parameters and may_share_memory(call)):
            parameters.update(ref.slot for ref in refs(call))
    earlier = [calls[item.slot] for item in mismatches if item.slot < record.steps[0].slot]
    computed = any(
        call.kind in OPERATIONS and call.slot not in parameters and not (is_class(call) or may_share_memory(call))
        for call in earlier
    )
    return not computed and all(item.symptom in ("value", "gradient") for item in mismatches)
