"""Judges a trial, in the same way for tests, campaigns, isolated runs and the account of gradients."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import TypeAlias

from autotest.base.settings import Settings
from autotest.comparison.rejection import Rejection
from autotest.replaying.operator_of_mismatch import MismatchNames
from autotest.results.identity import Identity, identity_of
from autotest.results.ledger import Ledger, LedgerEntry
from autotest.trials.decorated import Test
from autotest.trials.outcome import Outcome


@dataclasses.dataclass(frozen=True, slots=True)
class Accepted:
    """The two sides agree."""


@dataclasses.dataclass(frozen=True, slots=True)
class Rejected:
    """The reference refused a call of the body."""

    rejection: Rejection


@dataclasses.dataclass(frozen=True, slots=True)
class Cleared:
    """The differences are rounding errors, and the test set no tolerance of its own."""


@dataclasses.dataclass(frozen=True, slots=True)
class Expected:
    """The ledger contains the divergence, and every other difference of the trial."""

    entry: LedgerEntry
    #: Other entries that the trial matched.
    others: tuple[LedgerEntry, ...] = ()

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """All entries that the trial matched."""
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
    """The sides agree, but a gradient that could have been compared was not."""

    complaint: str


Judgement: TypeAlias = Accepted | Rejected | Cleared | Expected | Diverged | Vacuous | GradientMissing


def judge(
    test: Test,
    outcome: Outcome,
    ledger: Ledger,
    is_rounding: Callable[[], bool] = lambda: False,
    find_unexpected: Callable[[], bool] = lambda: False,
) -> Judgement:
    """Return the verdict on a compared trial.

    Args:
        test: the test of the trial.
        outcome: the trial, compared in eager mode. Its mismatches may have been replaced by those of a graph.
        ledger: the known divergences.
        is_rounding: returns whether replays of the trial explain all its mismatches by rounding. If they explain only
            some, it leaves the others in `outcome`. If the reference does not agree with itself in any of them, it
            replaces the mismatches by a rejection. Replays are expensive, so it is called last: if the ledger has no
            entry, or after `find_unexpected`.
        find_unexpected: returns whether the trial still has a mismatch that the ledger does not expect after the
            expected divergences are corrected. It leaves these mismatches in `outcome`.
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
            entry = _expected(test, outcome, ledger)  # mismatches that rounding explains are removed by now
        if entry is None:
            return Diverged(identity_of_trial(outcome, test.settings))
        met = _met(test, outcome, ledger)
        if find_unexpected() and not is_rounding():
            return Diverged(identity_of_trial(outcome, test.settings))
        others = dict.fromkeys([*met, *outcome.further_expected])
        return Expected(entry, tuple(other for other in others if other is not entry))
    if not (outcome.compared or test.settings.own_assertions):
        return Vacuous()
    return GradientMissing(outcome.complaint) if outcome.complaint else Accepted()


def _expected(test: Test, outcome: Outcome, ledger: Ledger) -> LedgerEntry | None:
    """Return the ledger's entry for the mismatch that gives the trial its name, or None."""
    names = _names(outcome, test.settings)
    first = names.first(outcome.mismatches)
    return ledger.expects(test.id, first, lambda: names.operator(first) or first.name)


def _met(test: Test, outcome: Outcome, ledger: Ledger) -> list[LedgerEntry]:
    """Return the ledger's entries for all mismatches of the trial, each once."""
    name = _names(outcome, test.settings).operator
    found = (ledger.expects(test.id, item, functools.partial(name, item)) for item in outcome.mismatches)
    return list(dict.fromkeys(entry for entry in found if entry is not None))


def identity_of_trial(outcome: Outcome, settings: Settings) -> Identity:
    """Return the identity of the failure that a trial with mismatches shows, in a test with these `settings`."""
    names = _names(outcome, settings)
    first = names.first(outcome.mismatches)
    return identity_of(first, names.operator(first) or first.name, names.program, names.pair.candidate.name)


def _names(outcome: Outcome, settings: Settings) -> MismatchNames:
    repaired, recorder = outcome.repaired_program, outcome.recorder
    if outcome.names is None or outcome.names[0] is not repaired:
        replayable = repaired is not None or recorder.opaque is None
        names = MismatchNames(outcome.shown, recorder.pair, settings, traces_gradients=replayable)
        outcome.names = repaired, names
    return outcome.names[1]
