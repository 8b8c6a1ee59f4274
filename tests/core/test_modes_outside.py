"""Outside of trials, `torch.no_grad()` of the dual torch holds for every dual object."""

from __future__ import annotations

import pytest

from autotest import torch


@pytest.fixture(autouse=True)
def _outside(against):
    against()


def test_no_grad_holds_for_a_tensor_that_exists_already():
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        y = x * 2
    assert not y.requires_grad
    assert (x * 2).requires_grad


def test_a_network_can_be_built_and_called_without_gradients():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(3) * 2)

        def forward(self, x):
            return x * self.scale

    x = torch.ones(3)
    with torch.no_grad():
        y = Net()(x)
    assert not y.requires_grad


def test_a_function_can_be_applied():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 100

    x = torch.ones(3, requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad.reference.tolist() == [100] * 3
