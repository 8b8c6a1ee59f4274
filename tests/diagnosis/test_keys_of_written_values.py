"""Faults of different calls have different keys, also if what they computed is overwritten or written into later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autotest import random_tensor, torch
from autotest.base.settings import Settings
from autotest.trials.judgement import identity_of_trial
from tests.support.faulty import FaultyTorch, plus, returning
from tests.support.running import trial


def drawn(*shape: int) -> Any:
    return random_tensor(shape=shape or (4, 6), low=1, high=2, requires_grad=False)


def filled_step_by_step() -> Any:
    x = drawn()
    sums = torch.zeros_like(x)
    for step in range(2):
        sums[:, step] = x[:, step] + 1
    return sums


def overwritten_after_a_change() -> Any:
    x = drawn() * 2
    x.add_(1)
    x.zero_()
    return x


def written_through_views() -> Any:
    x = drawn().clone()
    first, _ = x.chunk(2)
    first.sub_(0.5)
    x.view(2, 12)[1].sqrt_()
    x.diagonal().neg_()
    return x


def reshaped() -> Any:
    x = drawn()
    x.sort(dim=-1)
    x.t_()
    return x


def reset() -> Any:
    norm = torch.nn.BatchNorm1d(3)
    x = random_tensor(shape=(4, 3), low=1, high=2, dtype="float32", requires_grad=False)
    norm(x)
    norm.reset_running_stats()
    return norm(x)


def clipped_twice() -> None:
    layer = torch.nn.Linear(4, 3)
    layer(random_tensor(shape=(2, 4), low=1, high=2, dtype="float32", requires_grad=False)).sum().backward()
    torch.nn.utils.clip_grad_norm_(layer.parameters(), 3.0)
    torch.nn.utils.clip_grad_value_(layer.parameters(), 0.1)


def _without_the_mean(norm: Any) -> Any:
    class BatchNorm1d(norm):  # type: ignore[misc]
        def reset_running_stats(self) -> None:
            kept = self.running_mean.clone()
            super().reset_running_stats()
            if self.running_mean.shape == kept.shape and kept.any():
                self.running_mean.copy_(kept)

    return BatchNorm1d


NORM, VALUE = "nn.utils.clip_grad_norm_", "nn.utils.clip_grad_value_"
CASES: dict[str, tuple[Callable[[], Any], FaultyTorch]] = {
    "zeros_like": (filled_step_by_step, FaultyTorch({"zeros_like": plus(1.0)})),
    "add_": (overwritten_after_a_change, FaultyTorch(tensors={"add_": lambda add: lambda x, y: add(x, 2 * y)})),
    "sqrt_": (written_through_views, FaultyTorch(tensors={"sqrt_": lambda sqrt: lambda x: sqrt(x).mul_(1.5)})),
    "neg_": (written_through_views, FaultyTorch(tensors={"neg_": lambda neg: lambda x: x})),
    "chunk": (written_through_views, FaultyTorch(tensors={"chunk": returning(lambda made: [y.clone() for y in made])})),
    "reset_running_stats": (reset, FaultyTorch({"nn.BatchNorm1d": _without_the_mean})),
    NORM: (clipped_twice, FaultyTorch({NORM: lambda clip: lambda given, most: clip(given, most / 100)})),
    VALUE: (clipped_twice, FaultyTorch({VALUE: lambda clip: lambda given, most: clip(given, most / 2)})),
    "t_": (reshaped, FaultyTorch(tensors={"t_": lambda t: lambda x: x})),
}


@pytest.mark.parametrize("operator", CASES)
def test_the_key_names_the_call_whose_result_differs(operator: str) -> None:
    body, fault = CASES[operator]
    assert identity_of_trial(trial(body, fault), Settings()).operator == operator
