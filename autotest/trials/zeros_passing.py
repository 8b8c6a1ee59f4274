"""Counts the comparisons of a trial that zeros would pass, under a tolerance that is wide enough for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autotest.base.settings import Settings, Tolerance, ordinary_from
from autotest.comparison import TensorValue
from autotest.comparison.values import PLAIN_FLOAT
from autotest.program import LAYOUT
from autotest.program.semantics import written
from autotest.recording.observation import Observed
from autotest.recording.record import Record
from autotest.results.zeros_tally import ZerosOfStage, ZerosTally


def zeros_passing(observed: Observed, settings: Settings) -> ZerosTally:
    """Return which comparisons of a compared trial zeros would pass; nothing if no given tolerance is that wide.

    Only the finite numbers count, because a NaN or an infinity is compared whatever the tolerance is. Inputs do not
    count: both sides get the same. Once a comparison refuses zeros, the others of its stage are not looked at.
    """
    found = ZerosTally()
    if not settings.may_pass_zeros:
        return found
    inputs = _inputs(observed.record)
    for pairing, expected in zip(observed.pairings, observed.expected, strict=False):
        stage = found.gradients if pairing.stage == "backward" else found.values
        is_input = pairing.stage == "forward" and not pairing.suffix and pairing.slot in inputs
        if pairing.stage == "backward" and settings.skip_grad:
            continue
        if not stage.refusing and pairing.defined and not is_input:
            tolerance = settings.tolerance_at(pairing.stage)
            for numbers, dtype in _floating(expected):
                _count(stage, numbers, dtype, tolerance)
    for stage in (found.values, found.gradients):
        stage.trials = int(stage.passing > 0)
    return found


def _inputs(record: Record) -> set[int]:
    """Return the slots of the inputs that no call of the test changes."""
    found: set[int] = set()
    for call in record.calls:
        if call.kind == "tensor" or call.note == LAYOUT:
            found.add(call.slot)
        else:
            found.difference_update(ref.slot for ref in written(call))
    return found


def _floating(value: Any) -> Iterator[tuple[np.ndarray[Any, Any], str]]:
    """Yield the floating arrays and numbers in `value`, each with the dtype whose tolerance applies to it."""
    if type(value) is TensorValue:
        if value.data.dtype.kind in "fc" and value.data.size:
            yield value.data, value.rounded_to or value.dtype
    elif isinstance(value, (float, complex)):
        yield np.asarray(value), PLAIN_FLOAT
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _floating(item)
    elif isinstance(value, dict):
        yield from _floating([*value.values()])


def _count(stage: ZerosOfStage, numbers: np.ndarray[Any, Any], dtype: str, tolerance: Tolerance) -> None:
    with np.errstate(all="ignore"):
        sizes = np.abs(numbers)
        greatest = float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))
    if not greatest:
        return
    rtol, atol = tolerance.of(dtype)
    if greatest > atol + rtol * greatest:
        stage.refusing += 1
        return
    stage.passing += 1
    if greatest >= ordinary_from(dtype) and greatest > stage.greatest:
        stage.greatest, stage.dtype, stage.rtol, stage.atol = greatest, dtype, rtol, atol


__all__ = ["zeros_passing"]
