"""What ends a test by the numbers of all its trials, in this process and in worker processes alike."""

from __future__ import annotations

import collections
import dataclasses
import unittest
from typing import Any

import pytest

from autotest.base.errors import GradientNotCompared, NothingCompared, StaleLedgerEntry, TooFewAccepted
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.results.gradient_tally import GradientTally
from autotest.results.ledger import Ledger, LedgerEntry
from autotest.running.tally import Tally
from autotest.running.whole_test import omission, refusal
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from tests.support.graph_torch import GraphTorch
from tests.support.running import pair_with

STALE = LedgerEntry("k", "test_a.py::test_b", "value", "r")
REFUSING = LedgerEntry("k", "test_a.py::test_b", "accepted", "r")


def a_test(**settings: Any) -> ATest:
    return ATest("test_a.py::test_b", lambda: None, Settings(**settings))


def context(*entries: LedgerEntry, **options: Any) -> RunContext:
    return RunContext(pair_with(GraphTorch()), Options(**options), Ledger(entries))


def counted(**numbers: Any) -> Tally:
    return dataclasses.replace(Tally(), **numbers)


UNGRAPHED = counted(accepted=5, left_out=collections.Counter({"context managers": 5}))
WITHOUT_GRADIENTS = counted(accepted=5, gradient_tally=GradientTally("grad_order=2", without=5))
REFUSED = counted(accepted=1, rejections=collections.Counter({"sum: RuntimeError: no": 399}))


def test_too_few_accepted_trials_end_a_test_unless_it_is_one_trial() -> None:
    assert isinstance(refusal(a_test(), context(), REFUSED, 5), TooFewAccepted)
    assert refusal(a_test(), context(), REFUSED, 1) is None
    assert refusal(a_test(), context(trial=3), REFUSED, 5) is None


def test_what_the_candidate_lacks_skips_a_test_before_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tally, "lacking", "sum")
    assert isinstance(refusal(a_test(), context(trial=3), REFUSED, 5), unittest.SkipTest)


@pytest.mark.parametrize(
    ("settings", "tally", "entries", "error"),
    [
        ({"check_graph": True}, UNGRAPHED, (), NothingCompared),
        ({"check_graph": True}, dataclasses.replace(UNGRAPHED, graphed=1), (), None),
        ({"check_graph": True, "own_assertions": True}, UNGRAPHED, (), None),
        ({}, UNGRAPHED, (), None),
        ({"grad_order": 2}, WITHOUT_GRADIENTS, (), GradientNotCompared),
        ({"grad_order": 2, "skip_grad": "no"}, WITHOUT_GRADIENTS, (), None),
        ({}, counted(accepted=5), (STALE,), StaleLedgerEntry),
        ({}, counted(accepted=5, expected=collections.Counter({"k": 1})), (STALE,), None),
    ],
)
def test_what_was_not_compared_ends_a_test_unless_it_is_one_trial(
    settings: dict[str, Any], tally: Tally, entries: tuple[LedgerEntry, ...], error: type | None
) -> None:
    test = a_test(**settings)
    found = omission(test, context(*entries), tally, error_parity=False)
    assert (None if found is None else type(found)) is error
    assert omission(test, context(*entries, trial=3), tally, error_parity=False) is None


def test_an_entry_for_refused_calls_is_stale_only_where_the_candidate_makes_them() -> None:
    tally = counted(accepted=5)
    assert omission(a_test(), context(REFUSING), tally, error_parity=False) is None
    assert isinstance(omission(a_test(), context(REFUSING), tally, error_parity=True), StaleLedgerEntry)


def test_an_exploring_run_expects_no_divergence_to_happen() -> None:
    assert omission(a_test(), context(STALE, exploring=True), counted(accepted=5), error_parity=True) is None
