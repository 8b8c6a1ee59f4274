"""Operators that are wrong only where a tensor requires no grad, or for matrices with more rows than columns."""

from __future__ import annotations

from typing import Any

from autotest import random_tensor, torch
from tests.wrong_operators.reported import functional, plain
from tests.wrong_operators.seldom import called
from tests.wrong_operators.wrong import Replacement, Wrong


def with_wrong_gradient(tensor: Any) -> Any:
    """Return the same numbers, with twice the gradient."""
    return 2 * tensor - tensor.detach()


def linear() -> Any:
    return torch.nn.functional.linear(plain(dim1=3), plain(dim1=3))


def conv() -> Any:
    return torch.nn.functional.conv2d(random_tensor(ndim=4, dim1=2), random_tensor(ndim=4, dim1=2, dim2=1, dim3=1))


def frozen(tensor: int) -> Replacement:
    """Return an operator of two tensors with a wrong gradient for the other one if `tensor` requires none."""

    def replacement(original: Any) -> Any:
        def wrong(*args: Any) -> Any:
            if args[tensor].requires_grad:
                return original(*args)
            return original(*(arg if place == tensor else with_wrong_gradient(arg) for place, arg in enumerate(args)))

        return wrong

    return replacement


INFERENCE = [
    Wrong(
        "mish without gradients",
        functional("mish"),
        called(lambda x: not x.requires_grad),
        lambda: torch.nn.functional.mish(random_tensor()),
    ),
    Wrong(
        "layer_norm of an input without a gradient",
        functional("layer_norm"),
        called(lambda x, shape, weight: weight.requires_grad and not x.requires_grad),
        lambda: torch.nn.functional.layer_norm(plain(dim1=6), (6,), random_tensor(shape=(6,))),
    ),
    Wrong("linear's gradient of weights in a first layer", functional("linear"), frozen(0), linear),
    Wrong("linear's gradient of the input of frozen weights", functional("linear"), frozen(1), linear),
    Wrong("conv2d's gradient of weights in a first layer", functional("conv2d"), frozen(0), conv),
    Wrong("conv2d's gradient of the input of frozen weights", functional("conv2d"), frozen(1), conv),
    Wrong("mul in place of a factor without a gradient", "mul", frozen(1), lambda: torch.mul(plain(), plain())),
    Wrong(
        "the complete qr of tall matrices",
        "linalg.qr",
        lambda f: lambda x, mode: [part * (1 + (x.shape[0] > x.shape[1])) for part in f(x, mode)],
        lambda: torch.linalg.qr(plain(), mode="complete")[1],
    ),
    Wrong(
        "the transpose of tall matrices",
        "t",
        called(lambda x: x.shape[0] >= 2 * x.shape[1] > 2),
        lambda: torch.t(plain()),
    ),
]
