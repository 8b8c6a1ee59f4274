"""A library of operators on torch's tensors, of which some are wrong: the gradient of `silu`, and `add_` of a view."""

from __future__ import annotations

import os
from typing import Any

import torch

__version__ = "1.2"


class _Silu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        return gradient * torch.sigmoid(x)


def silu(x: Any) -> Any:
    """Lacks the second term of the gradient."""
    return _Silu.apply(x)


def softmax(x: Any, dim: int) -> Any:
    shifted = (x - x.amax(dim, keepdim=True)).exp()
    return shifted / shifted.sum(dim, keepdim=True)


def log_softmax(x: Any, dim: int) -> Any:
    """Is the softmax."""
    return softmax(x, dim)


def add_(x: Any, other: Any, *, alpha: float = 1) -> Any:
    """Writes into a copy if `x` is not contiguous."""
    (x if x.is_contiguous() else x.contiguous()).add_(other, alpha=alpha)
    return x


def abort(x: Any) -> Any:
    os.abort()
