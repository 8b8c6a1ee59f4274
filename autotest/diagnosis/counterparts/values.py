"""Common parts of the NumPy counterparts of operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autotest.comparison.elementwise import Values

NumpyFunction = Callable[..., Any]


class Unsupported(Exception):
    """Raised if a counterpart does not support the call, or if several results are right."""


class OrderDependent(Exception):
    """Raised if the result depends on the order of computation for these numbers, so that no oracle may decide."""


def axis_of(dim: Any) -> Any:
    """Convert torch's ``dim=`` of a reduction to NumPy's ``axis=``. No dimensions mean all of them."""
    return tuple(dim) or None if isinstance(dim, (list, tuple)) else dim


def none_missing(x: Values) -> Values:
    """Return `x`. Raise `Unsupported` if it contains NaN, which frameworks are free to handle in their own way here."""
    if np.asarray(x).dtype.kind in "fc" and np.isnan(x).any():
        raise Unsupported
    return x


def exactly(function: NumpyFunction, count: int) -> NumpyFunction:
    """Return `function` restricted to `count` positional arguments; any other number of them raises `Unsupported`."""

    def called(*args: Any) -> Any:
        if len(args) != count:
            raise Unsupported
        return function(*args)

    return called


def of_finite(function: NumpyFunction) -> NumpyFunction:
    """Return `function` restricted to finite numbers; others raise `OrderDependent`."""

    def called(*args: Any, **kwargs: Any) -> Any:
        if not all(np.isfinite(item).all() for item in (*args, *kwargs.values()) if isinstance(item, np.ndarray)):
            raise OrderDependent
        return function(*args, **kwargs)

    return called


def log_sum(x: Values, axis: Any, keepdims: bool = False) -> Values:
    """Return the logarithm of the sum of the exponentials along `axis`."""
    top = x.max(axis=axis, keepdims=True)
    top = np.where(np.isinf(top), 0.0, top)  # infinity minus infinity is NaN, and an infinite maximum needs no shift
    total = np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top
    return np.asarray(total if keepdims else np.squeeze(total, axis=axis))


def log_softmax(x: Values, axis: int) -> Values:
    """Return the logarithms of the softmax along `axis`."""
    shifted = x - x.max(axis=axis, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True)))


def p_norm(x: Values, p: float, axis: Any = -1, *, keepdims: bool = False) -> Values:
    """Return the p-norm of the vectors along `axis`."""
    size = np.abs(x)
    if p == 0:
        return np.asarray((x != 0).sum(axis=axis, keepdims=keepdims).astype(x.dtype))
    if np.isinf(p):
        return np.asarray((np.max if p > 0 else np.min)(size, axis=axis, keepdims=keepdims))
    return np.asarray((size**p).sum(axis=axis, keepdims=keepdims) ** (1 / p))


def reduction_of(reduction: str, size_average: Any, reduce: Any) -> str:
    """Return ``reduction=`` of a loss. Raise `Unsupported` if the deprecated arguments for this are given."""
    if size_average is not None or reduce is not None:
        raise Unsupported
    return reduction


def sigmoid(x: Values) -> Values:
    """Return the logistic function of `x`."""
    return np.asarray(1 / (1 + np.exp(-x)))


def sum_with_product(c: Values, product: Values, beta: float, alpha: float) -> Values:
    """Return ``beta * c + alpha * product``.

    As torch documents for ``addmm``, `c` is ignored if `beta` is 0, including NaN in it.
    """
    return np.asarray(alpha * product + (beta * c if beta else np.zeros_like(c)))


__all__ = [
    "NumpyFunction",
    "OrderDependent",
    "Unsupported",
    "Values",
    "axis_of",
    "exactly",
    "log_softmax",
    "log_sum",
    "none_missing",
    "of_finite",
    "p_norm",
    "reduction_of",
    "sigmoid",
    "sum_with_product",
]
