"""A tensor with hooks may be changed in place. As in torch, a hook gets the gradient of what it was registered on."""

from __future__ import annotations

from typing import Any

import pytest

from autotest import random_tensor, torch
from autotest.frameworks.oneflow import OneFlowFramework
from tests.networks.test_hooks_replace_gradients import Body, check_against_torch, pushed
from tests.support.running import agrees, trial


def multiplied(torch: Any, x: Any) -> Any:
    y = x * 2
    y.register_hook(lambda gradient: gradient.clamp(-1, 1))
    y.mul_(3)
    return y * y


def written_by_an_operator(torch: Any, x: Any) -> Any:
    y = x * 2
    y.register_hook(lambda gradient: gradient.clamp(-1, 1))
    y *= 3
    return torch.exp(y)


def with_one_row_replaced(torch: Any, x: Any) -> Any:
    y = x * 2
    y.register_hook(lambda gradient: gradient * 2 + 1)
    y[1] = 0.5
    return torch.exp(y)


def written_by_an_argument(torch: Any, x: Any) -> Any:
    y = x * 2 - 1
    y.register_hook(lambda gradient: gradient * 2)
    torch.nn.functional.relu(y, inplace=True)
    return torch.exp(y)


def hooked_before_and_after(torch: Any, x: Any) -> Any:
    y = x * 2
    y.register_hook(lambda gradient: gradient.clamp(-1, 1))
    y.mul_(3)
    y.register_hook(lambda gradient: gradient * 5 + 1)
    y.add_(1)
    return torch.exp(y)


def seen_by_a_view_of_before(torch: Any, x: Any) -> Any:
    y = x * 2
    same = y.detach()
    y.register_hook(lambda gradient: gradient * 2)
    y.mul_(3)
    return torch.exp(y) + same


def written_without_gradients(torch: Any, x: Any) -> Any:
    y = x * 2
    y.register_hook(lambda gradient: gradient * 2)
    with torch.no_grad():
        y.add_(1)
    return torch.exp(y)


BODIES: list[Body] = [
    multiplied,
    written_by_an_operator,
    with_one_row_replaced,
    written_by_an_argument,
    hooked_before_and_after,
    seen_by_a_view_of_before,
    written_without_gradients,
]


@pytest.mark.parametrize("body", BODIES)
def test_the_gradient_is_the_one_of_torch(body: Body) -> None:
    check_against_torch(body)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.oneflow
def test_the_sides_agree(body: Body) -> None:
    def test() -> None:
        pushed(torch, body, random_tensor(shape=(4, 3), low=0.1, high=1, dtype="float32"))

    assert agrees(trial(test, OneFlowFramework()))
