"""A step that equal numbers reach by rounding, as ``relu`` after a normalisation does, excuses no fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autotest import random_tensor
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.trials.decorated import Test as ATest
from autotest.trials.trial import run_trial
from tests.support.faulty import FaultyTorch, Replacement, with_gradient
from tests.support.running import pair_with

SETTINGS = Settings(n=1)


def rectified() -> Any:
    """Return the rectified normalisation of equal rows, whose numbers are zero but for rounding."""
    x = random_tensor(shape=(1, 4), low=-2, high=2, dtype="float32").expand(6, 4)
    return dual.relu(dual.nn.BatchNorm1d(6)(dual.nn.Linear(4, 6)(x)))


def half_rectified() -> Any:
    """Return the same with as many columns of which the rows differ."""
    x = random_tensor(shape=(1, 2), low=-2, high=2, dtype="float32").expand(6, 2) * 1.7
    y = random_tensor(shape=(6, 2), low=-2, high=2, dtype="float32")
    return dual.relu(dual.nn.BatchNorm1d(4)(dual.cat([x, y], dim=1)))


def of_differences(original: Any) -> Any:
    """Return a normalisation that subtracts the first row first, so that equal rows become exact zeros."""

    class BatchNorm1d(original):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            super().forward(x.detach())  # it updates the running statistics
            moved = x - x[:1]
            centred = moved - moved.mean(0)
            return centred / torch.sqrt(centred.square().mean(0) + self.eps) * self.weight + self.bias

    return BatchNorm1d


def failures(body: Callable[[], Any], replaced: dict[str, Replacement]) -> list[FailedTrial]:
    pair, test = pair_with(FaultyTorch(replaced)), ATest("file.py::test", body, SETTINGS)
    outcomes = [run_trial(body, seed, SETTINGS, pair) for seed in range(12)]
    return [FailedTrial(test, outcome, pair) for outcome in outcomes if outcome.mismatches]


def test_gradients_that_differ_beside_such_a_step_are_no_alarm() -> None:
    found = failures(rectified, {"nn.BatchNorm1d": of_differences})
    assert len(found) > 2
    assert all(one.cleared() is not None for one in found)


@pytest.mark.parametrize("factor", [0.9, 2.0])
def test_a_wrong_gradient_is_seen_where_some_numbers_lie_beside_such_a_step(factor: float) -> None:
    wrong = with_gradient(lambda gradient: gradient * factor)
    found = failures(half_rectified, {"nn.BatchNorm1d": of_differences, "relu": wrong})
    assert len(found) == 12
    assert all(one.cleared() is None for one in found)
