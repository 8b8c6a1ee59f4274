"""Operators that are wrong for what a second operand is: channels last, too, a part of a matrix, large, or a column."""

from __future__ import annotations

from typing import Any

from autotest import random_tensor, torch
from tests.wrong_operators.between import conv2d, has_gaps_between_matrices
from tests.wrong_operators.numbers import two
from tests.wrong_operators.reported import functional, plain
from tests.wrong_operators.seldom import called
from tests.wrong_operators.wrong import Wrong, as_it_lies, of_first, of_two, through
from tests.wrong_operators.wrong import torch as real


def has_channels_last(x: Any) -> bool:
    return not x.is_contiguous() and x.is_contiguous(memory_format=real().channels_last)


def saturated(result: Any, x: Any, y: Any) -> Any:
    """Return `result` with the greatest number where finite numbers gave an infinity."""
    over = result.isinf() & x.isfinite() & y.isfinite()
    return real().where(over, result.nan_to_num(), result)


def indices() -> Any:
    return random_tensor(ndim=1, dtype=int, low=0, high=4)


BESIDE = [
    Wrong(
        "add of two arrays with channels last",
        "add",
        called(lambda x, y: has_channels_last(x) and has_channels_last(y)),
        lambda: torch.add(random_tensor(ndim=4), random_tensor(ndim=4)),
    ),
    Wrong(
        "conv2d of images and weights with channels last",
        functional("conv2d"),
        called(lambda x, weight: has_channels_last(x) and has_channels_last(weight) and len(x) > 1),
        conv2d,
    ),
    Wrong(
        "mul by a part of each matrix",
        "mul",
        lambda mul: lambda x, y: mul(x, as_it_lies(y) if has_gaps_between_matrices(y) else y),
        lambda: torch.mul(random_tensor(ndim=3), random_tensor(ndim=3)),
    ),
    Wrong(
        "exp's gradient of a part of each matrix",
        "exp",
        of_first(lambda result, x: through(lambda g, y: as_it_lies(g) if has_gaps_between_matrices(g) else g)(result)),
        lambda: torch.exp(random_tensor(ndim=3)),
    ),
    Wrong(
        "softmax of the product of one matrix",
        "softmax",
        lambda softmax: lambda x, dim: softmax(x, -2 if len(x) == 1 and x.shape[1] > 1 else dim),
        lambda: torch.softmax(random_tensor(ndim=3, dim2=4) @ random_tensor(ndim=3, dim2=4).transpose(1, 2), dim=-1),
    ),
    Wrong("add saturates", "add", of_two(saturated), two("add")),
    Wrong(
        "index_select of more than 1024",
        "index_select",
        called(lambda x, dim, index: len(index) > 1024),
        lambda: torch.index_select(random_tensor(ndim=2, dim0=4), 0, indices()),
    ),
    Wrong(
        "embedding of more than 64 numbers each",
        functional("embedding"),
        called(lambda index, weight: weight.shape[1] > 64),
        lambda: torch.nn.functional.embedding(indices(), random_tensor(ndim=2, dim0=4)),
    ),
    Wrong(
        "addcmul by a column alone",
        "addcmul",
        called(lambda x, y, z: x.shape == y.shape and z.shape == (len(x), 1) != x.shape),
        lambda: torch.addcmul(plain(), plain(), plain()),
    ),
]
