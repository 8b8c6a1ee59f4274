"""Hooks that were registered outside of trials run in each trial that uses the tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autotest import random_tensor, torch
from autotest.frameworks import Framework
from autotest.frameworks.oneflow import OneFlowFramework
from autotest.frameworks.torch import TorchFramework
from tests.support.running import agrees, trial


@pytest.fixture(params=[TorchFramework, pytest.param(OneFlowFramework, marks=pytest.mark.oneflow)])
def candidate(request: pytest.FixtureRequest, against: Callable[[Framework], None]) -> Framework:
    """The candidate of the trials, and of what is outside of them."""
    made: Framework = request.param()
    against(made)
    return made


def gradients(calls: list[str], name: str, tensor: Any) -> Any:
    """Register a hook that notes its call and multiplies the gradient by ten; return its handle."""
    return tensor.register_hook(lambda gradient: calls.append(name) or gradient * 10)


def test_the_hook_of_a_tensor_runs_in_each_trial_until_it_is_removed(candidate: Framework) -> None:
    calls: list[str] = []
    x = torch.ones(2, requires_grad=True)
    handle = gradients(calls, "x", x)
    for expected in (["x"], ["x"], []):
        if not expected:
            handle.remove()
        calls.clear()
        assert agrees(trial(lambda: (x * 2).sum().backward(), candidate))
        assert calls == expected
        assert x.reference.grad.tolist() == ([20, 20] if expected else [2, 2])


def test_the_hook_of_a_parameter_runs_when_its_module_is_used(candidate: Framework) -> None:
    calls: list[str] = []
    layer = torch.nn.Linear(3, 3)
    gradients(calls, "weight", layer.weight)

    def body() -> Any:
        layer(torch.ones(2, 3)).sum().backward()
        # Imports the parameter once more, by itself.
        assert float(layer.weight.grad[0, 0]) == 20
        return layer.weight * random_tensor(shape=(3, 3))

    for _ in range(2):
        calls.clear()
        assert agrees(trial(body, candidate))
        assert calls == ["weight", "weight"]


def test_the_hook_of_a_computed_tensor_runs_too(candidate: Framework) -> None:
    calls: list[str] = []
    y = torch.ones(2, requires_grad=True) * 2
    gradients(calls, "y", y)
    assert agrees(trial(lambda: y * 3, candidate))
    assert calls == ["y"]


@pytest.mark.usefixtures("candidate")
def test_hooks_run_in_a_backward_outside_of_any_trial() -> None:
    calls: list[str] = []
    x, layer = torch.ones(2, 3, requires_grad=True), torch.nn.Linear(3, 3)
    gradients(calls, "x", x)
    gradients(calls, "weight", layer.weight)
    layer(x).sum().backward()
    assert sorted(calls) == ["weight", "x"]
    assert layer.weight.reference.grad.tolist() == [[20] * 3] * 3
