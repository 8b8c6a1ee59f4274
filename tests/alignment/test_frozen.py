"""Operators of which only one operand requires grad, as in a first layer or with frozen weights.

OneFlow 0.9.0 crashes or raises in the backward of some. Each of these is in the ledger, with the operand that requires
no grad.
"""

from __future__ import annotations

import pytest

from autotest import autotest, random_tensor, torch

# Each crash costs the start of a process.
pytestmark = pytest.mark.slow


def tensor(*shape, requires_grad=True):
    return random_tensor(shape=shape, low=0.5, high=2, layout="contiguous", requires_grad=requires_grad)


OPERATORS = {
    "bmm": lambda x, y: torch.bmm(x(2, 3, 4), y(2, 4, 3)),
    "conv1d": lambda x, y: torch.nn.functional.conv1d(x(2, 3, 5), y(4, 3, 2)),
    "conv2d": lambda x, y: torch.nn.functional.conv2d(x(2, 3, 5, 5), y(4, 3, 2, 2)),
    "conv_transpose1d": lambda x, y: torch.nn.functional.conv_transpose1d(x(2, 3, 4), y(3, 2, 2)),
    "conv_transpose2d": lambda x, y: torch.nn.functional.conv_transpose2d(x(2, 3, 4, 4), y(3, 2, 2, 2)),
    "conv_transpose3d": lambda x, y: torch.nn.functional.conv_transpose3d(x(1, 2, 3, 3, 3), y(2, 2, 2, 2, 2)),
    "cross": lambda x, y: torch.cross(x(3, 4, 3), y(3, 4, 3), dim=2),
    "fmod": lambda x, y: torch.fmod(x(2, 3), y(2, 3)),
    "linear": lambda x, y: torch.nn.functional.linear(x(2, 3), y(4, 3)),
    "where": lambda x, y: torch.where(random_tensor(shape=(2, 3), dtype=bool), x(2, 3), y(2, 3)),
}


def frozen(*shape):
    return tensor(*shape, requires_grad=False)


@pytest.mark.parametrize("name", OPERATORS)
@autotest(n=5)
def test_the_first_operand_is_frozen(name):
    return OPERATORS[name](frozen, tensor)


@pytest.mark.parametrize("name", OPERATORS)
@autotest(n=5)
def test_the_second_operand_is_frozen(name):
    return OPERATORS[name](tensor, frozen)
