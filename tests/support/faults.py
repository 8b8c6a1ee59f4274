"""Planted faults that have names, so that another process can use the same fault.

Each is a factory that returns a `FaultyTorch`: ``AUTOTEST_CANDIDATE=tests.support.faults:wrong_relu``. A fault that
only one test needs should be planted in that test.
"""

from __future__ import annotations

import os
from typing import Any

from tests.support.faulty import FaultyTorch, plus, returning, with_gradient


def none() -> FaultyTorch:
    """Return torch under another name, without a fault."""
    return FaultyTorch(origin=f"{__name__}:none")


def renamed() -> FaultyTorch:
    """Return torch without a fault under a name that no other fault has."""
    return FaultyTorch(name="right", origin=f"{__name__}:renamed")


def wrong_relu() -> FaultyTorch:
    """Return torch whose relu is off by one."""
    return FaultyTorch({"relu": plus(1.0)}, origin=f"{__name__}:wrong_relu")


def wrong_relu_gradient() -> FaultyTorch:
    """Return torch whose relu has twice the right gradient."""
    return FaultyTorch({"relu": with_gradient(lambda gradient: gradient * 2)}, origin=f"{__name__}:wrong_relu_gradient")


def wrong_in_this_process() -> FaultyTorch:
    """Return torch whose relu is off by one in the process that first planted the fault, and right in any other."""
    home = os.environ.setdefault("TESTS_FAULT_HOME", str(os.getpid()))
    amount = 1.0 if home == str(os.getpid()) else 0.0
    return FaultyTorch({"relu": plus(amount)}, origin=f"{__name__}:wrong_in_this_process")


def missing_relu() -> FaultyTorch:
    """Return torch without relu."""
    return FaultyTorch(missing=("relu",), origin=f"{__name__}:missing_relu")


def short_relu() -> FaultyTorch:
    """Return torch whose relu omits the last row."""
    return FaultyTorch({"relu": returning(lambda result: result[:-1])}, origin=f"{__name__}:short_relu")


def dies_of_nothing() -> FaultyTorch:
    """Return torch whose relu kills the process if its argument has no elements."""

    def dying(relu: Any) -> Any:
        return lambda x: relu(x) if x.numel() else os.abort()

    return FaultyTorch({"relu": dying}, origin=f"{__name__}:dies_of_nothing")


def wrong_late_gradient() -> FaultyTorch:
    """Return torch whose gradient of exp has a wrong last element if it has more than sixty elements."""

    def change(gradient: Any) -> Any:
        changed = gradient.clone()
        if changed.numel() > 60:
            changed.view(-1)[-1] *= 1.01
        return changed

    return FaultyTorch({"exp": with_gradient(change)}, origin=f"{__name__}:wrong_late_gradient")


def wrong_second_derivative() -> FaultyTorch:
    """Return torch whose square has the right gradient, but twice the right second derivative."""
    import torch

    class Squares(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * with_gradient(lambda gradient: 2 * gradient)(lambda y: y * 1)(x) * cotangent

    return FaultyTorch({"square": lambda _: lambda x: Squares.apply(x)}, origin=f"{__name__}:wrong_second_derivative")  # noqa: PLW0108 - it has no signature


def wrong_tangent() -> FaultyTorch:
    """Return torch whose square is right except in forward-mode differentiation."""
    import torch

    class Squares(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> Any:
            return 2 * ctx.saved_tensors[0] * cotangent

        @staticmethod
        def jvp(ctx: Any, tangent: Any) -> Any:
            return 2.01 * ctx.saved_tensors[0] * tangent

    return FaultyTorch({"square": lambda _: lambda x: Squares.apply(x)}, origin=f"{__name__}:wrong_tangent")  # noqa: PLW0108 - it has no signature


def wrong_gradients() -> FaultyTorch:
    """Return torch whose tanh, exp and sin have twice the right gradient."""
    twice = with_gradient(lambda gradient: gradient * 2)
    return FaultyTorch(dict.fromkeys(("tanh", "exp", "sin"), twice), origin=f"{__name__}:wrong_gradients")
