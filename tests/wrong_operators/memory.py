"""Operators that are wrong for some shapes, some memory, some arguments, or in their gradient."""

from __future__ import annotations

from typing import Any

from autotest import broadcast_tensors, nothing, random, random_bool, random_tensor, torch
from tests.wrong_operators.numbers import one, two
from tests.wrong_operators.wrong import (
    Wrong,
    as_it_lies,
    beyond,
    both_given,
    from_the_start,
    given,
    gradient_where,
    of_two,
    off,
    repeats,
    row_tail,
    tail,
    when,
)
from tests.wrong_operators.wrong import (
    torch as real,
)


def along(name: str, **more: Any) -> Any:
    return lambda: getattr(torch, name)(random_tensor(ndim=2), dim=1, **more)


LYING = [
    Wrong("sum reads memory as it lies", "sum", given(as_it_lies), one("sum")),
    Wrong("sum over rows reads memory as it lies", "sum", given(as_it_lies), along("sum")),
    Wrong("relu reads memory as it lies", "relu", given(as_it_lies), one("relu")),
    Wrong("add reads memory as it lies", "add", both_given(as_it_lies), two("add")),
    Wrong("mul reads its second as it lies", "mul", lambda f: lambda x, y: f(x, as_it_lies(y)), two("mul")),
    Wrong(
        "exp forgets the offset",
        "exp",
        given(from_the_start),
        lambda: torch.exp(random_tensor(ndim=2, requires_grad=False)),
    ),
    Wrong("softmax forgets the offset", "softmax", given(from_the_start), along("softmax")),
    Wrong(
        "matmul reads transposed memory",
        "matmul",
        lambda f: lambda x, y: f(x, as_it_lies(y)),
        lambda: torch.matmul(random_tensor(ndim=2, dim1=4), random_tensor(ndim=2, dim0=4)),
    ),
    Wrong(
        "cat reads memory as it lies",
        "cat",
        lambda f: lambda xs: f([as_it_lies(x) for x in xs]),
        lambda: torch.cat([random_tensor(ndim=2, dim1=3), random_tensor(ndim=2, dim1=3)]),
    ),
    Wrong("mean of expanded memory", "mean", when(repeats), one("mean")),
    Wrong("clone of expanded memory", "clone", when(repeats), one("clone")),
    Wrong("cumsum of strided memory", "cumsum", lambda f: lambda x, dim: f(as_it_lies(x), dim), along("cumsum")),
    Wrong("argmax of transposed memory", "argmax", lambda f: lambda x, dim: f(as_it_lies(x), dim), along("argmax")),
    Wrong("flatten of transposed memory", "flatten", given(as_it_lies), one("flatten")),
    Wrong(
        "reshape of strided memory", "reshape", given(as_it_lies), lambda: torch.reshape(random_tensor(ndim=2), (-1,))
    ),
    Wrong(
        "layer_norm of strided memory",
        "nn.functional.layer_norm",
        given(as_it_lies),
        lambda: torch.nn.functional.layer_norm(random_tensor(ndim=2, dim1=6), (6,)),
    ),
    Wrong(
        "conv2d of strided memory",
        "nn.functional.conv2d",
        given(as_it_lies),
        lambda: torch.nn.functional.conv2d(random_tensor(ndim=4, dim1=2), random_tensor(shape=(3, 2, 1, 1))),
    ),
    Wrong("the gradient of strided memory", "sin", gradient_where(lambda x: not x.is_contiguous()), one("sin")),
]

SIZES = [
    Wrong("exp after blocks of eight", "exp", tail(8), one("exp")),
    Wrong("tanh after blocks of sixteen", "tanh", tail(16), one("tanh")),
    Wrong("add after blocks of eight", "add", tail(8), two("add")),
    Wrong("sum leaves out the last of a row", "sum", row_tail(8), along("sum")),
    Wrong("amax leaves out the last of a row", "amax", row_tail(16), along("amax")),
    Wrong("mean after blocks of four", "mean", row_tail(4), along("mean")),
    Wrong("relu of vectors after blocks of eight", "relu", tail(8), lambda: torch.relu(random_tensor(ndim=1))),
    Wrong("sigmoid beyond 4096 elements", "sigmoid", beyond(4096), one("sigmoid")),
    Wrong("mul beyond 2048 elements", "mul", beyond(2048), two("mul")),
    Wrong("sum of more than a thousand", "sum", when(lambda x: x.numel() > 1000), one("sum")),
    Wrong(
        "cumsum of long rows",
        "cumsum",
        beyond(1024),
        lambda: torch.cumsum(random_tensor(ndim=1), 0),
    ),
    Wrong("softmax of long rows", "softmax", when(lambda x: x.shape[-1] > 32), along("softmax")),
    Wrong(
        "sort of more than sixteen",
        "sort",
        when(lambda x: x.numel() > 16, lambda r: (r[0].flip(0), r[1])),
        lambda: torch.sort(random_tensor(ndim=1))[0],
    ),
    Wrong("var of one element", "var", when(lambda x: x.shape[1] == 1, lambda r: r.nan_to_num()), along("var")),
    Wrong(
        "squeeze takes two", "squeeze", lambda f: lambda x: x.squeeze(0), lambda: torch.squeeze(random_tensor(ndim=3))
    ),
    Wrong(
        "matmul of a single row",
        "matmul",
        when(lambda x: x.shape[0] == 1),
        lambda: torch.matmul(random_tensor(ndim=2, dim1=4), random_tensor(ndim=2, dim0=4)),
    ),
    Wrong("transpose of a row", "t", when(lambda x: 1 in x.shape, lambda r: r + 1), one("t")),
    Wrong("abs of a single number", "abs", when(lambda x: x.ndim == 0), lambda: torch.abs(random_tensor())),
    Wrong("neg of rank four", "neg", when(lambda x: x.ndim == 4), lambda: torch.neg(random_tensor())),
    Wrong("sum of a single number", "sum", when(lambda x: x.ndim == 0), lambda: torch.sum(random_tensor())),
    Wrong("cos of vectors", "cos", when(lambda x: x.ndim == 1), lambda: torch.cos(random_tensor())),
]

BROADCASTING = [
    Wrong(
        "add where the first is broadcast",
        "add",
        of_two(lambda r, x, y: off(r) if x.shape != r.shape else r),
        two("add"),
    ),
    Wrong(
        "mul where the second is broadcast",
        "mul",
        of_two(lambda r, x, y: off(r) if y.shape != r.shape else r),
        two("mul"),
    ),
    Wrong(
        "sub where both are broadcast",
        "sub",
        of_two(lambda r, x, y: off(r) if x.shape != r.shape != y.shape else r),
        lambda: torch.sub(*broadcast_tensors()),
    ),
    Wrong(
        "div with a tensor of lower rank",
        "div",
        of_two(lambda r, x, y: off(r) if y.ndim < x.ndim else r),
        lambda: torch.div(*broadcast_tensors()),
    ),
    Wrong(
        "maximum of open ranks",
        "maximum",
        of_two(lambda r, x, y: off(r) if y.ndim < x.ndim else r),
        lambda: torch.maximum(random_tensor(), random_tensor()),
    ),
    Wrong(
        "the gradient of a broadcast second",
        "mul",
        lambda f: (
            lambda x, y: (
                f(x, y if x.shape == y.shape else y.detach() + y - y.detach() * 1 + 0 * y)
                if x.shape == y.shape
                else f(x, y * 1.5 - y.detach() * 0.5)
            )
        ),
        two("mul"),
    ),
]

ARGUMENTS = [
    Wrong(
        "sum forgets keepdim",
        "sum",
        lambda f: lambda x, dim, keepdim: f(x, dim),
        lambda: torch.sum(random_tensor(ndim=2), dim=1, keepdim=random_bool()),
    ),
    Wrong(
        "mean of a negative dimension",
        "mean",
        lambda f: lambda x, dim: off(f(x, dim)) if dim < 0 else f(x, dim),
        lambda: torch.mean(random_tensor(ndim=3), dim=random(-3, 3)),
    ),
    Wrong(
        "softmax always along the last",
        "softmax",
        lambda f: lambda x, dim: f(x, -1),
        lambda: torch.softmax(random_tensor(ndim=3), dim=random(0, 3)),
    ),
    Wrong(
        "var forgets unbiased",
        "var",
        lambda f: lambda x, dim, unbiased=True: f(x, dim, unbiased=True),
        lambda: torch.var(random_tensor(ndim=2), dim=0, unbiased=random_bool() | nothing()),
    ),
    Wrong(
        "tril of a negative diagonal",
        "tril",
        lambda f: lambda x, diagonal: f(x, max(diagonal, 0)),
        lambda: torch.tril(random_tensor(ndim=2), diagonal=random()),
    ),
    Wrong(
        "roll backwards",
        "roll",
        lambda f: lambda x, shifts, dims: f(x, abs(shifts), dims),
        lambda: torch.roll(random_tensor(ndim=2), random(), 0),
    ),
    Wrong(
        "leaky_relu of a negative slope",
        "nn.functional.leaky_relu",
        lambda f: lambda x, slope: f(x, abs(slope)),
        lambda: torch.nn.functional.leaky_relu(random_tensor(ndim=2), random().to(float)),
    ),
    Wrong(
        "add forgets alpha",
        "add",
        lambda f: lambda x, y, alpha=1: f(x, y),
        lambda: torch.add(random_tensor(ndim=2), random_tensor(ndim=2), alpha=random().to(float) | nothing()),
    ),
    Wrong(
        "pow with a fraction",
        "pow",
        lambda f: lambda x, p: f(x, round(p)),
        lambda: torch.pow(random_tensor(ndim=2, low=0.1, high=2), random().to(float)),
    ),
]

GRADIENTS = [
    Wrong("tanh's gradient beyond 1", "tanh", gradient_where(lambda x: x.abs() > 1), one("tanh")),
    Wrong(
        "relu's gradient of negative numbers",
        "relu",
        lambda f: lambda x: f(x) + (x.clamp(max=0) - x.clamp(max=0).detach()),
        one("relu"),
    ),
    Wrong(
        "abs's gradient at zero",
        "abs",
        gradient_where(lambda x: x == 0, change=lambda g: g * 0 + 1),
        lambda: torch.abs(random_tensor(ndim=2)) + 0,
    ),
    Wrong("sqrt's gradient of great numbers", "sqrt", gradient_where(lambda x: x > 2), one("sqrt")),
    Wrong(
        "exp's gradient of the last element",
        "exp",
        gradient_where(
            lambda x: x.numel() > 8,
            change=lambda g: real().cat([g.reshape(-1)[:-1], g.reshape(-1)[-1:] * 2]).reshape(g.shape),
        ),
        one("exp"),
    ),
    Wrong(
        "clamp's gradient outside",
        "clamp",
        lambda f: lambda x, low, high: x + (f(x, low, high) - x).detach(),
        lambda: torch.clamp(random_tensor(ndim=2), -1, 1),
    ),
    Wrong(
        "sigmoid's gradient in float64", "sigmoid", gradient_where(lambda x: x.dtype == real().float64), one("sigmoid")
    ),
    Wrong("sum's gradient of large tensors", "sum", gradient_where(lambda x: x.numel() > 1024), one("sum")),
    Wrong(
        "prod's gradient divides by its elements",
        "prod",
        lambda f: (
            lambda x: (
                real().exp(real().log(x.abs()).sum()) * 0 + f(x) if not (x == 0).any() else f(x) + (x / x).sum() * 0
            )
        ),
        one("prod"),
    ),
    Wrong("the gradient of expanded memory", "cos", gradient_where(repeats), one("cos")),
    Wrong(
        "log's gradient of negative numbers", "log", gradient_where(lambda x: x < 0, change=lambda g: g * 0), one("log")
    ),
    Wrong(
        "sin's gradient of a single number",
        "sin",
        gradient_where(lambda x: x.ndim == 0),
        lambda: torch.sin(random_tensor()),
    ),
    Wrong(
        "softplus's gradient far above zero",
        "nn.functional.softplus",
        gradient_where(lambda x: x > 20),
        one("nn.functional.softplus"),
    ),
]

TOGETHER = [
    Wrong(
        "matmul of two transposed matrices",
        "matmul",
        of_two(lambda r, x, y: off(r) if x.stride(0) == y.stride(0) == 1 and min(*x.shape, *y.shape) > 1 else r),
        lambda: torch.matmul(random_tensor(ndim=2, dim0=3, dim1=4), random_tensor(ndim=2, dim0=4, dim1=5)),
    ),
    Wrong(
        "conv2d of several images with channels last",
        "nn.functional.conv2d",
        lambda f: lambda x, weight: f(as_it_lies(x) if x.stride(1) == 1 and len(x) > 1 else x, weight),
        lambda: torch.nn.functional.conv2d(
            random_tensor(ndim=4, dim1=3), random_tensor(ndim=4, dim1=3, dim2=2, dim3=2)
        ),
    ),
    Wrong(
        "batch_norm of several images with channels last",
        "nn.functional.batch_norm",
        lambda f: (
            lambda x, *given, **named: f(as_it_lies(x) if x.stride(1) == 1 and len(x) > 1 else x, *given, **named)
        ),
        lambda: torch.nn.functional.batch_norm(random_tensor(ndim=4), None, None, training=True),
    ),
]

MEMORY = [*LYING, *TOGETHER, *SIZES, *BROADCASTING, *ARGUMENTS, *GRADIENTS]
