"""NumPy counterparts of special, cumulative, counting and statistical operators."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.counterparts.values import NumpyFunction, Unsupported, Values, axis_of, exactly, none_missing


def _step(x: Values, values: Values) -> Values:
    return np.asarray(np.heaviside(none_missing(x), values))


def _angle(x: Values) -> Values:
    if x.dtype.kind == "c":
        return np.asarray(np.angle(x))
    return np.asarray(np.where(np.isnan(x), x, np.where(x < 0, np.pi, 0.0)))


def _polar(size: Values, angle: Values) -> Values:
    return _complex(size * np.cos(angle), size * np.sin(angle))


def _complex(real: Values, imaginary: Values) -> Values:
    made = np.empty(np.broadcast_shapes(real.shape, imaginary.shape), np.complex128)
    made.real, made.imag = real, imaginary
    return made


def _parts(x: Values) -> tuple[Values, Values]:
    mantissa, exponent = np.frexp(x)
    if not np.isfinite(x).all():
        raise Unsupported
    return mantissa, exponent


def _log_cumulative(x: Values, dim: int) -> Values:
    return np.asarray(np.logaddexp.accumulate(np.atleast_1d(x), axis=dim)).reshape(x.shape)


def _running(choose: np.ufunc) -> NumpyFunction:
    """Return a function for cumulative extremes, without their indices, as several elements may be equal."""

    def running(x: Values, dim: int) -> tuple[Values, None]:
        return choose.accumulate(np.atleast_1d(x), axis=dim).reshape(x.shape), None

    return running


def _differences(x: Values, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Values:
    given = {name: value for name, value in (("prepend", prepend), ("append", append)) if value is not None}
    return np.asarray(np.diff(x, n, dim, **given))


def _trapezes(y: Values, x: Any, dx: Any, dim: int) -> Values:
    if y.dtype.kind not in "fc" or (x is not None and dx is not None):
        raise Unsupported  # products of integers wrap around, in their own dtype, before they are divided
    rows = np.moveaxis(y, dim, -1)
    if x is None:
        step = np.asarray(1.0 if dx is None else dx)
    elif x.ndim == 1:
        step = np.diff(x)
    elif x.ndim == y.ndim:
        step = np.diff(np.moveaxis(x, dim, -1))
    else:
        raise Unsupported
    return np.asarray(np.moveaxis((rows[..., 1:] + rows[..., :-1]) / 2 * step, -1, dim))


def _trapezoid(y: Values, x: Any = None, *, dx: Any = None, dim: int = -1) -> Values:
    return np.asarray(_trapezes(y, x, dx, dim).sum(axis=dim))


def _cumulative_trapezoid(y: Values, x: Any = None, *, dx: Any = None, dim: int = -1) -> Values:
    return np.asarray(_trapezes(y, x, dx, dim).cumsum(axis=dim))


def _covariance(x: Values, *, correction: int = 1, fweights: Any = None) -> Values:
    return np.asarray(np.cov(x, ddof=correction, fweights=fweights))


def _quantile(function: NumpyFunction) -> NumpyFunction:
    def quantile(x: Values, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear") -> Values:
        if np.isinf(x).any():
            raise Unsupported  # NumPy adds zero times infinity to an element beside one, also where none lies between
        return np.asarray(function(x, q, axis=dim, keepdims=keepdim, method=interpolation))

    return quantile


def _nan_mean(x: Values, dim: Any = None, keepdim: bool = False) -> Values:
    axis = axis_of(dim)
    present = ~np.isnan(x)
    total = np.where(present, x, 0).sum(axis=axis, keepdims=keepdim)
    return np.asarray(total / present.sum(axis=axis, keepdims=keepdim))


def _histogram(x: Values, bins: int = 100, min: float = 0, max: float = 0) -> Values:  # noqa: A002 - its own names
    if min == max:
        raise Unsupported  # the range comes from the data, which has special cases that are not modelled here
    inside = x[(x >= min) & (x <= max)].astype(float)
    at = (inside - min) / (max - min) * bins
    if (np.abs(at - np.rint(at)) < 1e-6).any():
        raise Unsupported  # a number at the edge of a bin may be rounded to either side
    return np.bincount(np.floor(at).astype(int), minlength=bins).astype(float)


def _most_frequent(x: Values, dim: int = -1, keepdim: bool = False) -> tuple[Values, None]:
    """Return the mode along `dim`, without its index. Raise `Unsupported` if several values are equally frequent."""
    if not x.ndim:
        return x, None
    rows = np.moveaxis(none_missing(x), dim, -1)
    found = np.empty(rows.shape[:-1], x.dtype)
    for at in np.ndindex(found.shape):
        values, counts = np.unique(rows[at], return_counts=True)
        if (counts == counts.max()).sum() > 1:
            raise Unsupported
        found[at] = values[counts.argmax()]
    return (np.expand_dims(found, dim) if keepdim else found), None


def _without_repeats(x: Values, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
    if dim is not None:
        raise Unsupported
    flat = none_missing(x).ravel()
    starts = np.flatnonzero(np.concatenate([[True], flat[1:] != flat[:-1]])) if flat.size else np.zeros(0, int)
    parts: list[Values] = [flat[starts]]
    counts = np.diff(np.append(starts, flat.size))
    if return_inverse:
        parts.append(np.repeat(np.arange(len(starts)), counts).reshape(x.shape))
    if return_counts:
        parts.append(counts)
    return tuple(parts) if len(parts) > 1 else parts[0]


def _among(x: Any, tests: Any, *, assume_unique: bool = False, invert: bool = False) -> Values:
    return np.isin(x, tests, invert=invert)


def _extremes(x: Values, *, dim: Any = None, keepdim: bool = False) -> tuple[Values, Values]:
    if not x.ndim:
        raise Unsupported
    least, greatest = (np.asarray(choose(x, axis=dim, keepdims=keepdim)) for choose in (np.min, np.max))
    return least, greatest


def _combinations(x: Values, r: int = 2, with_replacement: bool = False) -> Values:
    at = [
        place
        for place in np.ndindex(*[len(x)] * r)
        if all(a <= b if with_replacement else a < b for a, b in itertools.pairwise(place))
    ]
    return np.array([[x[i] for i in place] for place in at], x.dtype).reshape(len(at), r)


_ALIKE: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys("gcd lcm logaddexp logaddexp2 nextafter ldexp copysign fmax fmin float_power".split(), 2),
        **dict.fromkeys("rad2deg deg2rad sinc i0 imag".split(), 1),
        **dict.fromkeys("fliplr flipud".split(), 1),
    }
)
STATISTICS: Mapping[str, NumpyFunction] = MappingProxyType(
    {
        **{name: exactly(getattr(np, name), count) for name, count in _ALIKE.items()},
        "heaviside": _step,
        "angle": _angle,
        "polar": _polar,
        "complex": _complex,
        "frexp": _parts,
        "logcumsumexp": _log_cumulative,
        "cummax": _running(np.maximum),
        "cummin": _running(np.minimum),
        "diff": _differences,
        "trapezoid": _trapezoid,
        "trapz": _trapezoid,
        "cumulative_trapezoid": _cumulative_trapezoid,
        "cov": _covariance,
        "corrcoef": exactly(np.corrcoef, 1),
        "quantile": _quantile(np.quantile),
        "nanquantile": _quantile(np.nanquantile),
        "nanmean": _nan_mean,
        "histc": _histogram,
        "mode": _most_frequent,
        "unique_consecutive": _without_repeats,
        "isin": _among,
        "isclose": lambda x, y, rtol=1e-5, atol=1e-8, equal_nan=False: np.isclose(x, y, rtol, atol, equal_nan),
        "count_nonzero": lambda x, dim=None: np.asarray(np.count_nonzero(x, axis=axis_of(dim))),
        "aminmax": _extremes,
        "combinations": _combinations,
        "rot90": lambda x, k=1, dims=(0, 1): np.rot90(x, k, dims),
    }
)
