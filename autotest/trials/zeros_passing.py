"""Counts the comparisons of a trial that zeros would pass, under a tolerance that is wide enough for it."""

from __future__ import annotations

from autotest.base.settings import Settings
from autotest.program import LAYOUT
from autotest.program.semantics import written
from autotest.recording.observation import Observed
from autotest.results.zeros_tally import ZerosTally


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
        stage.count(expected, settings.tolerance_at(pairing.stage))
    if inputs and not found.values.refusing:  # seldom, as finding out what was written takes longer than the rest
        changed = {ref.slot for call in calls for ref in written(call)}
        for slot, expected in inputs:
            if slot in changed and not found.values.refusing:
                found.values.count(expected, settings.tolerance)
    for stage in (found.values, found.gradients):
        stage.trials = int(stage.passing > 0)
    return found
