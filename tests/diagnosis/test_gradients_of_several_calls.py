"""Differences say nothing about a gradient that several backwards add up, or that is cleared or clipped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autotest as at
from autotest import Divergence
from autotest import torch as dual
from tests.support.faulty import FaultyTorch, with_gradient
from tests.support.running import trials


def drawn() -> Any:
    return at.random_tensor(shape=(3, 4), low=0.5, high=1, dtype="float32")


def twice() -> Any:
    x = drawn()
    dual.exp(x).sum().backward()
    dual.tanh(x).sum().backward()
    return x.grad


def cleared() -> Any:
    linear = dual.nn.Linear(4, 2)
    linear(drawn()).sum().backward()
    linear.zero_grad(set_to_none=False)
    return linear.weight.grad


def clipped() -> Any:
    linear = dual.nn.Linear(4, 2)
    linear(drawn()).sum().backward()
    dual.nn.utils.clip_grad_value_(linear.parameters(), 0.1)
    return linear.weight.grad


def written() -> Any:
    x = drawn()
    dual.exp(x).sum().backward()
    x.grad.mul_(0.5)
    return x.grad


def doing_nothing(_: Any) -> Callable[..., None]:
    return lambda *args, **kwargs: None


def _linear_that_keeps_gradients(linear: type) -> type:
    return type("Linear", (linear,), {"zero_grad": doing_nothing(None)})


FAULTS = {
    twice: {"replace": {"tanh": with_gradient(lambda gradient: 0 * gradient)}},
    cleared: {"replace": {"nn.Linear": _linear_that_keeps_gradients}},
    clipped: {"replace": {"nn.utils.clip_grad_value_": doing_nothing}},
    written: {"replace": {"exp": with_gradient(lambda gradient: 1.5 * gradient)}},
}


@pytest.mark.parametrize("body", FAULTS, ids=lambda body: body.__name__)
@pytest.mark.parametrize("shrink", [0.0, 5.0])
def test_the_reference_is_not_accused_of_it(body: Callable[[], Any], shrink: float, tmp_path: Path) -> None:
    with pytest.raises(Divergence) as raised:
        trials(body, tmp_path, FaultyTorch(**FAULTS[body]), n=2, auto_backward=False, options={"shrink": shrink})
    assert raised.value.finding is not None
    assert raised.value.finding.blame not in ("reference", "both")
