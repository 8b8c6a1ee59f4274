"""Rounding of a layer in a Sequential is recognised as that of the layer, and a fault of the layer is no rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from autotest import random_tensor
from autotest import torch as dual
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.trial import run_trial
from tests.support.faulty import FaultyTorch, Replacement
from tests.support.running import pair_with

SETTINGS = Settings(n=1)
Summing = Callable[[Any], Any]


def in_order_of_size(rows: Any) -> Any:
    """Add the numbers of each row one by one, all negative ones first, whose sum is rounded the most."""
    return torch.from_numpy(np.add.accumulate(np.sort(rows.numpy(), axis=1), axis=1)[:, -1].copy())


def with_some_of_the_magnitudes(rows: Any) -> Any:
    return in_order_of_size(rows) + 1e-3 * rows.abs().sum(1)


def convolution(summing: Summing) -> Replacement:
    """Return a convolution that sums the gradient of its bias in its own way."""

    class AddedBias(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, y: Any, bias: Any) -> Any:
            return y + bias.reshape(1, -1, 1, 1)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient, summing(gradient.transpose(0, 1).flatten(1))

    def replacement(original: Any) -> Any:
        class Conv2d(original):  # type: ignore[misc]
            def forward(self, x: Any) -> Any:
                y = torch.nn.functional.conv2d(x, self.weight, None, self.stride, self.padding)
                return AddedBias.apply(y, self.bias)

        return Conv2d

    return replacement


def by_mean_of_squares(original: Any) -> Any:
    """Return a normalisation whose variance is a difference of two large numbers, with a rounded ``eps``."""

    class BatchNorm2d(original):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            super().forward(x.detach())  # it updates the running statistics
            mean = x.mean((0, 2, 3), keepdim=True)
            variance = (x * x).mean((0, 2, 3), keepdim=True) - mean * mean
            weight, bias = (one.reshape(1, -1, 1, 1) for one in (self.weight, self.bias))
            return (x - mean) / torch.sqrt(variance + float(np.float32(self.eps))) * weight + bias

    return BatchNorm2d


def normalised() -> Any:
    """Return a result in which a bias counts for nothing, so that its gradient is zero except for rounding."""
    network = dual.nn.Sequential(dual.nn.Conv2d(1, 2, 3), dual.nn.BatchNorm2d(2), dual.nn.Tanh())
    return network(random_tensor(shape=(4, 1, 6, 6), low=-1, high=1, dtype="float32")) * 30


def normalised_far_from_zero() -> Any:
    network = dual.nn.Sequential(dual.nn.Conv2d(1, 2, 3), dual.nn.BatchNorm2d(2))
    return network(random_tensor(shape=(4, 1, 6, 6), low=2, high=3, dtype="float32"))


def normalised_in_two_calls() -> Any:
    y = dual.nn.Conv2d(1, 2, 3)(random_tensor(shape=(4, 1, 6, 6), low=2, high=3, dtype="float32"))
    return dual.nn.BatchNorm2d(2)(y)


def failed(body: Callable[[], Any], replaced: dict[str, Replacement], seed: int) -> FailedTrial | None:
    pair = pair_with(FaultyTorch(replaced))
    outcome = run_trial(body, seed, SETTINGS, pair)
    return FailedTrial(ATest("file.py::test", body, SETTINGS), outcome, pair) if outcome.mismatches else None


@pytest.mark.parametrize("seed", range(5))
def test_a_gradient_that_is_zero_but_for_the_rounding_of_a_layer_is_no_alarm(seed: int) -> None:
    found = failed(normalised, {"nn.Conv2d": convolution(in_order_of_size)}, seed)
    assert found is not None
    assert found.cleared() is not None


@pytest.mark.parametrize("seed", range(5))
def test_a_fault_beside_that_rounding_is_seen(seed: int) -> None:
    found = failed(normalised, {"nn.Conv2d": convolution(with_some_of_the_magnitudes)}, seed)
    assert found is not None
    assert found.cleared() is None


@pytest.mark.parametrize("body", [normalised_far_from_zero, normalised_in_two_calls])
@pytest.mark.parametrize("seed", [5, 17])
def test_a_failure_is_not_explained_by_the_rounding_of_one_layer(body: Callable[[], Any], seed: int) -> None:
    replaced = {"nn.Conv2d": convolution(in_order_of_size), "nn.BatchNorm2d": by_mean_of_squares}
    found = failed(body, replaced, seed)
    assert found is not None
    assert found.cleared() is None
    finding = found.diagnosed(RunContext(found.pair, Options(verify=False, shrink=0.0)), 0)
    assert finding.verdict[0].startswith(("faulty: ", "both: "))
