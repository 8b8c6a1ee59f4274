"""A trial that has been run, on another candidate: its program is replayed there, and not on the reference again."""

from __future__ import annotations

from autotest.frameworks import Pair
from autotest.recording.recorder import Recorder
from autotest.replaying.replay import replay
from autotest.trials.trial import Outcome, to_compare

#: What a record knows of the reference's side and of the program, which is the same for every candidate.
_SHARED = (
    *("calls", "arrays", "expected", "undefined", "undefined_slots", "backward_undefined", "held", "random_modules"),
    *("synced", "modules"),
)


def on_another(outcome: Outcome, pair: Pair) -> Outcome | None:
    """What `outcome`, which nobody compared yet, would have been with the candidate of `pair`.

    None where the program does not tell: it ended early or cannot be replayed, or this candidate does not carry it out.
    Then the body has to be run with that candidate.
    """
    live = outcome.recorder
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
    return to_compare(outcome.seed, record, outcome.choices, outcome.features)
