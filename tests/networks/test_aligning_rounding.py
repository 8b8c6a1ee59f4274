"""A difference that is gone in double precision is rounding only within the bound of its own value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import autotest
from tests.networks.ports import Original

X = np.random.default_rng(0).standard_normal((4, 6)).astype("float32")


def in_single(y: Any, error: float) -> Any:
    """Return `y` with a relative error that only single precision has."""
    return y * (1 + error) if y.dtype == torch.float32 else y


class Beside(Original):
    """A model whose first output is rough, as great numbers cancel in it; the second one is not."""

    def __init__(self, error: float = 0.0) -> None:
        super().__init__()
        self.error = error

    def forward(self, x: Any) -> Any:
        y = super().forward(x)
        return 1e4 * y + 1e7 - 1e7, in_single(y, self.error)


def test_the_rounding_of_one_output_excuses_no_fault_in_another() -> None:
    assert autotest.align(Beside(), Beside(), X).passed
    found = autotest.align(Beside(), Beside(1e-2), X)
    assert not found.passed
    assert found.mismatches[0].name == "the model[output][1]"


class Positions(torch.nn.Module):
    """Adds waves of positions, which no weight and no input moves, written in one of two ways."""

    def __init__(self, powers: bool, error: float = 0.0) -> None:
        super().__init__()
        self.powers, self.error = powers, error
        self.waves, self.last = torch.nn.Identity(), torch.nn.Linear(8, 8)

    def forward(self, x: Any) -> Any:
        at = torch.arange(x.shape[0], dtype=x.dtype)[:, None] * 37
        part = torch.arange(8, dtype=x.dtype) / 8
        rate = torch.pow(torch.full_like(part, 1e-4), part) if self.powers else torch.exp(-part * math.log(1e4))
        return self.last(x + self.waves(in_single(torch.sin(at * rate), self.error)))


def test_rounding_of_constants_that_the_forward_computes_raises_no_alarm() -> None:
    x = np.random.default_rng(0).standard_normal((1000, 8)).astype("float32")
    for powers in (False, True):
        found = autotest.align(Positions(powers), Positions(not powers), x)
        assert found.passed, str(found)
        assert found.rounding > 1
    assert not autotest.align(Positions(True), Positions(True, 0.1), x).passed


class LogSum(torch.nn.Module):
    """The logarithm of a sum of exponentials, which overflow in the first row unless it is `stable`."""

    def __init__(self, stable: bool, error: float = 0.0) -> None:
        super().__init__()
        self.first, self.stable, self.error = torch.nn.Linear(6, 8), stable, error

    def forward(self, x: Any) -> Any:
        z = self.first(x)
        z = torch.cat([z[:1] + 200, z[1:]])
        return in_single(torch.logsumexp(z, -1) if self.stable else z.exp().sum(-1).log(), self.error)


def test_an_overflow_of_the_reference_excuses_no_error_of_other_elements() -> None:
    found = autotest.align(LogSum(stable=False), LogSum(stable=True), X)
    assert found.passed, str(found)
    assert not autotest.align(LogSum(stable=False), LogSum(stable=True, error=0.3), X).passed


def test_an_overflow_of_the_port_alone_is_a_fault() -> None:
    assert not autotest.align(LogSum(stable=True), LogSum(stable=False), X).passed


class Plain(torch.nn.Module):
    """A convolution, a batch norm and a softmax from elementary operations, which round otherwise than torch's own."""

    def __init__(self, by_hand: bool) -> None:
        super().__init__()
        self.by_hand = by_hand
        self.convs = torch.nn.ModuleList(torch.nn.Conv1d(6, 6, 3, padding=1) for _ in range(8))
        self.norms = torch.nn.ModuleList(torch.nn.BatchNorm1d(6, track_running_stats=False) for _ in range(8))

    def forward(self, x: Any) -> Any:
        for conv, norm in zip(self.convs, self.norms, strict=True):
            if self.by_hand:
                padded = torch.nn.functional.pad(x, (1, 1))
                y = sum(conv.weight[:, :, k] @ padded[:, :, k : k + x.shape[2]] for k in range(3)) + conv.bias[:, None]
                y = y - y.mean((0, 2), keepdim=True)
                y = y * ((y**2).mean((0, 2), keepdim=True) + norm.eps).rsqrt()
                y = y * norm.weight[:, None] + norm.bias[:, None]
                weights = y.exp() / y.exp().sum(1, keepdim=True)
            else:
                y = norm(conv(x))
                weights = y.softmax(1)
            x = x + torch.relu(y) * weights
        return x


@pytest.mark.parametrize("seed", range(4))
def test_a_deep_network_of_elementary_operations_agrees_with_that_of_layers(seed: int) -> None:
    torch.manual_seed(seed)
    x = 10 + np.random.default_rng(seed).standard_normal((4, 6, 20)).astype("float32")
    found = autotest.align(Plain(by_hand=False), Plain(by_hand=True), x)
    assert found.passed, str(found)


class Centred(torch.nn.Module):
    """Subtracts the mean, with which a bias goes; a reference that knows this gives the bias the gradient zero."""

    def __init__(self, knows: bool) -> None:
        super().__init__()
        self.first, self.last, self.knows = torch.nn.Linear(6, 8), torch.nn.Linear(8, 3), knows

    def forward(self, x: Any) -> Any:
        y = self.first(x)
        y = y - self.first.bias + 0 * self.first.bias.detach() if self.knows else y
        return self.last(y - y.mean(0))


def test_a_gradient_that_cancels_is_rounding_also_where_the_reference_has_an_exact_zero() -> None:
    x = np.random.default_rng(0).standard_normal((1000, 6)).astype("float32")
    found = autotest.align(Centred(knows=True), Centred(knows=False), x)
    assert found.passed, str(found)
    assert found.rounding > 1


class Threshold(torch.nn.Module):
    """A threshold; if `shifted`, rounding gets an input below it that is a few roundoffs above it."""

    def __init__(self, shifted: bool) -> None:
        super().__init__()
        self.shifted, self.last = shifted, torch.nn.Linear(6, 3)

    def forward(self, x: Any) -> Any:
        y = x + 16 - 16 if self.shifted else x
        return self.last(torch.where(y > 1 + 2.0**-22, y, 0 * y))


def test_a_jump_that_a_few_roundoffs_reach_is_rounding() -> None:
    x = 3 + X
    x[0, 0] = 1 + 2.0**-21
    found = autotest.align(Threshold(shifted=False), Threshold(shifted=True), x)
    assert found.passed, str(found)
    assert found.rounding > 1
