"""Counts the comparisons of a trial that zeros would pass, under a tolerance that is wide enough for it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from autotest.base.settings import Settings, Tolerance, ordinary_from
from autotest.comparison import TensorValue
from autotest.comparison.values import PLAIN_FLOAT
from autotest.program import LAYOUT
from autotest.program.semantics import written
from autotest.recording.observation import Observed
from autotest.results.zeros_tally import ZerosOfStage, ZerosTally


def zeros_passing(observed: Observed, settings: Settings) -> ZerosTally:
    """Return which comparisons of a compared trial zeros would pass, for a test that `may_pass_zeros`.

    Only the finite numbers count, because a NaN or an infinity is compared whatever the tolerance is. Inputs that no
    call changes do not count: both sides get the same. Once a comparison refuses zeros, the others of its stage are not
    looked at.
    """
    found = ZerosTally()
    calls, inputs = observed.record.calls, []
    for pairing, expected in zip(observed.pairings, observed.expected, strict=False):
        of_gradients = pairing.stage == "backward"
        stage = found.gradients if of_gradients else found.values
        if stage.refusing or not pairing.defined or (of_gradients and settings.skip_grad):
            continue
        call = calls[pairing.slot]
        if not (of_gradients or pairing.suffix) and (call.kind == "tensor" or call.note == LAYOUT):
            inputs.append((call.slot, expected))
            continue
        _count(stage, expected, settings.tolerance_at(pairing.stage))
    if inputs and not found.values.refusing:  # seldom, as finding out what was written takes longer than the rest
        changed = {ref.slot for call in calls for ref in written(call)}
        for slot, expected in inputs:
            if slot in changed and not found.values.refusing:
                _count(found.values, expected, settings.tolerance)
    for stage in (found.values, found.gradients):
        stage.trials = int(stage.passing > 0)
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


def _count(stage: ZerosOfStage, expected: Any, tolerance: Tolerance) -> None:
    """Add the comparison of the reference's value `expected` to `stage`."""
    for numbers, dtype in _floating(expected):
        with np.errstate(all="ignore"):  # the modulus of a complex number may overflow
            sizes = np.abs(numbers)
        greatest = float(sizes.max())
        if not math.isfinite(greatest):
            greatest = float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))
        if not greatest:
            continue
        rtol, atol = tolerance.of(dtype)
        if greatest > atol + rtol * greatest:
            stage.refusing += 1
            return
        stage.passing += 1
        if greatest >= ordinary_from(dtype) and greatest > stage.greatest:
            stage.greatest, stage.dtype, stage.rtol, stage.atol = greatest, dtype, rtol, atol


__all__ = ["zeros_passing"]
