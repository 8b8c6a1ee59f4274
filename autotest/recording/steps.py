"""Keeps what an optimizer's step is about to be given: parameters and gradients, of the reference."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from autotest.program import Operand, Ref
from autotest.recording.record import Record

#: Steps of one trial that are kept, at most.
MOST = 10


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
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
    record.steps.append(Step(len(record.calls), operand.slot, tensors, values[: len(tensors)], held))
