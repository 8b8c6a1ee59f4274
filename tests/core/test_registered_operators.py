"""Operators that are registered in torch (``torch.ops``) run on both sides, also if a library calls them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch as real
from torch.library import Library

from autotest import UsageError, random_tensor, torch
from autotest.frameworks.torch import TorchFramework
from tests.support.running import agrees, targets, trial


@pytest.fixture(scope="module", autouse=True)
def library() -> Iterator[None]:
    made = Library("sevenfold", "DEF")
    made.define("times(Tensor x) -> Tensor")
    made.impl("times", lambda x: x * 7, "CompositeImplicitAutograd")
    yield
    del made


class Sevenfold(TorchFramework):
    """A candidate that has the name of the library of operators."""

    def __init__(self) -> None:
        super().__init__("sevenfold", "torch", "sevenfold")


def test_a_library_of_operators_may_have_the_name_of_the_candidate():
    outcome = trial(lambda: torch.ops.sevenfold.times(random_tensor(shape=(2,))), Sevenfold())
    assert agrees(outcome)
    assert "ops.sevenfold.times" in targets(outcome)


@pytest.mark.parametrize("overload", [False, True])
def test_an_operator_of_the_real_torch_runs_on_both_sides(overload):
    def body():
        times = real.ops.sevenfold.times.default if overload else real.ops.sevenfold.times
        return times(random_tensor(shape=(2,)))

    outcome = trial(body, Sevenfold())
    assert agrees(outcome)
    assert "ops.sevenfold.times" + ".default" * overload in targets(outcome)


class Times(real.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return real.ops.sevenfold.times(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 7


def test_a_function_of_torch_itself_says_how_it_can_be_compared():
    with pytest.raises(
        UsageError, match=r"^Times\.forward, of torch's own autograd.Function, got .* Derive Times from"
    ):
        trial(lambda: Times.apply(random_tensor(shape=(2,))), Sevenfold())
