"""Operators that are wrong where two things meet: two arguments, two arrays, an argument and what it is given with."""

from __future__ import annotations

from typing import Any

from autotest import oneof, random, random_bool, random_tensor, torch
from tests.wrong_operators.memory import along
from tests.wrong_operators.numbers import one, two
from tests.wrong_operators.wrong import Replacement, Wrong, as_it_lies, given, of_two, off, tail
from tests.wrong_operators.wrong import torch as real

WHOLE = {"int32": "float", "int64": "double"}


def narrowed(kind: str) -> Replacement:
    """Both arguments are made floats of `kind` before they are compared."""
    return lambda f: lambda x, y: f(getattr(x, kind)(), getattr(y, kind)())


def without(*names: str) -> Replacement:
    """These keywords are ignored."""
    return lambda f: lambda *args, **kwargs: f(*args, **{k: v for k, v in kwargs.items() if k not in names})


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
