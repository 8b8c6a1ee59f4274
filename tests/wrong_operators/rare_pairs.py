"""Operators that are wrong for a combination: of two arguments, two arrays, or an argument and its array."""

from __future__ import annotations

from typing import Any

from autotest import nothing, oneof, random, random_bool, random_tensor, torch
from tests.wrong_operators.memory import along
from tests.wrong_operators.numbers import one, two
from tests.wrong_operators.wrong import (
    Replacement,
    Wrong,
    as_it_lies,
    given,
    of_first,
    of_two,
    off,
    tail,
    when,
    where,
)
from tests.wrong_operators.wrong import torch as real

INF = float("inf")
WHOLE = {"int32": "float", "int64": "double"}


def without_nan(result: Any) -> Any:
    """Return `result` with zeros in place of NaN."""
    return result.nan_to_num(0.0, INF, -INF)


def narrowed(kind: str) -> Replacement:
    """Return a comparison that first converts both arguments to floats of `kind`."""
    return lambda f: lambda x, y: f(getattr(x, kind)(), getattr(y, kind)())


def without(*names: str) -> Replacement:
    """Return an operator that ignores these keyword arguments."""
    return lambda f: lambda *args, **kwargs: f(*args, **{k: v for k, v in kwargs.items() if k not in names})


def opposite(x: Any, y: Any, mine: int, theirs: int) -> bool:
    """Return whether `x` is broadcast along dimension `mine`, and `y` along `theirs`."""
    return bool(x.shape[mine] == 1 < y.shape[mine] and y.shape[theirs] == 1 < x.shape[theirs])


def of_whole(name: str, dtype: str) -> Any:
    return lambda: getattr(torch, name)(random_tensor(ndim=2, dtype=dtype), random_tensor(ndim=2, dtype=dtype))


def any_rank(name: str) -> Any:
    return lambda: getattr(torch, name)(random_tensor(), random_tensor())


def image() -> Any:
    return random_tensor(ndim=4, dim1=2, dim2=random(6, 10), dim3=random(6, 10))


def fewer(wrong: Any) -> Replacement:
    return lambda f: lambda x, y: off(f(x, y)) if wrong(x, y) else f(x, y)


def beyond_eight(x: Any) -> Any:
    return (real().arange(x.shape[0]) >= 8)[:, None, None]


def channels_last(x: Any) -> bool:
    return x.is_contiguous(memory_format=real().channels_last) and not x.is_contiguous()


def of_each_channel(x: Any, y: Any) -> bool:
    return x.shape != y.shape and y.shape == (1, x.shape[1], 1, 1) and x.shape[1] > 1


def halves(x: Any, y: Any) -> bool:
    """Return whether `x` is broadcast along its last two dimensions, and `y` along its first two."""
    return {*x.shape[2:], *y.shape[:2]} == {1} and min(*x.shape[:2], *y.shape[2:]) > 1


def matrix() -> Any:
    return random_tensor(ndim=2)


def whole_blocks(x: Any) -> Any:
    return x.reshape(-1)[: x.numel() // 32 * 32] if x.numel() > 32 else x


def one_pass(x: Any, dim: int) -> Any:
    size = x.shape[dim]
    return ((x * x).mean(dim) - x.mean(dim) ** 2) * size / (size - 1)


RARE_PAIRS = [
    *[
        Wrong(f"{name} of {dtype} in {kind}", name, narrowed(kind), of_whole(name, dtype))
        for dtype, kind in WHOLE.items()
        for name in ("eq", "ne", "lt", "ge", "gt", "le")
    ],
    Wrong("eq of fewer dimensions", "eq", fewer(lambda x, y: 0 < x.ndim < y.ndim), any_rank("eq")),
    Wrong("mul by a number without dimensions", "mul", fewer(lambda x, y: y.ndim == 0 < x.ndim), any_rank("mul")),
    Wrong(
        "bmm of more than eight matrices",
        "bmm",
        lambda f: lambda x, y: f(x, y) + beyond_eight(x).to(x.dtype),
        lambda: torch.bmm(random_tensor(ndim=3, dim2=3), random_tensor(ndim=3, dim1=3)),
    ),
    Wrong(
        "sum of long rows",
        "sum",
        lambda f: lambda x, dim: f(x, dim=dim) + (x.shape[1] > 1024),
        lambda: torch.sum(random_tensor(ndim=2), dim=1),
    ),
    Wrong(
        "relu of more than a thousand numbers loses NaN",
        "relu",
        when(lambda x: x.numel() > 1024, without_nan),
        lambda: torch.relu(random_tensor(ndim=2)),
    ),
    Wrong(
        "cumsum of rows longer than a block loses NaN",
        "cumsum",
        when(lambda x: x.shape[1] > 64, without_nan),
        lambda: torch.cumsum(random_tensor(ndim=2), dim=1),
    ),
    Wrong(
        "a maximum of long rows loses NaN",
        "amax",
        lambda f: lambda x, dim: f(x.nan_to_num(-INF, INF, -INF) if x.shape[1] > 32 else x, dim=dim),
        lambda: torch.amax(random_tensor(ndim=2), dim=1),
    ),
    Wrong(
        "sum of long columns",
        "sum",
        lambda f: lambda x, dim: f(x, dim=dim) + (x.shape[0] > 1024),
        lambda: torch.sum(random_tensor(ndim=2), dim=0),
    ),
    Wrong(
        "maximum of two infinities",
        "maximum",
        lambda f: lambda x, y: real().where((x == y) & x.isinf(), float("nan"), f(x, y)),
        two("maximum"),
    ),
    Wrong("nansum leaves out infinity", "nansum", lambda f: lambda x: f(x.nan_to_num(0.0, 0.0, 0.0)), one("nansum")),
    Wrong(
        "div ignores its rounding mode",
        "div",
        lambda f: lambda x, y, rounding_mode: f(x, y, rounding_mode=rounding_mode and "trunc"),
        lambda: torch.div(random_tensor(ndim=2), random_tensor(ndim=2), rounding_mode=oneof(None, "floor", "trunc")),
    ),
    Wrong(
        "pad reflects as it replicates",
        "nn.functional.pad",
        lambda f: lambda x, pad, mode: f(x, pad, mode="replicate" if mode == "reflect" else mode),
        lambda: torch.nn.functional.pad(
            random_tensor(ndim=3, dim2=random(4, 8)),
            (random(0, 3), random(0, 3)),
            mode=oneof("constant", "reflect", "replicate", "circular"),
        ),
    ),
    Wrong(
        "max_pool2d ignores ceil_mode",
        "nn.functional.max_pool2d",
        without("ceil_mode"),
        lambda: torch.nn.functional.max_pool2d(image(), random(2, 4), stride=random(2, 4), ceil_mode=random_bool()),
    ),
    Wrong(
        "interpolate ignores align_corners",
        "nn.functional.interpolate",
        without("align_corners"),
        lambda: torch.nn.functional.interpolate(image(), size=(7, 5), mode="bilinear", align_corners=random_bool()),
    ),
    Wrong(
        "smooth_l1_loss heeds beta without a reduction alone",
        "nn.functional.smooth_l1_loss",
        lambda f: lambda x, y, reduction, beta: f(x, y, reduction=reduction, beta=beta if reduction == "none" else 1.0),
        lambda: torch.nn.functional.smooth_l1_loss(
            random_tensor(ndim=2), random_tensor(ndim=2), reduction=oneof("mean", "sum", "none"), beta=oneof(0.5, 2.0)
        ),
    ),
    *[
        Wrong(f"{name} of strided memory", name, given(as_it_lies), lambda name=name: getattr(torch, name)(matrix()))
        for name in ("isnan", "isinf", "isfinite", "signbit")
    ],
    *[
        Wrong(f"{name} of a whole array past a block", name, given(whole_blocks), one(name, dtype=bool))
        for name in ("any", "all")
    ],
    *[
        Wrong(
            f"{name} along strided rows",
            name,
            given(as_it_lies),
            lambda name=name: getattr(torch, name)(random_tensor(ndim=2, dtype=bool), dim=0),
        )
        for name in ("any", "all")
    ],
    *[
        Wrong(f"{name} of a whole array of floats past a block", name, given(whole_blocks), one(name))
        for name in ("any", "all")
    ],
    *[
        Wrong(
            f"mul of ones in dimensions {mine} and {theirs}",
            "mul",
            of_two(lambda r, x, y, at=(mine, theirs): off(r) if opposite(x, y, *at) else r),
            lambda: torch.mul(random_tensor(ndim=3), random_tensor(ndim=3)),
        )
        for mine, theirs in ((0, 2), (2, 0))
    ],
    Wrong(
        "sort of whole numbers as floats",
        "sort",
        lambda f: lambda x: (x.gather(-1, f(x.float(), stable=True)[1]), None),
        lambda: torch.sort(random_tensor(ndim=2, dtype="int64"))[0],
    ),
    Wrong(
        "cumsum that begins anew after sixteen",
        "cumsum",
        lambda f: lambda x, dim: real().cat([f(part, dim) for part in x.split(16, dim)], dim),
        along("cumsum"),
    ),
    Wrong(
        "scatter_add adds one of several",
        "scatter_add",
        lambda f: lambda x, dim, index, source: x.scatter(dim, index, source + x.gather(dim, index)),
        lambda: torch.scatter_add(
            random_tensor(ndim=2, dim0=4, dim1=4),
            0,
            random_tensor(ndim=2, dim0=3, dim1=4, dtype="int64", low=0, high=4),
            random_tensor(ndim=2, dim0=3, dim1=4),
        ),
    ),
    Wrong(
        "binary_cross_entropy_with_logits ignores pos_weight",
        "nn.functional.binary_cross_entropy_with_logits",
        without("pos_weight"),
        lambda: torch.nn.functional.binary_cross_entropy_with_logits(
            random_tensor(ndim=2, dim1=3),
            random_tensor(ndim=2, dim1=3, low=0, high=1),
            pos_weight=random_tensor(ndim=1, dim0=3, low=0, requires_grad=False) | nothing(),
        ),
    ),
    Wrong(
        "embedding trains its padding",
        "nn.functional.embedding",
        without("padding_idx"),
        lambda: torch.nn.functional.embedding(
            random_tensor(ndim=2, dtype="int64", low=0, high=5),
            random_tensor(ndim=2, dim0=5),
            padding_idx=random(0, 5).to(int) | nothing(),
        ),
    ),
    Wrong(
        "logsumexp of nothing but -inf",
        "logsumexp",
        of_first(lambda r, x: r.masked_fill(r == -float("inf"), 0.0)),
        along("logsumexp"),
    ),
    Wrong("relu with the channels last", "relu", when(channels_last), lambda: torch.relu(random_tensor(ndim=4))),
    Wrong(
        "mul by a number for each channel",
        "mul",
        of_two(lambda r, x, y: off(r) if of_each_channel(x, y) else r),
        lambda: torch.mul(random_tensor(ndim=4), random_tensor(ndim=4)),
    ),
    Wrong(
        "add of two by two dimensions",
        "add",
        of_two(lambda r, x, y: off(r) if halves(x, y) else r),
        lambda: torch.add(random_tensor(ndim=4), random_tensor(ndim=4)),
    ),
    Wrong("cos of hundreds", "cos", where(lambda x: (x.abs() > 100) & (x.abs() < 1000)), one("cos")),
    Wrong("isnan of what is left over after eight", "isnan", tail(8), lambda: torch.isnan(matrix())),
    Wrong("var from sums of squares", "var", lambda f: one_pass, along("var")),
    Wrong("one to the power of NaN", "pow", of_two(lambda r, x, y: real().where(y.isnan(), y, r)), two("pow")),
    Wrong(
        "softmax of masked rows",
        "softmax",
        lambda f: lambda x, dim: f(x, dim).masked_fill((x == -float("inf")).all(dim, keepdim=True), 0.0),
        along("softmax"),
    ),
]
