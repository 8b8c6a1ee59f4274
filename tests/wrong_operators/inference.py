"""Operators that are wrong only without gradients, for tall matrices, in groups, or for a few special numbers."""

from __future__ import annotations

from typing import Any

from autotest import nothing, random, random_tensor, torch
from tests.wrong_operators.reported import functional, plain
from tests.wrong_operators.seldom import called
from tests.wrong_operators.wrong import Replacement, Wrong
from tests.wrong_operators.wrong import torch as real


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


def in_groups(cls: Any) -> Any:
    """Return a convolution that is wrong with several groups."""

    class Conv2d(cls):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return super().forward(x) * (1 + (self.groups > 1))

    return Conv2d


def convolution(channels: Any) -> Any:
    groups = random(1, 5) | nothing()
    m = torch.nn.Conv2d(channels, random(1, 6), random(1, 4), padding=random(1, 3) | nothing(), groups=groups)
    return m(random_tensor(ndim=4, dim1=channels, dim2=7, dim3=7, dtype="float32"))


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
        "a convolution in groups",
        "nn.Conv2d",
        in_groups,
        lambda: convolution(random(1, 6)),
    ),
    Wrong(
        "the transpose of tall matrices",
        "t",
        called(lambda x: x.shape[0] >= 2 * x.shape[1] > 2),
        lambda: torch.t(plain()),
    ),
    Wrong(
        "the sum of a single number",
        "sum",
        called(lambda x: x.shape == (), lambda y: y.detach() * 0 + y - y.detach()),
        lambda: torch.sum(random_tensor()),
    ),
    Wrong(
        "mul takes subnormal numbers for zero",
        "mul",
        lambda f: lambda x, y: f(real().where(x.abs() < real().finfo(x.dtype).tiny, x * 0, x), y),
        lambda: torch.mul(plain(dtype="float32", requires_grad=False), 1e38),
    ),
    Wrong(
        "amin of int64 from the greatest int32",
        "amin",
        lambda f: lambda x, dim: f(x, dim).clamp(max=2**31 - 1),
        lambda: torch.amin(plain(dtype="int64"), 1),
    ),
    Wrong(
        "max_pool2d from the least finite number",
        functional("max_pool2d"),
        lambda f: lambda x, size: f(x, size).clamp(min=-3e38),
        lambda: torch.nn.functional.max_pool2d(random_tensor(ndim=4, dim2=6, dim3=6), 2),
    ),
]
