"""Operators whose formula fails somewhere: where it overflows, at corners, for some integers or arguments."""

from __future__ import annotations

from autotest import oneof, random, random_tensor, torch
from tests.wrong_operators.wrong import (
    Wrong,
    in_single,
    through,
)
from tests.wrong_operators.wrong import torch as real

FORMULAS = [
    Wrong(
        "cumsum wrong for negative dim",
        "cumsum",
        lambda f: lambda x, dim: f(x, dim) if dim >= 0 else f(x, 0),
        lambda: torch.cumsum(random_tensor(ndim=3), dim=random(-3, 3)),
    ),
    Wrong(
        "softmax overflow",
        "softmax",
        lambda f: lambda x, dim: x.exp() / x.exp().sum(dim, keepdim=True),
        lambda: torch.softmax(random_tensor(ndim=2), dim=1),
    ),
    Wrong(
        "log_softmax underflow",
        "nn.functional.log_softmax",
        lambda f: lambda x, dim: x.softmax(dim).log(),
        lambda: torch.nn.functional.log_softmax(random_tensor(ndim=2), dim=1),
    ),
    Wrong(
        "argmax last of ties",
        "argmax",
        lambda f: lambda x, dim: x.shape[dim] - 1 - f(x.flip(dim), dim),
        lambda: torch.argmax(random_tensor(ndim=2), dim=1),
    ),
    Wrong(
        "argmin last of ties",
        "argmin",
        lambda f: lambda x, dim: x.shape[dim] - 1 - f(x.flip(dim), dim),
        lambda: torch.argmin(random_tensor(ndim=2), dim=1),
    ),
    Wrong(
        "topk smallest with NaN",
        "topk",
        lambda f: lambda x, k, largest=True: f(x.nan_to_num(nan=-3.0), k, largest=largest),
        lambda: torch.topk(random_tensor(ndim=1, dim0=8), 3)[0],
    ),
    Wrong(
        "median upper",
        "median",
        lambda f: lambda x: f(-x).neg() if x.numel() % 2 == 0 else f(x),
        lambda: torch.median(random_tensor(ndim=2)),
    ),
    Wrong(
        "logsumexp of all -inf",
        "logsumexp",
        lambda f: lambda x, dim: (x - x.amax(dim, keepdim=True)).exp().sum(dim).log() + x.amax(dim),
        lambda: torch.logsumexp(random_tensor(ndim=2), dim=1),
    ),
    Wrong(
        "prod zero gradient",
        "prod",
        lambda f: (
            lambda x: (
                through(lambda g, y: g.nan_to_num())(f(x)) if not bool((x == 0).any()) else f(x.detach()) + 0 * x.sum()
            )
        ),
        lambda: torch.prod(random_tensor(ndim=2)),
    ),
    Wrong(
        "var biased",
        "var",
        lambda f: lambda x, dim: f(x, dim, unbiased=False),
        lambda: torch.var(random_tensor(ndim=2), dim=1),
    ),
    Wrong(
        "std two pass cancel",
        "std",
        lambda f: (
            lambda x: ((x * x).mean() - x.mean() ** 2).clamp(min=0).sqrt() * (x.numel() / max(x.numel() - 1, 1)) ** 0.5
        ),
        lambda: torch.std(random_tensor(ndim=2)),
    ),
    Wrong(
        "norm gradient at zero is NaN",
        "norm",
        lambda f: lambda x: (x * x).sum().sqrt(),
        lambda: torch.norm(random_tensor(ndim=1)),
    ),
    Wrong(
        "norm p=1 gradient sign",
        "norm",
        lambda f: lambda x, p: f(x, p) if p != 1 else through(lambda g, y: g * -1)(f(x, p)),
        lambda: torch.norm(random_tensor(ndim=2), p=random(1, 4)),
    ),
    Wrong(
        "nansum counts inf as 0",
        "nansum",
        lambda f: lambda x: x.nan_to_num(0, 0, 0).sum(),
        lambda: torch.nansum(random_tensor(ndim=2)),
    ),
    Wrong(
        "all of nan",
        "all",
        lambda f: lambda x: f(x.nan_to_num(nan=0.0) != 0),
        lambda: torch.all(random_tensor(ndim=2, requires_grad=False)),
    ),
    Wrong(
        "clamp with NaN bound min",
        "clamp",
        lambda f: lambda x, **bounds: f(x.nan_to_num(nan=0.0), **bounds),
        lambda: torch.clamp(random_tensor(ndim=2), min=-1, max=1),
    ),
    Wrong(
        "round half away",
        "round",
        lambda f: lambda x: real().sign(x) * real().floor(x.abs() + 0.5),
        lambda: torch.round(random_tensor(ndim=2)),
    ),
    Wrong(
        "true_divide by zero int",
        "div",
        lambda f: lambda x, y: f(x, y).nan_to_num(posinf=0, neginf=0, nan=0),
        lambda: torch.div(random_tensor(ndim=2), random_tensor(ndim=2)),
    ),
    Wrong(
        "floor_divide int negative",
        "floor_divide",
        lambda f: lambda x, y: real().div(x, y, rounding_mode="trunc"),
        lambda: torch.floor_divide(random_tensor(ndim=2, dtype=int), random_tensor(ndim=2, dtype=int, low=1, high=9)),
    ),
    Wrong(
        "div rounding_mode floor is trunc",
        "div",
        lambda f: lambda x, y, rounding_mode: f(x, y, rounding_mode="trunc"),
        lambda: torch.div(random_tensor(ndim=2), random_tensor(ndim=2), rounding_mode="floor"),
    ),
    Wrong(
        "remainder of negative ints",
        "remainder",
        lambda f: lambda x, y: real().fmod(x, y),
        lambda: torch.remainder(random_tensor(ndim=2, dtype="int32"), 3),
    ),
    Wrong(
        "shift left of negative",
        "bitwise_left_shift",
        lambda f: lambda x, y: f(x.abs(), y),
        lambda: torch.bitwise_left_shift(
            random_tensor(ndim=2, dtype=int), random_tensor(ndim=2, dtype=int, low=0, high=4)
        ),
    ),
    Wrong(
        "shift right logical",
        "bitwise_right_shift",
        lambda f: lambda x, y: real().where(x < 0, f(x, y) & 0x7FFFFFFF, f(x, y)),
        lambda: torch.bitwise_right_shift(
            random_tensor(ndim=2, dtype="int64"), random_tensor(ndim=2, dtype="int64", low=0, high=4)
        ),
    ),
    Wrong(
        "int32 add overflow saturates",
        "add",
        lambda f: lambda x, y: f(x.long(), y.long()).clamp(-(2**31), 2**31 - 1).int(),
        lambda: torch.add(random_tensor(ndim=2, dtype="int32"), random_tensor(ndim=2, dtype="int32")),
    ),
    Wrong(
        "uint8 sub wraps",
        "sub",
        lambda f: lambda x, y: f(x.int(), y.int()).clamp(0, 255).byte(),
        lambda: torch.sub(random_tensor(ndim=1, dtype="uint8"), random_tensor(ndim=1, dtype="uint8")),
    ),
    Wrong(
        "int8 abs",
        "abs",
        lambda f: lambda x: f(x.int()).clamp(max=127).to(x.dtype),
        lambda: torch.abs(random_tensor(ndim=1, dtype="int8")),
    ),
    Wrong(
        "mul promotes int*float to double",
        "mul",
        lambda f: lambda x, y: f(x, y.double()),
        lambda: torch.mul(random_tensor(ndim=2, dtype=int), random_tensor(ndim=2, dtype="float32")),
    ),
    Wrong(
        "where gradient leaks NaN",
        "where",
        lambda f: lambda c, x, y: c * x + (~c) * y,
        lambda: torch.where(random_tensor(ndim=2, dtype=bool), random_tensor(ndim=2), random_tensor(ndim=2)),
    ),
    Wrong(
        "gelu tanh is erf",
        "nn.functional.gelu",
        lambda f: lambda x, approximate="none": f(x),
        lambda: torch.nn.functional.gelu(random_tensor(ndim=2), approximate=oneof("none", "tanh")),
    ),
    Wrong(
        "gelu always tanh",
        "nn.functional.gelu",
        lambda f: lambda x: f(x, approximate="tanh"),
        lambda: torch.nn.functional.gelu(random_tensor(ndim=2)),
    ),
    Wrong(
        "softplus threshold",
        "nn.functional.softplus",
        lambda f: lambda x, beta=1: f(x, beta=beta, threshold=5),
        lambda: torch.nn.functional.softplus(random_tensor(ndim=2)),
    ),
    Wrong(
        "hardtanh gradient at bound",
        "nn.functional.hardtanh",
        lambda f: lambda x: real().where(x.abs() == 1, x * 2 - x.detach(), f(x)),
        lambda: torch.nn.functional.hardtanh(random_tensor(ndim=2)),
    ),
    Wrong(
        "sinc at zero",
        "sinc",
        lambda f: lambda x: (x * 3.141592653589793).sin() / (x * 3.141592653589793),
        lambda: torch.sinc(random_tensor(ndim=2)),
    ),
    Wrong(
        "xlogy at zero",
        "xlogy",
        lambda f: lambda x, y: x * y.log(),
        lambda: torch.xlogy(random_tensor(ndim=2), random_tensor(ndim=2)),
    ),
    Wrong(
        "hypot overflow",
        "hypot",
        lambda f: lambda x, y: (x * x + y * y).sqrt(),
        lambda: torch.hypot(random_tensor(ndim=2), random_tensor(ndim=2)),
    ),
    Wrong(
        "logaddexp unstable",
        "logaddexp",
        lambda f: lambda x, y: (x.exp() + y.exp()).log(),
        lambda: torch.logaddexp(random_tensor(ndim=2), random_tensor(ndim=2)),
    ),
    Wrong(
        "sigmoid unstable",
        "sigmoid",
        lambda f: lambda x: x.exp() / (1 + x.exp()),
        lambda: torch.sigmoid(random_tensor(ndim=2)),
    ),
    Wrong(
        "logsigmoid unstable",
        "nn.functional.logsigmoid",
        lambda f: lambda x: x.sigmoid().log(),
        lambda: torch.nn.functional.logsigmoid(random_tensor(ndim=2)),
    ),
    Wrong(
        "pow 0 to the 0",
        "pow",
        lambda f: lambda x, y: real().where(y == 0, x * 0, f(x, y)),
        lambda: torch.pow(random_tensor(ndim=2), random_tensor(ndim=2)),
    ),
    Wrong(
        "rsqrt of zero", "rsqrt", lambda f: lambda x: f(x.clamp(min=1e-12)), lambda: torch.rsqrt(random_tensor(ndim=2))
    ),
    Wrong(
        "copysign of -0",
        "copysign",
        lambda f: lambda x, y: real().where(y < 0, -x.abs(), x.abs()),
        lambda: torch.copysign(random_tensor(ndim=2), random_tensor(ndim=2)),
    ),
    Wrong(
        "lerp weight beyond 1",
        "lerp",
        lambda f: lambda x, y, wt: f(x, y, min(wt, 1.0)),
        lambda: torch.lerp(random_tensor(ndim=2), random_tensor(ndim=2), random().to(float)),
    ),
    Wrong(
        "nan_to_num posinf",
        "nan_to_num",
        lambda f: lambda x: f(x, posinf=0.0),
        lambda: torch.nan_to_num(random_tensor(ndim=2)),
    ),
    Wrong(
        "signbit of -0",
        "signbit",
        lambda f: lambda x: x < 0,
        lambda: torch.signbit(random_tensor(ndim=2, requires_grad=False)),
    ),
    Wrong("exp2 truncated", "exp2", lambda f: lambda x: f(x.trunc()), lambda: torch.exp2(random_tensor(ndim=2))),
    Wrong("log10 float64", "log10", in_single, lambda: torch.log10(random_tensor(ndim=2))),
    Wrong(
        "maximum NaN gradient",
        "maximum",
        lambda f: lambda x, y: real().where(x > y, x, y),
        lambda: torch.maximum(random_tensor(ndim=2), random_tensor(ndim=2)),
    ),
    Wrong(
        "fmax NaN",
        "fmax",
        lambda f: lambda x, y: real().maximum(x, y),
        lambda: torch.fmax(random_tensor(ndim=2), random_tensor(ndim=2)),
    ),
    Wrong(
        "comparison ne of NaN",
        "ne",
        lambda f: lambda x, y: (x < y) | (x > y),
        lambda: torch.ne(random_tensor(ndim=2, requires_grad=False), random_tensor(ndim=2, requires_grad=False)),
    ),
]
