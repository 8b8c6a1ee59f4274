"""Judges a test by the numbers of all of its trials, for runs in this process and in worker processes."""

from __future__ import annotations

import unittest

from autotest.base.errors import GradientNotCompared, NothingCompared, StaleLedgerEntry, TooFewAccepted, TrialsFailed
from autotest.base.settings import Settings
from autotest.report import text
from autotest.running.tally import Tally
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test


def refusal(test: Test, context: RunContext, tally: Tally, needed: int) -> unittest.SkipTest | TooFewAccepted | None:
    """Return what ends a test of which too few trials were compared; None if enough were.

    Args:
        test: the test.
        context: the context of its run.
        tally: the numbers of its trials.
        needed: the number of trials that the reference must accept.
    """
    if tally.lacking:
        return unittest.SkipTest(tally.lacking)
    if tally.counted < needed and context.options.trial is None:
        return TooFewAccepted(test.id, text.too_few_accepted(tally.accepted, needed, tally.rejections, tally.places))
    return None


def omission(test: Test, context: RunContext, tally: Tally, *, error_parity: bool) -> TrialsFailed | None:
    """Return what ends a test whose trials agree, but did not compare what they should; None if they did.

    Args:
        test: the test.
        context: the context of its run.
        tally: the numbers of its trials.
        error_parity: whether calls that the reference refuses were also made on the candidate.
    """
    settings, options = test.settings, context.options
    if options.trial is not None:  # one trial cannot show it
        return None
    if must_graph(settings) and tally.left_out and not tally.graphed:
        mode = context.pair.candidate.graph_mode
        return NothingCompared(test.id, text.nothing_in_graph_mode(tally.left_out, mode))
    if not settings.skip_grad and (complaint := tally.gradient_tally.complaint):
        return GradientNotCompared(test.id, complaint)
    if options.runs_whole(settings.n) and (complaint := tally.zeros.complaint):
        return NothingCompared(test.id, complaint)
    if options.runs_all_default_trials:
        special, met = settings.special_values, tally.expected
        stale = context.ledger.stale(test.id, met, error_parity=error_parity, special_values=special)
        if stale:
            return StaleLedgerEntry(test.id, text.stale_entries(stale))
    return None


def must_graph(settings: Settings) -> bool:
    """Whether something of a test must run in the candidate's graph mode."""
    return settings.check_graph and not settings.own_assertions
