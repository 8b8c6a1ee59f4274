"""One test against several candidates: the reference runs once, and each candidate replays its record."""

from __future__ import annotations

import unittest

import pytest

from autotest import random_tensor, torch
from autotest.base.errors import UsageError
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.frameworks import Pair, registry
from autotest.frameworks.torch import TorchFramework
from autotest.recording.recorder import Recorder, recording
from autotest.results.divergence import Divergence
from autotest.results.ledger import Ledger, LedgerEntry
from autotest.running.run_hooks import run_hook
from autotest.running.runner import run_test
from autotest.running.several_candidates import against_each, run_against_several
from autotest.storage.store import Store
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from tests.support.bodies import relu
from tests.support.faulty import FaultyTorch, plus


def candidate(name, *, translates=False, **faults):
    made = FaultyTorch(name=name, **faults)
    made.translates = translates
    return made


def context(folder, *candidates, ledgers=()):
    options = Options(directory=folder, verify=False, shrink=0.0)
    pairs = [Pair(TorchFramework(), each) for each in candidates]
    for one in pairs:
        one.others = tuple(other.candidate for other in pairs if other is not one)
    first, *others = [RunContext(pair, options, ledgers[at] if ledgers else Ledger()) for at, pair in enumerate(pairs)]
    return RunContext(first.pair, options, first.ledger, tuple(others))


def run(body, given, n=3):
    """Run the test; return the number of trials in which each candidate agreed."""
    tallies = {}
    with run_hook(lambda test, own, tally: tallies.setdefault(own.pair.candidate.name, tally)):
        run_against_several(ATest("test_it.py::test_it", body, Settings(n=n)), given)
    return {name: tally.accepted for name, tally in tallies.items()}


def test_each_candidate_is_compared_and_the_body_runs_once_a_trial(tmp_path):
    ran = []

    def body():
        ran.append(1)
        x = random_tensor(shape=(2, 3)) * 2
        x[0] = torch.rand(3)
        return torch.nn.Linear(3, 4)(x).relu_(), float(x.sum().detach()), torch.dropout(x, 0.5, True)

    assert run(body, context(tmp_path, candidate("one"), candidate("two"), candidate("three"))) == {
        "one": 3,
        "two": 3,
        "three": 3,
    }
    assert len(ran) == 3


@pytest.mark.parametrize("at", [0, 1, 2])
def test_the_one_that_differs_is_told_and_the_others_go_on(tmp_path, at):
    names = ["one", "two", "three"]
    given = context(
        tmp_path, *(candidate(name, replace={"relu": plus(1.0)} if name == names[at] else {}) for name in names)
    )
    with pytest.raises(Divergence) as raised:
        run(relu, given)
    said = str(raised.value)
    assert raised.value.finding.sides == ("torch", names[at])
    lines = [line for line in said.splitlines() if line.startswith(tuple(f"  {name}" for name in names))]
    assert [line.split()[0] for line in lines] == names
    assert f"{names[at]} diverges from torch: relu, value" in lines[at]
    assert all("agrees in 3 trials" in line for line in lines if line != lines[at])


def test_two_that_differ_are_both_told_and_kept_under_their_names(tmp_path):
    faults = {"replace": {"relu": plus(1.0)}}
    with pytest.raises(Divergence) as raised:
        run(relu, context(tmp_path, candidate("one", **faults), candidate("two", **faults), candidate("three")))
    assert [other.finding.sides[1] for other in raised.value.others] == ["two"]
    assert str(raised.value).startswith("2 of 3 candidates differ: one diverges from torch: relu, value")
    assert "two diverges from torch" in str(raised.value)
    kept = [entry.key for entry in Store(tmp_path).list()]
    assert [key.partition("-")[0] for key in kept] == ["one", "two"]


def test_an_exception_of_one_candidate_leaves_the_others_their_trials(tmp_path):
    def broken(relu):
        def raising(x):
            raise RuntimeError("no kernel")

        return raising

    with pytest.raises(Divergence, match="relu, exception") as raised:
        run(lambda: torch.exp(relu()), context(tmp_path, candidate("one", replace={"relu": broken}), candidate("two")))
    assert "two  agrees in 3 trials" in str(raised.value)


def test_an_error_of_the_test_hides_no_difference_that_was_found_before_it(tmp_path):
    ran = []

    def body():
        ran.append(1)
        if len(ran) == 3:
            raise ValueError("the test itself")
        return relu()

    faults = {"replace": {"relu": plus(1.0)}}
    with pytest.raises(Divergence, match="one diverges from torch: relu, value"):
        run(body, context(tmp_path, candidate("one", **faults), candidate("two")))
    assert len(ran) == 3
    ran.clear()
    with pytest.raises(ValueError, match="the test itself"):
        run(body, context(tmp_path, candidate("one"), candidate("two")))


def test_an_error_of_the_test_hides_no_difference_of_any_candidate_that_is_waited_for(tmp_path):
    def body():
        ran.append(1)
        if len(ran) == 3:
            raise ValueError("the test itself")
        return relu()

    ran = []
    candidates = [candidate(name, replace={"relu": plus(1.0)}) for name in ("one", "two")]
    for each in candidates:
        each.asynchronous = True
    with pytest.raises(Divergence, match="2 of 2 candidates differ"):
        run(body, context(tmp_path, *candidates), n=10)
    assert len(ran) == 3


@pytest.mark.parametrize("at", [0, 1])
def test_a_step_that_is_a_little_wrong_is_found_on_each_candidate(tmp_path, at):
    def a_step():
        layer = torch.nn.Linear(3, 2)
        optimizer = torch.optim.SGD(layer.parameters(), lr=1e-5)
        layer(random_tensor(shape=(4, 3), low=1, high=2, dtype="float32", requires_grad=False)).sum().backward()
        optimizer.step()

    def little_wrong(original):
        return lambda parameters, lr: original(parameters, lr=lr * 1.01)

    names = ["one", "two"]
    given = [candidate(name, replace={"optim.SGD": little_wrong} if name == names[at] else {}) for name in names]
    with pytest.raises(Divergence, match=rf"1 of 2 candidates differs: {names[at]} diverges from torch: optim\.SGD"):
        run(a_step, context(tmp_path, *given))


def test_what_trials_share_is_compared_on_each_candidate_before_a_later_trial_changes_it(tmp_path):
    waited_for = candidate("two")
    waited_for.asynchronous = True
    given = context(tmp_path, candidate("one"), waited_for)
    with recording(Recorder(given.pair)):
        shared = torch.zeros(3)

    ran = []

    def body():
        ran.append(1)
        shared.add_(1.0)
        return shared * random_tensor(shape=(4, 3))

    assert run(body, given) == {"one": 3, "two": 3}
    assert len(ran) == 3  # no trial was rejected


def test_a_candidate_in_turn_has_the_numbers_of_its_own_test_and_not_of_one_that_the_body_runs(tmp_path):
    given = context(tmp_path, candidate("one", replace={"exp": plus(1.0)}), candidate("two"))

    def body():
        run_test(ATest("test_it.py::test_inside", relu, Settings(n=1)), given.each[1])
        return torch.exp(random_tensor(shape=(2, 3)))

    with pytest.raises(Divergence) as raised:
        against_each(ATest("test_it.py::test_it", body, Settings(n=3)), given, run_test)
    assert "two  agrees in 3 trials" in str(raised.value)


def test_what_one_candidate_lacks_the_others_are_compared_in(tmp_path):
    lacking = candidate("one", missing=("relu",), translates=True)
    assert run(relu, context(tmp_path, lacking, candidate("two"))) == {"one": 0, "two": 3}
    with pytest.raises(unittest.SkipTest, match=r"one: .*two: "):
        run(relu, context(tmp_path, lacking, candidate("two", missing=("relu",), translates=True)))


def test_each_candidate_has_its_own_ledger(tmp_path):
    known = Ledger((LedgerEntry("relu", "test_it.py::test_it", "value", "known"),))
    faults = {"replace": {"relu": plus(1.0)}}
    given = context(tmp_path, candidate("one", **faults), candidate("two", **faults), ledgers=[known, Ledger()])
    with pytest.raises(Divergence) as raised:
        run(relu, given)
    assert raised.value.finding.sides[1] == "two"
    assert "3 differ as its ledger expects" in str(raised.value)


@pytest.mark.parametrize(
    ("asked", "names"),
    [("oneflow, paddle", ("oneflow", "paddle")), ("mlx", ("mlx",)), ("mlx,,", ("mlx",)), ("", ("oneflow",))],
)
def test_candidates_are_named_with_commas_between(monkeypatch, asked, names):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", asked)
    assert registry.all_chosen_names() == ("torch", names)


def test_who_can_take_one_candidate_says_so_of_several(monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "oneflow,paddle")
    with pytest.raises(UsageError, match="expected one candidate here; only pytest and autotest fuzz accept several"):
        registry.chosen_names()
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "mlx,mlx,")
    with pytest.raises(UsageError, match="candidate 'mlx,mlx,': mlx is named twice; expected each framework once"):
        registry.all_chosen_names()
    monkeypatch.setenv("AUTOTEST_CANDIDATE", " , ")
    with pytest.raises(UsageError, match="expected the name of a framework"):
        registry.all_chosen_names()


def doubtful(name, replace):
    """A candidate with an operator that differs in a way about which no oracle has an opinion."""
    return candidate(name, replace={"matrix_exp": replace} if replace else {})


def exponential():
    return torch.matrix_exp(random_tensor(shape=(2, 2), requires_grad=False))


@pytest.mark.parametrize(
    ("others", "line", "blame"),
    [
        (
            [plus(1.0)],
            "two agrees with one, and only torch differs",
            "semantic difference",
        ),
        ([None, None], "one: two and three agree with torch", "candidate"),
        ([plus(1.0), None], "torch is the specification", "semantic difference"),
    ],
    ids=["for the candidate", "for the reference", "one for each"],
)
def test_the_other_candidates_vote_where_nobody_else_has_an_opinion(tmp_path, others, line, blame):
    named = [doubtful(name, replace) for name, replace in zip(("two", "three"), others, strict=False)]
    with pytest.raises(Divergence) as raised:
        run(exponential, context(tmp_path, doubtful("one", plus(1.0)), *named))
    finding = raised.value.finding
    assert finding.sides[1] == "one"
    assert line in finding.verdict[0]
    assert finding.blame == blame


def test_who_holds_no_numbers_has_no_vote_on_them(tmp_path):
    silent = candidate("two")
    silent.holds_values = False
    with pytest.raises(Divergence) as raised:
        run(relu, context(tmp_path, candidate("one", replace={"relu": plus(1.0)}), silent))
    assert not [line for line in raised.value.finding.verdict if line.startswith("two")]


def test_votes_stand_among_the_numbers_of_a_verdict_that_others_reached(tmp_path):
    faults = {"replace": {"relu": plus(1.0)}}
    given = context(tmp_path, candidate("one", **faults), candidate("two", **faults), candidate("three"))
    with pytest.raises(Divergence) as raised:
        run(relu, given)
    assert raised.value.finding.blame == "candidate"
    assert "three: the same as torch" in raised.value.finding.verdict
    assert "two: the same as one, different from torch" in raised.value.finding.verdict
