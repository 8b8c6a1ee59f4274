"""Ends a trial in which random numbers, which each side drew for itself, decide on the shape of a result."""

from __future__ import annotations

from typing import Any

from autotest.base.errors import TrialEnd
from autotest.comparison.rejection import RANDOM_SHAPE, Rejection
from autotest.frameworks import Framework
from autotest.program.semantics import shaping_operands
from autotest.recording import refusals
from autotest.recording.lowering import LiveRecord

_TEXT = "each side drew its own random numbers, and the shape of the result depends on them"


def stop_at_random_shape(record: LiveRecord, slot: int) -> None:
    """Reject the trial if undefined contents decided on the shape of the result of call `slot`, and the sides differ.

    An example is ``x[x > 0]`` after a dropout. What is computed from such results has other shapes on either side, too.

    Raises:
        TrialEnd: the shapes differ.
    """
    call, pair = record.calls[slot], record.pair
    if not any(record.is_undefined(operand.slot) for operand in shaping_operands(call)):
        return
    if _shapes(pair.reference, record.expected[slot]) != _shapes(pair.candidate, record.actual[slot]):
        record.rejection = Rejection(call.target, RANDOM_SHAPE, _TEXT, refusals.calling_line(pair.packages))
        raise TrialEnd


def _shapes(framework: Framework, value: Any) -> Any:
    """Return the shape of each tensor in `value`, a result; None for anything else."""
    if isinstance(value, (tuple, list)):
        return [_shapes(framework, item) for item in value]
    return framework.shape(value) if isinstance(value, framework.tensor_types) else None
