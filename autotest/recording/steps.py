"""Stores the inputs of optimizer steps, and finds out whether mismatches may be the effect of a step."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.comparison import Mismatch
from autotest.program import Operand, Ref, refs
from autotest.program.semantics import OPERATIONS, is_class, may_share_memory
from autotest.recording.record import Record

#: Maximum number of steps that are stored for one trial.
MOST = 10


@dataclasses.dataclass(frozen=True, slots=True)
class OptimizerStep:
    """One step: its slot, the optimizer's slot and tensors, and the values of these and their gradients before it."""

    slot: int
    owner: int
    tensors: list[Any]
    parameters: list[np.ndarray[Any, Any]]
    gradients: list[np.ndarray[Any, Any] | None]


def keep_step(record: Record, optimizer: Any, operand: Operand) -> None:
    """Store the step that `optimizer`, an object of the reference, makes in the next call of `record`."""
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
    """Return whether an optimizer made a step, and only numbers differ that were not computed before it."""
    if not record.steps:
        return False
    calls = record.calls
    # The operand of `nn.Parameter`, and tensors that it is a view of, contain the changes that the step made.
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
