"""Repeats a finished trial with another candidate: replays its program there, without the reference."""

from __future__ import annotations

from autotest.frameworks import Pair
from autotest.program.semantics import makes_optimizer
from autotest.recording.record import Record
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
    it or has none of its operators, or the program does not contain all that the trial has from outside. The body has
    to be run with that candidate then.
    """
    live = outcome.recorder
    if live.imported and not _contains_imported(live):
        return None
    if outcome.rejection is not None or live.rejection is not None or live.mismatches or live.opaque is not None:
        return None
    own_calls = pair.candidate.own_calls
    replayed = replay(live.program(), pair.candidate)
    if replayed.error is not None or pair.candidate.called_none_of_its_own(own_calls):
        return None
    record = Recorder(pair, check_errors=live.check_errors)
    for name in _SHARED:
        setattr(record, name, getattr(live, name))
    record.refused = live.refused
    record.actual = replayed.values
    other = uncompared_outcome(outcome.seed, record, outcome.choices, outcome.features)
    other.leaves_out_gradients = outcome.leaves_out_gradients
    return other


def _contains_imported(live: Recorder) -> bool:
    """Return whether the program of `live` makes what the trial has from outside as it is.

    It makes a tensor twice that a module from outside has too, a leaf of a tensor that was computed outside, and an
    optimizer without the state of earlier steps.
    """
    others = [other for other in live.held if isinstance(other, Record)]
    moved = {live.imported[id(other)] + slot for other in others for slot in range(len(other.calls))}
    made = {id(value) for other in others for value in other.expected}
    for call, value in zip(live.calls, live.expected, strict=True):
        if makes_optimizer(call):
            return False
        alone = call.kind == "tensor" and call.slot not in moved
        if alone and (id(value) in made or live.pair.reference.node(value) is not None):
            return False
    return True
