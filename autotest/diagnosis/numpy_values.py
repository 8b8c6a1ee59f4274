"""What the NumPy counterparts of operators have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autotest.comparison.elementwise import Values

NumpyFunction = Callable[..., Any]


class Unknown(Exception):
    """A counterpart does not know such a call, or which of several results torch promises for it."""


class Unsettled(Exception):
    """Of such numbers the order of computing decides what comes out, so that nobody else's answer counts either."""


def axis_of(dim: Any) -> Any:
    """torch's ``dim=`` as NumPy's ``axis=``."""
    return tuple(dim) if isinstance(dim, (list, tuple)) else dim


def exactly(function: NumpyFunction, count: int) -> NumpyFunction:
    """`function` of `count` operands and nothing else: any further argument means something unknown."""

    def called(*args: Any) -> Any:
        if len(args) != count:
            raise Unknown
        return function(*args)

    return called


def of_finite(function: NumpyFunction) -> NumpyFunction:
    """`function` of finite numbers alone: raises `Unsettled` for others."""

    def called(*args: Any, **kwargs: Any) -> Any:
        if not all(np.isfinite(item).all() for item in (*args, *kwargs.values()) if isinstance(item, np.ndarray)):
            raise Unsettled
        return function(*args, **kwargs)

    return called


def log_sum(x: Values, axis: Any, keepdims: bool = False) -> Values:
    """The logarithm of the sum of the exponentials along `axis`."""
    top = x.max(axis=axis, keepdims=True)
    top = np.where(np.isinf(top), 0.0, top)  # an infinity less itself is no number, and it needs no shift
    total = np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top
    return np.asarray(total if keepdims else np.squeeze(total, axis=axis))


def p_norm(x: Values, p: float, axis: Any = -1, *, keepdims: bool = False) -> Values:
    """The p-norm of the vectors along `axis`."""
    size = np.abs(x)
    if p == 0:
        return np.asarray((x != 0).sum(axis=axis, keepdims=keepdims).astype(x.dtype))
    if np.isinf(p):
        return np.asarray((np.max if p > 0 else np.min)(size, axis=axis, keepdims=keepdims))
    return np.asarray((size**p).sum(axis=axis, keepdims=keepdims) ** (1 / p))


def reduction_of(reduction: str, size_average: Any, reduce: Any) -> str:
    """``reduction=`` of a loss that is not given the older arguments, which mean the same."""
    if size_average is not None or reduce is not None:
        raise Unknown
    return reduction


def sigmoid(x: Values) -> Values:
    """The logistic function."""
    return np.asarray(1 / (1 + np.exp(-x)))


def sum_with_product(c: Values, product: Values, beta: float, alpha: float) -> Values:
    """As torch's documentation of ``addmm`` has it: `c` is ignored where `beta` is 0, with the NaN in it."""
    return np.asarray(alpha * product + (beta * c if beta else np.zeros_like(c)))


__all__ = [
    "NumpyFunction",
    "Unknown",
    "Values",
    "axis_of",
    "exactly",
    "p_norm",
    "reduction_of",
    "sigmoid",
    "sum_with_product",
]
