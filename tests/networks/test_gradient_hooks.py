"""Hooks on gradients, and functions with their own backward, work as in torch, on both sides and recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch as real

from autotest import random_tensor, torch
from autotest.base.errors import UsageError
from autotest.base.settings import Settings
from autotest.emission import program_text
from autotest.frameworks.oneflow import OneFlowFramework
from autotest.replaying.agreement import agree
from tests.support.faulty import FaultyTorch, plus, returning
from tests.support.running import agrees, pair_with, trial

Body = Callable[[Any, Any], Any]


def hook_of_a_result(torch: Any, x: Any) -> Any:
    y = torch.tanh(x)
    y.register_hook(lambda gradient: gradient * 3 + 1)
    return y * x


def hook_of_an_input(torch: Any, x: Any) -> Any:
    x.register_hook(lambda gradient: gradient.clamp(-0.1, 0.1))
    return torch.exp(x) + torch.sin(x)


def several_hooks(torch: Any, x: Any) -> Any:
    y = torch.tanh(x)
    z = torch.exp(y)
    y.register_hook(lambda gradient: gradient * 2)
    z.register_hook(lambda gradient: gradient + 1)
    z.register_hook(lambda gradient: gradient * gradient)
    return z + y


def a_hook_that_is_removed(torch: Any, x: Any) -> Any:
    y = torch.tanh(x)
    handle = y.register_hook(lambda gradient: gradient * 100)
    handle.remove()
    return y * 2


def layer(torch: Any) -> Any:
    made = torch.nn.Linear(3, 3)
    with torch.no_grad():
        made.weight.fill_(0.25)
        made.bias.fill_(-0.5)
    return made


def full_backward_hook(torch: Any, x: Any) -> Any:
    first, second = layer(torch), layer(torch)
    first.register_full_backward_hook(lambda module, given, taken: (given[0] * 2 + taken[0],))
    return second(torch.tanh(first(x)))


def full_backward_pre_hook(torch: Any, x: Any) -> Any:
    first = layer(torch)
    first.register_full_backward_pre_hook(lambda module, taken: (taken[0] * 0.5,))
    first.register_full_backward_hook(lambda module, given, taken: (given[0] + taken[0],))
    return torch.sin(first(x)) * x


def hook_of_a_whole_class(torch: Any, x: Any) -> Any:
    class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.inner = layer(torch)

        def forward(self, x: Any) -> Any:
            return torch.tanh(self.inner(x)) + x

    net = Net()
    net.register_full_backward_hook(lambda module, given, taken: (given[0] - taken[0],))
    return net(net(x))


def own_function(torch: Any, x: Any) -> Any:
    class Clipped(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any, low: float) -> Any:
            ctx.save_for_backward(x)
            ctx.low = low
            return x.clamp(low, 0.5)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            (x,) = ctx.saved_tensors
            return gradient * torch.where(x < ctx.low, x * 0.1, x), None

    return Clipped.apply(torch.exp(Clipped.apply(x, -0.5)) - 1, 0.0) * 2 + x


def function_of_two(torch: Any) -> Any:
    class Both(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, one: Any, other: Any) -> Any:
            ctx.save_for_backward(one, other)
            return one * other, one + other

        @staticmethod
        def backward(ctx: Any, product: Any, total: Any) -> Any:
            one, other = ctx.saved_tensors
            return product * other + total, (product * one if ctx.needs_input_grad[1] else None)

    return Both


def own_function_of_two(torch: Any, x: Any) -> Any:
    product, total = function_of_two(torch).apply(torch.tanh(x), x)
    total.register_hook(lambda gradient: gradient * 2)
    return product + total


def product(torch: Any, hook: Any) -> Any:
    class Product(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any, y: Any, z: Any) -> Any:
            return x * y

    made = Product()
    made.register_full_backward_hook(hook)
    return made


def hook_that_drops_a_gradient(torch: Any, x: Any) -> Any:
    made = product(torch, lambda module, given, taken: (given[0] * 2, None, given[2]))
    return made(torch.tanh(x), torch.exp(x), torch.sin(x))


def hook_that_adds_a_gradient(torch: Any, x: Any) -> Any:
    made = product(torch, lambda module, given, taken: (given[0], given[1], taken[0] * 3))
    return made(torch.tanh(x), torch.exp(x), torch.sin(x))


def hook_that_drops_an_output(torch: Any, x: Any) -> Any:
    class Pair(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return torch.tanh(x), torch.exp(x)

    made = Pair()
    made.register_full_backward_pre_hook(lambda module, taken: (None, taken[1]))
    one, other = made(x)
    return one + other


BODIES: list[Body] = [
    hook_of_a_result,
    hook_of_an_input,
    several_hooks,
    a_hook_that_is_removed,
    full_backward_hook,
    full_backward_pre_hook,
    hook_of_a_whole_class,
    hook_that_drops_a_gradient,
    hook_that_adds_a_gradient,
    hook_that_drops_an_output,
    own_function,
    own_function_of_two,
]


@pytest.mark.parametrize("body", BODIES)
def test_a_gradient_is_what_torch_makes_of_it(body: Body) -> None:
    drawn: list[Any] = []

    def test() -> None:
        drawn.append(random_tensor(shape=(4, 3), low=-1, high=1, dtype="float64").to(torch.float32).detach())
        drawn[0].requires_grad_()
        body(torch, drawn[0]).sum().backward()

    outcome = trial(test)
    assert agrees(outcome)
    x = drawn[0].reference.detach().clone().requires_grad_()
    body(real, x).sum().backward()
    assert real.allclose(drawn[0].reference.grad, x.grad)
    assert agree(outcome.program, pair_with(), Settings()).mismatches == []


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.oneflow
def test_the_sides_agree_and_what_the_body_returns_is_pushed_through_the_hooks_too(body: Body) -> None:
    outcome = trial(lambda: body(torch, random_tensor(shape=(4, 3), low=-1, high=1)), OneFlowFramework())
    assert agrees(outcome)


def test_what_a_hook_does_is_in_the_program_and_a_fault_in_it_is_found() -> None:
    def body() -> Any:
        return hook_of_a_result(torch, random_tensor(shape=(4, 3), low=-1, high=1))

    assert "autograd.grad(" in program_text(trial(body).program)

    def clamping() -> Any:
        return hook_of_an_input(torch, random_tensor(shape=(4, 3), low=-1, high=1))

    outcome = trial(clamping, FaultyTorch(tensors={"clamp": returning(lambda y: y * 1.1)}))
    assert any(mismatch.stage == "backward" for mismatch in outcome.mismatches)


def test_gradients_that_a_hook_only_looks_at_can_be_returned_and_are_compared() -> None:
    seen: list[Any] = []

    def body() -> Any:
        x = random_tensor(shape=(4, 3), low=-1, high=1)
        y = torch.tanh(x)
        seen.clear()
        y.register_hook(seen.append)
        torch.exp(y).sum().backward()
        return seen[0]

    assert agrees(trial(body))
    assert trial(body, FaultyTorch({"exp": plus(1.0)})).mismatches


def test_gradients_of_parameters_are_clipped_while_a_network_is_trained() -> None:
    def body() -> Any:
        net = torch.nn.Linear(3, 2)
        for parameter in net.parameters():
            parameter.register_hook(lambda gradient: gradient.clamp(-0.01, 0.01))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            net(random_tensor(shape=(4, 3), low=-1, high=1)).pow(2).sum().backward()
            optimizer.step()
        assert float(net.weight.grad.abs().max()) <= 0.0101
        return net.weight

    assert agrees(trial(body))


@pytest.mark.oneflow
def test_functions_that_are_not_whole_are_told_in_a_sentence() -> None:
    class Half(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    with pytest.raises(UsageError, match=r"Half.backward: expected 2 gradients.*got 1"):
        trial(lambda: Half.apply(random_tensor(shape=(2,)), random_tensor(shape=(2,))).sum().backward())
    with pytest.raises(UsageError, match=r"expected a dual tensor among the arguments"):
        Half.apply(1.0, 2.0)


def test_a_backward_that_torch_refuses_is_a_refusal_below_a_hook_too() -> None:
    def body() -> Any:
        y = torch.exp(random_tensor(ndim=2))
        y.register_hook(lambda gradient: gradient * 2)
        z = y * y
        with torch.no_grad():
            y.zero_()  # the backward of `z` needs its contents
        return z

    refused = trial(body).rejection
    assert refused is not None
    assert "modified by an inplace operation" in str(refused)
