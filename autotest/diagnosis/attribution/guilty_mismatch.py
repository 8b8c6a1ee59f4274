"""Chooses the mismatch that a diagnosis begins with: one that can be attributed to a call."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from autotest.base.settings import Settings
from autotest.comparison import Stage
from autotest.diagnosis.attribution.referee import Opinion, examine
from autotest.diagnosis.attribution.verdict import HARMLESS
from autotest.frameworks import Pair
from autotest.program import Call, refs
from autotest.program.semantics import is_backward, reads_gradient
from autotest.replaying.agreement import Agreement

_STAGES: tuple[Stage, ...] = ("backward", "forward")


def guilty_first(agreement: Agreement, opinion: Opinion, pair: Pair, settings: Settings) -> tuple[Agreement, Opinion]:
    """Return `agreement` with a mismatch first that can be attributed to a call, if possible, and the opinion on it.

    `opinion` is the opinion on the mismatch that is first now.
    """
    first, found, calls = agreement.mismatches[0], agreement.mismatches, agreement.program.calls
    slot = opinion.located.slot
    # A value read as `x.grad` was wrong before it was read, or is missing where a call refuses it: the mismatch of the
    # gradient itself leads to the call.
    is_read = slot is not None and (
        reads_gradient(calls[slot])
        or (first.symptom == "exception" and any(reads_gradient(calls[ref.slot]) for ref in refs(calls[slot])))
    )
    if slot is not None and not is_read and opinion.verdict.blame not in HARMLESS:
        return agreement, opinion
    # Try only one more mismatch of each stage, as each of them costs some runs.
    others = [next((one for one in found if one is not first and one.stage == stage), None) for stage in _STAGES]
    for other in others:
        if other is None:
            continue
        again = agreement.beginning_with(other)
        told = examine(again, pair, settings)
        if told.located.slot is not None and told.verdict.blame not in HARMLESS:
            return again, told
    return agreement, _at_its_backward(opinion, calls)


def _at_its_backward(opinion: Opinion, calls: Sequence[Call]) -> Opinion:
    """Return `opinion` with the backward call before it as the divergent one, if that only reads a gradient."""
    slot = opinion.located.slot
    if slot is None or not reads_gradient(calls[slot]):
        return opinion
    pushed = [call.slot for call in calls[:slot] if is_backward(call)]
    located = opinion.located if not pushed else dataclasses.replace(opinion.located, slot=pushed[-1])
    return dataclasses.replace(opinion, located=located)
