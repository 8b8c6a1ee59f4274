"""Decides what a trial came to: the one judge of tests, campaigns, isolated runs and the account of gradients."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeAlias

from autotest.comparison import Mismatch
from autotest.comparison.rejection import Rejection
from autotest.replaying.operator_shown import operator_shown
from autotest.results.identity import Identity, identity_of
from autotest.results.ledger import Ledger, LedgerEntry
from autotest.trials.trial import Outcome, Test


@dataclasses.dataclass(frozen=True, slots=True)
class Accepted:
    """The two sides agree."""


@dataclasses.dataclass(frozen=True, slots=True)
class Rejected:
    """The reference refused what the body asked for."""

    rejection: Rejection


@dataclasses.dataclass(frozen=True, slots=True)
class Cleared:
    """What differs is rounding, and the test gave no tolerance of its own."""


@dataclasses.dataclass(frozen=True, slots=True)
class Expected:
    """The ledger knows the divergence, and whatever else differs."""

    entry: LedgerEntry
    #: Further entries that were met in the same trial.
    others: tuple[LedgerEntry, ...] = ()

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """All that were met."""
        return (self.entry, *self.others)


@dataclasses.dataclass(frozen=True, slots=True)
class Diverged:
    """A finding."""

    identity: Identity


@dataclasses.dataclass(frozen=True, slots=True)
class Vacuous:
    """Nothing was compared."""


@dataclasses.dataclass(frozen=True, slots=True)
class GradientMissing:
    """The sides agree, and a gradient that could have been compared was not."""

    complaint: str


Judgement: TypeAlias = Accepted | Rejected | Cleared | Expected | Diverged | Vacuous | GradientMissing


def judge(
    test: Test,
    outcome: Outcome,
    ledger: Ledger,
    is_rounding: Callable[[], bool] = lambda: False,
    look_beyond: Callable[[], bool] = lambda: False,
) -> Judgement:
    """What a trial of `test` that was compared came to.

    Args:
        test: whose trial it was.
        outcome: the trial, compared in eager mode; its mismatches may have been replaced by those of a graph.
        ledger: the divergences that are known.
        is_rounding: whether replays of the trial explain its mismatches by rounding; where only some, the others are
            those of `outcome` then. Where the reference does not agree with itself in any, `outcome` has a rejection
            instead. Replays cost much, so this is asked last, and only where the ledger says nothing.
        look_beyond: whether something else differs that the ledger does not expect, when what it expects is put right;
            the mismatches of `outcome` are these then.
    """
    if outcome.rejection is not None and not outcome.mismatches:
        return Rejected(outcome.rejection)
    if outcome.mismatches:
        entry = _expected(test, outcome, ledger)
        if entry is None:
            if is_rounding():
                return Cleared()
            if outcome.rejection is not None and not outcome.mismatches:
                return Rejected(outcome.rejection)
            entry = _expected(test, outcome, ledger)  # what rounding explains of it is left out now
        if entry is None:
            return Diverged(identity_of_trial(outcome))
        met = _met(test, outcome, ledger)
        if look_beyond() and not is_rounding():
            return Diverged(identity_of_trial(outcome))
        others = dict.fromkeys([*met, *outcome.met_beyond])
        return Expected(entry, tuple(other for other in others if other is not entry))
    if not (outcome.compared or test.settings.own_assertions):
        return Vacuous()
    return GradientMissing(outcome.complaint) if outcome.complaint else Accepted()


def _expected(test: Test, outcome: Outcome, ledger: Ledger) -> LedgerEntry | None:
    """The entry of `ledger` that covers the mismatch which the trial is named after."""
    return ledger.expects(test.id, leading(outcome), identity_of_trial(outcome).operator)


def _met(test: Test, outcome: Outcome, ledger: Ledger) -> list[LedgerEntry]:
    """The entries of `ledger` that cover a mismatch of the trial, each once."""
    program, pair = outcome.recorder.snapshot(), outcome.recorder.pair
    found = (ledger.expects(test.id, item, operator_shown(program, item, pair)) for item in outcome.mismatches)
    return list(dict.fromkeys(entry for entry in found if entry is not None))


def leading(outcome: Outcome) -> Mismatch:
    """The mismatch that a failure is named after: that a call was accepted explains what it then changed."""
    return next((mismatch for mismatch in outcome.mismatches if mismatch.symptom == "accepted"), outcome.mismatches[0])


def identity_of_trial(outcome: Outcome) -> Identity:
    """Which failure a trial with mismatches showed."""
    program = outcome.recorder.snapshot() if outcome.beyond is None else outcome.beyond
    first = leading(outcome)
    pair = outcome.recorder.pair
    return identity_of(first, operator_shown(program, first, pair) or first.name, program, pair.candidate.name)
