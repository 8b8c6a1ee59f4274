"""Operators with faults that users of frameworks have reported."""

from __future__ import annotations

from typing import Any

from autotest import oneof, random, random_bool, random_tensor, torch
from tests.wrong_operators.memory import along
from tests.wrong_operators.numbers import one, two
from tests.wrong_operators.wrong import (
    Replacement,
    Wrong,
    as_it_lies,
    beyond,
    given,
    of_two,
    off,
    through,
)
from tests.wrong_operators.wrong import torch as real

INF = float("inf")


def functional(name: str) -> str:
    return f"nn.functional.{name}"


def plain(**more: Any) -> Any:
    return random_tensor(ndim=2, **more)


def places(count: int, *shape: int) -> Any:
    return random_tensor(shape=shape, dtype="int64", low=0, high=count)


def image() -> Any:
    return random_tensor(ndim=4, dim1=2, dim2=random(6, 10), dim3=random(6, 10))


def in_double(change: Replacement) -> Replacement:
    """Return an operator that is wrong for float64 only."""

    def replacement(original: Any) -> Any:
        wrong = change(original)
        return lambda x: (wrong if x.dtype == real().float64 else original)(x)

    return replacement


def where_expanded(dim: int) -> Replacement:
    """Return an operator that is wrong if its first argument is expanded along dimension `dim`."""

    def repeats(x: Any) -> bool:
        return bool(x.stride(dim) == 0 and x.shape[dim] > 1)

    return lambda f: lambda x, *args, **kwargs: f(x, *args, **kwargs) + repeats(x)


def of_ranks(first: int, second: int) -> Replacement:
    return of_two(lambda r, x, y: off(r) if (x.ndim, y.ndim) == (first, second) else r)


def gathered(f: Any) -> Any:
    """Return an operator whose gradient counts an element that is read several times only once."""

    def gather(x: Any, dim: int, index: Any) -> Any:
        class Taken(real().autograd.Function):  # type: ignore[misc]
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return f(x, dim, index)

            @staticmethod
            def backward(ctx: Any, gradient: Any) -> Any:
                return real().zeros(x.shape, dtype=x.dtype).scatter(dim, index, gradient)

        return Taken.apply(x)

    return gather


def overhanging(f: Any) -> Any:
    """Average windows beyond the padded image over their full size."""

    def pool(x: Any, size: int, stride: int, padding: int, ceil_mode: bool, count_include_pad: bool) -> Any:
        divisor = size**2 if ceil_mode and count_include_pad else None
        return f(x, size, stride, padding, ceil_mode, count_include_pad, divisor_override=divisor)

    return pool


def aligned_at_the_end(f: Any) -> Any:
    def attention(q: Any, k: Any, v: Any, is_causal: bool) -> Any:
        rows, columns = q.shape[-2], k.shape[-2]
        mask = real().ones(rows, columns, dtype=real().bool).tril(columns - rows)
        return f(q, k, v, attn_mask=mask) if is_causal else f(q, k, v)

    return attention


def smoothed(f: Any) -> Any:
    """Include ignored targets in label smoothing."""

    def loss(x: Any, y: Any, ignore_index: int, label_smoothing: float) -> Any:
        right = f(x, y, ignore_index=ignore_index, label_smoothing=label_smoothing)
        return right + label_smoothing * (y == ignore_index).sum()

    return loss


def bounded(x: Any, min: float, max: float) -> Any:  # noqa: A002 - as torch calls them
    """clamp whose lower bound takes precedence over its upper one."""
    upper, lower = real().tensor(max, dtype=x.dtype), real().tensor(min, dtype=x.dtype)
    return x.minimum(upper).maximum(lower)


MEMORY = [
    Wrong(
        "addcdiv divides by memory as it lies",
        "addcdiv",
        lambda f: lambda x, y, z: f(x, y, as_it_lies(z)),
        lambda: torch.addcdiv(plain(), plain(), plain()),
    ),
    Wrong(
        "mv of a vector that is one number",
        "mv",
        lambda f: lambda x, y: f(x, y) + (y.stride(0) == 0),
        lambda: torch.mv(plain(dim1=3), random_tensor(ndim=1, dim0=3)),
    ),
    Wrong("amin of rows that are one number", "amin", where_expanded(1), along("amin")),
    Wrong(
        "bmm of one matrix as many",
        "bmm",
        where_expanded(0),
        lambda: torch.bmm(random_tensor(ndim=3, dim2=3), random_tensor(ndim=3, dim1=3)),
    ),
    Wrong(
        "std of rows that are one number has no gradient",
        "std",
        lambda f: lambda x, dim: x.var(dim).sqrt(),
        along("std"),
    ),
]

NUMBERS = [
    Wrong("exp of many doubles", "exp", in_double(beyond(1024)), one("exp")),
    Wrong("amax of doubles is finite", "amax", in_double(given(lambda x: x.nan_to_num(0.0))), one("amax")),
    Wrong(
        "trunc of doubles through whole numbers",
        "trunc",
        in_double(lambda f: lambda x: x.long().to(x.dtype)),
        one("trunc", requires_grad=False),
    ),
    Wrong(
        "sum of int8 in 16 bits", "sum", lambda f: lambda x: f(x, dtype=real().int16).long(), one("sum", dtype="int8")
    ),
    Wrong(
        "lt of uint8 as signed",
        "lt",
        lambda f: lambda x, y: f(x.to(real().int8), y.to(real().int8)),
        two("lt", dtype="uint8"),
    ),
    Wrong(
        "sort of int8 in descending order by negation",
        "sort",
        lambda f: lambda x, descending: real().return_types.sort((-f(-x)[0], f(-x)[1])),
        lambda: torch.sort(random_tensor(ndim=1, dtype="int8"), descending=True)[0],
    ),
    Wrong("fmod by division", "fmod", lambda f: lambda x, y: x - (x / y).trunc() * y, two("fmod", requires_grad=False)),
    Wrong(
        "remainder of infinity",
        "remainder",
        lambda f: lambda x, y: real().where(y.isinf(), x - (x / y).floor() * y, f(x, y)),
        two("remainder"),
    ),
    Wrong(
        "logcumsumexp that begins with minus infinity",
        "logcumsumexp",
        lambda f: lambda x, dim: f(x, dim) + real().where(x.narrow(dim, 0, 1) == -INF, float("nan"), 0.0),
        along("logcumsumexp"),
    ),
    Wrong(
        "bucketize on one side alone",
        "bucketize",
        lambda f: lambda x, bounds, right: f(x, bounds),
        lambda: torch.bucketize(
            plain(requires_grad=False),
            random_tensor(ndim=1, contents="sorted", requires_grad=False),
            right=random_bool(),
        ),
    ),
]

ARGUMENTS = [
    Wrong(
        "index_add of a negative factor",
        "index_add",
        lambda f: lambda x, dim, index, source, alpha: f(x, dim, index, source, alpha=abs(alpha)),
        lambda: torch.index_add(
            random_tensor(shape=(4, 3)), 0, places(4, 5), random_tensor(shape=(5, 3)), alpha=random()
        ),
    ),
    Wrong(
        "arange of a negative step",
        "arange",
        lambda f: lambda start, end, step: f(start, end, step) if step > 0 else f(end, start, -step),
        lambda: torch.arange(random(), random(), random()),
    ),
    Wrong(
        "clamp of bounds that cross",
        "clamp",
        lambda f: bounded,
        lambda: torch.clamp(plain(), min=random(), max=random()),
    ),
    Wrong(
        "roll by more than there are",
        "roll",
        lambda f: lambda x, shift, dim: f(x, shift, dim) if abs(shift) < x.shape[dim] else x.clone(),
        lambda: torch.roll(plain(), random(), 0),
    ),
    Wrong(
        "scatter_reduce of a mean includes itself",
        "scatter_reduce",
        lambda f: (
            lambda x, dim, index, source, reduce, include_self: f(
                x, dim, index, source, reduce=reduce, include_self=include_self or reduce == "mean"
            )
        ),
        lambda: torch.scatter_reduce(
            random_tensor(shape=(4, 3)),
            0,
            places(4, 5, 3),
            random_tensor(shape=(5, 3)),
            reduce=oneof("sum", "prod", "mean", "amax", "amin"),
            include_self=random_bool(),
        ),
    ),
    Wrong(
        "avg_pool2d of windows that hang over",
        functional("avg_pool2d"),
        overhanging,
        lambda: torch.nn.functional.avg_pool2d(
            image(), random(2, 4), random(1, 4), random(0, 2), random_bool(), random_bool()
        ),
    ),
    Wrong(
        "causal attention to more keys",
        functional("scaled_dot_product_attention"),
        aligned_at_the_end,
        lambda: torch.nn.functional.scaled_dot_product_attention(
            random_tensor(ndim=3, dim0=2, dim2=4),
            random_tensor(shape=(2, 5, 4)),
            random_tensor(shape=(2, 5, 4)),
            is_causal=random_bool(),
        ),
    ),
    Wrong(
        "cross_entropy smooths what is ignored",
        functional("cross_entropy"),
        smoothed,
        lambda: torch.nn.functional.cross_entropy(
            random_tensor(shape=(3, 4)), places(4, 3), ignore_index=random(0, 4), label_smoothing=oneof(0.0, 0.1)
        ),
    ),
]

TOGETHER = [
    *[
        Wrong(
            f"sub of ranks {first} and {second}",
            "sub",
            of_ranks(first, second),
            lambda: torch.sub(random_tensor(), random_tensor()),
        )
        for first, second in ((4, 1), (0, 3))
    ],
    Wrong(
        "einsum's gradient of a broadcast first",
        "einsum",
        lambda f: (
            lambda equation, x, y: f(
                equation, x if x.shape == y.shape else through(lambda gradient, _: gradient / 2)(x), y
            )
        ),
        lambda: torch.einsum("ij,ij->j", plain(), plain()),
    ),
    Wrong(
        "gather's gradient of what is taken twice",
        "gather",
        gathered,
        lambda: torch.gather(plain(dim0=4, dim1=3), 0, random_tensor(ndim=2, dim1=3, dtype="int64", low=0, high=4)),
    ),
    Wrong(
        "cdist's gradient of equal points",
        "cdist",
        lambda f: lambda x, y: ((x[:, None] - y) ** 2).sum(-1).sqrt(),
        lambda: torch.cdist(plain(dim1=3), plain(dim1=3)),
    ),
]

REPORTED = [*MEMORY, *NUMBERS, *ARGUMENTS, *TOGETHER]
