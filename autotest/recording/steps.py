"""Records the inputs of optimizer steps, and decides whether mismatches may come from such a step."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.comparison import Mismatch
from autotest.program import Operand, Ref, refs
from autotest.program.semantics import OPERATIONS, is_class, may_share_memory
from autotest.recording.record import Record

#: The maximum number of optimizer steps that are recorded in one trial.
MOST = 10


@dataclasses.dataclass(frozen=True, slots=True)
class OptimizerStep:
    """The inputs of one step: its slot, the optimizer's slot, its tensors, and their values and gradients before it."""

    slot: int
    owner: int
    tensors: list[Any]
    parameters: list[np.ndarray[Any, Any]]
    gradients: list[np.ndarray[Any, Any] | None]


def keep_step(record: Record, optimizer: Any, operand: Operand) -> None:
    """Store the inputs of the step that the next call of `record` runs.

    Args:
        record: the record of the trial.
        optimizer: the reference's optimizer.
        operand: the operand that refers to the optimizer in the program.
    """
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
    """Return whether an optimizer made a step, and all mismatches are in numbers that the step may have changed."""
    if not record.steps:
        return False
    calls = record.calls
    # The tensor that a parameter was made from, its bases, and views of a parameter share the parameter's memory:
    # they contain the values after the step.
    parameters: set[int] = set()
    for call in reversed(calls):
        if call.target == "nn.Parameter" or (call.slot in parameters and may_share_memory(call)):
            parameters.update(ref.slot for ref in refs(call))
    earlier = [calls[item.slot] for item in mismatches if item.slot < record.steps[0].slot]
    computed = any(
        call.kind in OPERATIONS and call.slot not in parameters and not (is_class(call) or may_share_memory(call))
        for call in earlier
    )
    return not computed and all(item.of_numbers for item in mismatches)
