"""Known crashes happen in a fork of the worker. Unknown ones happen in the worker itself."""

from __future__ import annotations

import os
import signal

import pytest

from autotest.campaigns import known_deaths
from autotest.results.tasks import Conditions, Death, Diagnose, Explore, Explored, Where
from tests.support import faults
from tests.support.deadly import six
from tests.support.faulty import FaultyTorch, with_gradient

SUITE = """
from autotest import autotest, random_tensor, torch


@autotest(n=5)
def test_it():
    x = random_tensor(2, dim0=2, dim1=3, low=0.5, high=1.5, requires_grad=True)
    return torch.{operator}(x)
"""
ENTRY = '[[divergence]]\nkey = "k"\ntest = "test_it.py::test_it"\noperator = "sinh"\nsymptom = "crash"\nreason = "r"\n'


@pytest.fixture
def run_in_fork(tmp_path, against, quick, monkeypatch):
    """Return ``run_in_fork(operator, candidate)``, which runs three trials of a test known to crash in `sinh`."""
    monkeypatch.setattr(known_deaths, "FORK_GRACE_SECONDS", 30.0)
    known_deaths._ledger.cache_clear()

    def run(operator="sinh", candidate=None, ledger=ENTRY, kind=Explore, seconds=60.0):
        against(candidate or six())
        (tmp_path / "pyproject.toml").write_text("")
        (tmp_path / "ledger.toml").write_text(ledger)
        (tmp_path / "test_it.py").write_text(SUITE.format(operator=operator))
        where = Where(tmp_path / "test_it.py", "test_it.py::test_it", 7)
        task = Explore(where, range(4, 7), seconds) if kind is Explore else Diagnose(where, 4, thorough=False)
        trails = tmp_path / "trails"
        trails.mkdir()
        result = known_deaths.run_in_fork(task, Conditions(tmp_path / "kept", check_errors=True), trails / "0.crumb")
        assert list(trails.iterdir()) == []
        return result

    return run


def test_a_death_that_the_ledger_expects_is_a_forks(run_in_fork):
    death = run_in_fork()
    assert isinstance(death, Death)
    assert (death.symptom, death.how, death.operator, death.index) == ("crash", "SIGSEGV", "sinh", 4)
    assert death.signature == "sinh(float32 2-d)"


def test_a_death_in_a_backward_has_another_signature_than_the_call_before_it(run_in_fork):
    candidate = FaultyTorch({"sinh": with_gradient(lambda gradient: os.kill(os.getpid(), signal.SIGSEGV))})
    death = run_in_fork(candidate=candidate)
    assert isinstance(death, Death)
    assert (death.operator, death.stage, death.signature) == ("sinh", "backward", "sinh(float32 2-d) (backward)")


def test_trials_that_find_nothing_are_counted(run_in_fork):
    explored = run_in_fork("relu")
    assert isinstance(explored, Explored)
    assert (explored.done, explored.accepted, explored.operators["relu"]) == (3, 3, 3)


@pytest.mark.parametrize(
    ("operator", "candidate"),
    [("cosh", six), ("erf", six), ("relu", faults.wrong_relu)],
    ids=["abort", "exit", "value"],
)
def test_what_the_ledger_does_not_expect_is_not_believed_of_a_fork(run_in_fork, operator, candidate):
    assert run_in_fork(operator, candidate()) is None


def test_a_fork_that_hangs_may_lack_a_thread(run_in_fork, monkeypatch):
    monkeypatch.setattr(known_deaths, "FORK_GRACE_SECONDS", 0.0)
    assert run_in_fork("atan", seconds=0.5) is None


@pytest.mark.parametrize("reason", ["no death is known", "another task", "cannot be forked"])
def test_nothing_else_is_asked_of_a_fork(run_in_fork, monkeypatch, reason):
    monkeypatch.setattr(known_deaths, "_result_of_fork", lambda *arguments: pytest.fail("a fork was asked"))
    candidate = six()
    candidate.forkable = reason != "cannot be forked"
    ledger = ENTRY.replace("crash", "value") if reason == "no death is known" else ENTRY
    assert run_in_fork("sinh", candidate, ledger, Diagnose if reason == "another task" else Explore) is None
