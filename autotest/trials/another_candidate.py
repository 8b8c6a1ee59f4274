"""Repeats a finished trial with another candidate: replays its program there, without the reference."""

from __future__ import annotations

from autotest.frameworks import Pair
from autotest.recording.recorder import Recorder
from autotest.replaying.replay import replay
from autotest.trials.outcome import Outcome, uncompared_outcome

#: Attributes of a record that describe the reference's side and the program, and so are the same for every candidate.
_SHARED = (
    *("calls", "arrays", "expected", "undefined", "undefined_slots", "backward_undefined", "held", "random_modules"),
    *("drawn", "synced", "modules", "imported", "steps"),
)


def outcome_on(outcome: Outcome, pair: Pair) -> Outcome | None:
    """Return the outcome that a trial would have had with the candidate of `pair`. `outcome` is not compared yet.

    Returns None if a replay cannot tell: the trial ended early, its program cannot be replayed, this candidate fails in
    it, or the trial has values from outside, of which the program makes copies that share nothing. The body has to be
    run with that candidate then.
    """
    live = outcome.recorder
    if live.imported:
        return None
    if outcome.rejection is not None or live.rejection is not None or live.mismatches or live.opaque is not None:
        return None
    replayed = replay(live.program(), pair.candidate)
    if replayed.error is not None:
        return None
    record = Recorder(pair, check_errors=live.check_errors)
    for name in _SHARED:
        setattr(record, name, getattr(live, name))
    record.refused = live.refused
    record.actual = replayed.values
    other = uncompared_outcome(outcome.seed, record, outcome.choices, outcome.features)
    other.leaves_out_gradients = outcome.leaves_out_gradients
    return other
