"""A trial with mismatches is replayed and examined once, for the judgement and the report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from autotest import random_tensor
from autotest import torch as dual
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis import failed_trial
from autotest.diagnosis.attribution import guilty_mismatch
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.diagnosis.shrinking import shrunk_trial
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import Program
from autotest.replaying.agreement import Agreement, agree
from autotest.results.finding import Finding
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.trial import run_trial
from tests.support.faulty import FaultyTorch, plus

PAIR = Pair(TorchFramework(), FaultyTorch({"tanh": plus(0.1)}))


def differing() -> FailedTrial:
    def body() -> Any:
        return dual.tanh(random_tensor(2, 3, 4, requires_grad=False))

    outcome = run_trial(body, 0, Settings(), PAIR)
    assert outcome.mismatches
    return FailedTrial(ATest("file.py::test", body, Settings()), outcome, PAIR)


def told_of(trial: FailedTrial) -> Finding:
    return trial.diagnosed(RunContext(PAIR, Options(verify=False, shrink=0.0)), 0)


def test_a_trial_is_replayed_and_examined_once_to_be_judged_and_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(module: Any, name: str) -> Any:
        whole = getattr(module, name)

        def counting(*args: Any) -> Any:
            asked.append(name)
            return whole(*args)

        return counting

    for module, name in ((failed_trial, "agree"), (failed_trial, "examine"), (guilty_mismatch, "examine")):
        monkeypatch.setattr(module, name, counted(module, name))
    trial = differing()
    assert trial.cleared() is None
    assert told_of(trial).blame == "candidate"
    assert asked == ["agree", "examine"]


def test_a_replay_that_showed_nothing_is_made_again_for_the_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    replays: list[Program] = []

    def sometimes(program: Program, pair: Pair, settings: Settings) -> Agreement:
        replays.append(program)
        found = agree(program, pair, settings)
        return Agreement(program, found.record, []) if len(replays) == 1 else found

    monkeypatch.setattr(failed_trial, "agree", sometimes)
    trial = differing()
    assert trial.cleared() is None
    assert told_of(trial).blame == "candidate"
    assert len(replays) == 2


def test_what_else_differs_is_replayed_by_itself() -> None:
    trial = differing()
    assert trial.cleared() is None
    trial.outcome.repaired_program = Program((), (), frozenset())
    assert told_of(trial).verdict == (
        "no verdict: the recorded program does not show the difference when it is replayed",
    )


def test_what_cannot_be_made_smaller_is_not_examined_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def again(*args: Any) -> Any:
        raise AssertionError("examined again")

    monkeypatch.setattr(shrunk_trial, "examine", again)
    monkeypatch.setattr(shrunk_trial.Shrinker, "shrink", lambda shrinker, first: shrinker.result)
    finding = differing().diagnosed(RunContext(PAIR, Options(verify=False, shrink=5.0)), 0)
    assert finding.blame == "candidate"


#: Numbers that nearly cancel: their sum in single precision has an error above the tolerance.
CANCELLING = np.random.Generator(np.random.SFC64(3)).uniform(-1000, 1000, 4096).astype(np.float32)
CANCELLING[-1] -= CANCELLING.sum(dtype=np.float64) - 2


def barely(first: float, then: float) -> FailedTrial:
    """A trial whose sum in single precision is off by `first` times what is tolerated, and by `then` times that when it
    runs again."""
    off = iter((first,))

    def summed(original: Any) -> Any:
        def replaced(x: Any) -> Any:
            whole = original(x)
            if x.dtype == torch.float64:
                return whole
            return whole + next(off, then) * (1e-5 + 1e-4 * abs(float(whole)))

        return replaced

    pair, settings = Pair(TorchFramework(), FaultyTorch({"sum": summed})), Settings()

    def body() -> Any:
        return dual.sum(dual.tensor(CANCELLING))

    outcome = run_trial(body, 0, settings, pair)
    assert len(outcome.mismatches) == 1
    return FailedTrial(ATest("file.py::test", body, settings), outcome, pair)


def test_rounding_that_is_within_the_tolerance_when_it_runs_again_is_rounding() -> None:
    verdict = barely(1.02, then=0.98).cleared()
    assert verdict is not None
    assert verdict.blame == "ill-conditioned"


def test_what_is_no_rounding_counts_though_nothing_differs_when_it_runs_again() -> None:
    assert barely(900.0, then=0.98).cleared() is None
    assert barely(5.0, then=0.0).cleared() is None  # its results differ between runs


def test_rounding_gives_no_name_to_a_trial_that_ends_with_an_exception_of_the_candidate() -> None:
    class Forward(FaultyTorch):
        """Return torch whose backward raises."""

        def operation(self, kind: Any, target: str) -> Any:
            return raising if target == "backward" else super().operation(kind, target)

    def raising(*operands: Any) -> None:
        raise NotImplementedError("this framework has no gradients")

    def in_another_order(matmul: Any) -> Any:
        return lambda x, y: (x * y).flip(0).sum()

    def body() -> Any:
        # The products cancel, so the result is smaller than the roundoff of its largest term.
        x = dual.tensor(np.array([-0.012874635, -258.43127, 1652.2246], "float32"), requires_grad=True)
        y = dual.tensor(np.array([3758.2095, 491.9786, 76.966125], "float32"))
        return dual.matmul(x, y)

    right, wrong = (Pair(TorchFramework(), Forward({"matmul": replaced})) for replaced in (in_another_order, plus(9.0)))
    outcome = run_trial(body, 0, Settings(), right)
    assert [item.symptom for item in outcome.mismatches] == ["value", "exception"]
    trial = FailedTrial(ATest("file.py::test", body, Settings()), outcome, right)
    assert trial.cleared() is None
    assert [item.symptom for item in outcome.mismatches] == ["exception"]
    assert told_of(trial).first.symptom == "exception"
    outcome = run_trial(body, 0, Settings(), wrong)
    trial = FailedTrial(ATest("file.py::test", body, Settings()), outcome, wrong)
    assert trial.cleared() is None
    assert [item.symptom for item in outcome.mismatches] == ["value", "exception"]


def test_a_difference_of_ordinary_numbers_beside_special_ones_is_explained_where_special_ones_do_not_count() -> None:
    def body() -> Any:
        return dual.tanh(random_tensor(shape=(40,), dtype="float32", contents="special", requires_grad=False))

    settings = Settings(special_values=False)
    outcome = run_trial(body, 0, settings, PAIR)
    assert outcome.mismatches
    told = told_of(FailedTrial(ATest("file.py::test", body, settings), outcome, PAIR))
    assert told.verdict[0].startswith("faulty: NumPy gives ")
