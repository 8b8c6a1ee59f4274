"""Trials are judged in one place: each way to run them gives a failure the same key and the same ledger entry."""

from __future__ import annotations

import pytest

from autotest import Divergence
from autotest.base.settings import Settings
from autotest.campaigns import exploring
from autotest.comparison import Mismatch
from autotest.processes.client import Server
from autotest.results.ledger import Ledger, LedgerEntry
from autotest.results.tasks import Conditions, Diagnose, Explore, Where
from autotest.sources import collection
from autotest.storage.store import Store
from autotest.trials.decorated import Test as ATest
from autotest.trials.judgement import (
    Accepted,
    Cleared,
    Diverged,
    Expected,
    GradientMissing,
    Rejected,
    Vacuous,
    judge,
)
from tests.support import faults
from tests.support.running import trial

SUITE = """
from autotest import autotest, random_tensor, torch


@autotest(n=3)
def test_double_relu():
    x = random_tensor(2, low=-1, high=1)
    return torch.relu(x * 2) + 1
"""
TEST = "test_double_relu.py::test_double_relu"


def body():
    from autotest import random_tensor, torch

    return torch.relu(random_tensor(2, low=-1, high=1))


def judged(outcome, *entries: LedgerEntry, is_rounding: bool = False, **settings):
    return judge(ATest(TEST, body, Settings(**settings)), outcome, Ledger(entries), lambda: is_rounding)


def test_pytest_and_a_campaign_find_one_failure_under_one_key(tmp_path, monkeypatch, against):
    file = tmp_path / "test_double_relu.py"
    file.write_text(SUITE)
    directory = tmp_path / "kept"
    for name, value in {"DIR": str(directory), "SHRINK": "0", "VERIFY": "0"}.items():
        monkeypatch.setenv(f"AUTOTEST_{name}", value)
    against(faults.wrong_relu())

    where = Where(file, TEST, 0)
    conditions, server = Conditions(directory, verify=False), Server()  # it starts no process here
    explored = exploring.run_task(Explore(where, range(1), 60.0), conditions, None, server)
    (suspect,) = explored.suspects
    found = exploring.run_task(Diagnose(where, 0, thorough=False), conditions, None, server)
    with pytest.raises(Divergence) as caught:
        collection.find(file, TEST).call()

    assert found.key == suspect.identity.key == caught.value.finding.identity.key
    assert [entry.key for entry in Store(directory).list()] == [found.key]


def test_both_sides_agreeing_is_accepted():
    assert judged(trial(body)) == Accepted()


def test_what_the_reference_refuses_is_rejected():
    def refused():
        from autotest import torch

        return torch.ones(2) + torch.ones(3)

    assert isinstance(judged(trial(refused)), Rejected)


def test_a_difference_is_a_finding_unless_it_is_rounding_or_known():
    outcome = trial(body, faults.wrong_relu())
    known = LedgerEntry("known", TEST, "value", "why", operator="relu")
    assert isinstance(judged(outcome), Diverged)
    assert judged(outcome, is_rounding=True) == Cleared()
    assert judged(outcome, known, is_rounding=True) == Expected(known)


def test_what_is_left_of_a_trial_when_rounding_explains_the_rest_may_be_known():
    outcome = trial(body, faults.wrong_relu())
    slot = outcome.mismatches[0].slot
    left = Mismatch("v1", slot, "gradient", "backward", "candidate", "v1.grad: not close")

    def is_rounding():
        outcome.mismatches = [left]
        return False

    ledger = Ledger((LedgerEntry("known", TEST, "gradient", "why"),))
    assert isinstance(judge(ATest(TEST, body, Settings()), outcome, ledger, is_rounding), Expected)


def test_that_a_call_was_accepted_names_the_failure_before_what_it_changed():
    outcome = trial(body, faults.wrong_relu())
    accepted = Mismatch("relu", outcome.mismatches[0].slot, "accepted", "forward", "candidate", "accepts it")
    outcome.mismatches = [*outcome.mismatches, accepted]
    known = LedgerEntry("known", TEST, "accepted", "why")
    assert judged(outcome, known) == Expected(known)


def test_a_mismatch_of_no_operator_is_known_by_its_own_name():
    outcome = trial(body)
    outcome.mismatches = [Mismatch("x0.grad", 0, "gradient", "backward", "candidate", "x0.grad: not close")]
    (diverged,) = [judged(outcome)]
    assert (
        judged(outcome, LedgerEntry("known", TEST, "gradient", "why", operator=diverged.identity.operator)) != diverged
    )


def test_comparing_nothing_is_no_success():
    outcome = trial(body)
    outcome.compared = 0
    assert judged(outcome) == Vacuous()
    assert judged(outcome, own_assertions=True) == Accepted()


def test_a_gradient_that_was_forgotten_is_told():
    def forgets():
        from autotest import random_tensor, torch

        torch.relu(random_tensor(2))

    assert isinstance(judged(trial(forgets, auto_backward=False), auto_backward=False), GradientMissing)
