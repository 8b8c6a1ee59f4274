"""Reductions and normalizations of ``torch.masked``, which ignore the elements where a mask is False."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.counterparts.values import NumpyFunction, Unsupported, Values, axis_of, log_softmax, log_sum


def _shown(x: Values, mask: Any) -> Values:
    return np.broadcast_to(True if mask is None else mask, x.shape)


def _filled(function: NumpyFunction, neutral: float) -> NumpyFunction:
    """Return a reduction that replaces masked elements by `neutral`, which does not change its result."""

    def reduced(x: Values, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
        if dtype is not None or x.dtype.kind not in "fc":
            raise Unsupported
        if not np.asarray(_shown(x, mask)).any(axis=axis_of(dim)).all():
            raise Unsupported  # the reduction of no elements is unspecified
        return function(np.where(_shown(x, mask), x, neutral), axis=axis_of(dim), keepdims=keepdim)

    return reduced


def _running(function: NumpyFunction, neutral: float) -> NumpyFunction:
    def running(x: Values, dim: Any, *, dtype: Any = None, mask: Any = None) -> Any:
        if dtype is not None or x.dtype.kind not in "fc":
            raise Unsupported
        return function(np.atleast_1d(np.where(_shown(x, mask), x, neutral)), axis=dim).reshape(x.shape)

    return running


def _mean(x: Values, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    count = np.sum(_shown(x, mask), axis=axis_of(dim), keepdims=keepdim)
    return _filled(np.sum, 0.0)(x, dim, keepdim=keepdim, dtype=dtype, mask=mask) / count


def _variance(root: bool) -> NumpyFunction:
    def variance(
        x: Values, dim: Any = None, unbiased: Any = True, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
    ) -> Any:
        if unbiased is None or dtype is not None or x.dtype.kind != "f":
            raise Unsupported
        shown, axes = _shown(x, mask), axis_of(dim)
        count = shown.sum(axis=axes, keepdims=True)
        centre = np.where(shown, x, 0).sum(axis=axes, keepdims=True) / count
        left = count - int(bool(unbiased))
        if (left <= 0).any():
            raise Unsupported  # the variance of too few elements is unspecified
        spread = (np.where(shown, x - centre, 0) ** 2).sum(axis=axes, keepdims=True) / left
        spread = np.sqrt(spread) if root else spread
        return spread if keepdim else spread.squeeze(axes)

    return variance


def _norm(
    x: Values,
    ord: Any,  # noqa: A002 - the operator's own name
    dim: Any = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    if dtype is not None or x.dtype.kind not in "fc" or not np.isfinite(ord) or ord <= 0:
        raise Unsupported
    size = np.where(_shown(x, mask), np.abs(x), 0)
    return (size**ord).sum(axis=axis_of(dim), keepdims=keepdim) ** (1 / ord)


def _softmax(sign: int, *, log: bool) -> NumpyFunction:
    def softmax(x: Values, dim: Any, *, dtype: Any = None, mask: Any = None) -> Any:
        shown = _shown(x, mask)
        if dtype is not None or x.dtype.kind != "f" or not shown.all():
            raise Unsupported  # the results at masked elements are undefined
        logarithm = log_softmax(sign * x, dim)
        return logarithm if log else np.exp(logarithm)

    return softmax


MASKED: Mapping[str, NumpyFunction] = MappingProxyType(
    {
        "sum": _filled(np.sum, 0.0),
        "prod": _filled(np.prod, 1.0),
        "amax": _filled(np.max, -np.inf),
        "amin": _filled(np.min, np.inf),
        "argmax": _filled(np.argmax, -np.inf),
        "argmin": _filled(np.argmin, np.inf),
        "logsumexp": _filled(log_sum, -np.inf),
        "cumsum": _running(np.cumsum, 0.0),
        "cumprod": _running(np.cumprod, 1.0),
        "mean": _mean,
        "var": _variance(root=False),
        "std": _variance(root=True),
        "norm": _norm,
        "softmax": _softmax(1, log=False),
        "softmin": _softmax(-1, log=False),
        "log_softmax": _softmax(1, log=True),
    }
)
