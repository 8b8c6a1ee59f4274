"""Operators that are wrong for what lies between: long channels, gaps between matrices, one truth value and many."""

from __future__ import annotations

import math
from typing import Any

from autotest import random_tensor, torch
from tests.wrong_operators.inference import with_wrong_gradient
from tests.wrong_operators.numbers import two
from tests.wrong_operators.reported import functional, plain
from tests.wrong_operators.seldom import called
from tests.wrong_operators.wrong import Replacement, Wrong, as_it_lies, of_two
from tests.wrong_operators.wrong import torch as real


def longer(dim: int, size: int) -> Replacement:
    """Return an operator that is wrong if dimension `dim` of its first argument is longer than `size`."""
    return called(lambda x, *args, **kwargs: x.shape[dim] > size)


def has_gaps_between_matrices(x: Any) -> bool:
    return len(x) > 1 and x[0].is_contiguous() and x.stride(0) > x[0].numel()


def without_gaps(original: Any) -> Any:
    """Return an operator that takes a batch of contiguous matrices for contiguous, whatever is between them."""
    return lambda x, *rest, **kwargs: original(as_it_lies(x) if has_gaps_between_matrices(x) else x, *rest, **kwargs)


def of_a_single_first(change: Any) -> Replacement:
    """Return an operator with the result ``change(first, second)`` if the first is a single number."""
    return of_two(lambda result, x, y: change(x, y) if x.numel() == 1 else result)


def without_frozen_weights(original: Any) -> Any:
    """Return a layer whose bias gets a right gradient only beside one of the weights."""
    return lambda x, weight, bias: original(x, weight, bias if weight.requires_grad else with_wrong_gradient(bias))


def uniform_if_one_is_left(original: Any) -> Any:
    """Return a softmax that is uniform in a row in which all numbers but one are minus infinity."""

    def wrong(x: Any, dim: int) -> Any:
        masked = (x == -math.inf).sum(dim, keepdim=True)
        return real().where(masked == x.shape[dim] - 1, 1 / x.shape[dim], original(x, dim=dim)).to(x.dtype)

    return wrong


def conv2d() -> Any:
    weight = {"ndim": 4, "dim1": 2, "dim2": 2, "dim3": 2}
    return torch.nn.functional.conv2d(random_tensor(ndim=4, dim1=2, dim2=5, dim3=5), random_tensor(**weight))


BETWEEN = [
    Wrong(
        "softmax over more than 16 channels",
        "softmax",
        longer(1, 16),
        lambda: torch.softmax(random_tensor(ndim=4), dim=1),
    ),
    Wrong(
        "max_pool2d of images taller than 16",
        functional("max_pool2d"),
        longer(2, 16),
        lambda: torch.nn.functional.max_pool2d(random_tensor(ndim=4), 2),
    ),
    Wrong(
        "sum over a middle dimension past a block of 32",
        "sum",
        longer(1, 32),
        lambda: torch.sum(random_tensor(ndim=3), dim=1),
    ),
    Wrong(
        "bmm of a part of each matrix",
        "bmm",
        without_gaps,
        lambda: torch.bmm(random_tensor(ndim=3, dim0=3, dim2=3), random_tensor(ndim=3, dim0=3, dim1=3)),
    ),
    Wrong(
        "conv2d of a part of the channels",
        functional("conv2d"),
        without_gaps,
        conv2d,
    ),
    Wrong(
        "logical_xor of a single truth value and many as and",
        "logical_xor",
        of_a_single_first(lambda x, y: x & y),
        two("logical_xor", dtype=bool),
    ),
    Wrong(
        "pow of minus one and an infinity",
        "pow",
        of_two(lambda result, x, y: real().where((x == -1) & y.isinf(), math.nan, result)),
        two("pow"),
    ),
    Wrong(
        "softmax of rows in which one number is left",
        "softmax",
        uniform_if_one_is_left,
        lambda: torch.softmax(plain(), dim=1),
    ),
    Wrong(
        "linear with frozen weights",
        functional("linear"),
        without_frozen_weights,
        lambda: torch.nn.functional.linear(plain(dim1=3), random_tensor(ndim=2, dim0=2, dim1=3), random_tensor(1, 2)),
    ),
]
