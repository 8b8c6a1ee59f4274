"""Special functions by series, recurrences and integrals, used if SciPy is not installed."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.counterparts.values import Unsupported, Values

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
#: The argument from which on asymptotic series are exact in double precision, and the argument up to which the series
#: and integrals below are.
_LARGE, _FAR = 16.0, 200.0
#: The argument above which torch's own Bessel functions of the first and second kind have only seven correct digits.
_SMALL = 3.0


def _each(function: Callable[..., float], count: int = 1) -> Callable[..., Values]:
    """Return `function` of `count` numbers applied to each element; if it raises for one element, the call raises."""
    called = np.frompyfunc(function, count, 1)

    def elementwise(*args: Any) -> Values:
        if len(args) != count:
            raise Unsupported
        return np.asarray(called(*[np.asarray(one, dtype=np.float64) for one in args]), dtype=np.float64)

    return elementwise


def _digamma(x: float) -> float:
    if not math.isfinite(x) or (x <= 0 and x == math.floor(x)):
        raise ValueError  # a pole, or not finite
    if x < 0:
        return _digamma(1 - x) - math.pi / math.tan(math.pi * x)
    added = 0.0
    while x < _LARGE:
        added, x = added - 1 / x, x + 1
    series = sum(b / (2 * k * x ** (2 * k)) for k, b in enumerate(_BERNOULLI, 1))
    return added + math.log(x) - 1 / (2 * x) - series


def _zeta(s: float, q: float) -> float:
    """Return the Hurwitz zeta function, by the Euler-Maclaurin formula."""
    if not (s > 1 and q > 0 and math.isfinite(s) and math.isfinite(q)):
        raise ValueError
    count = 20
    total: float = math.fsum((q + k) ** -s for k in range(count))
    end = q + count
    total += end ** (1 - s) / (s - 1) + end**-s / 2
    rising, power = s, float(end ** (-s - 1))
    for k, b in enumerate(_BERNOULLI, 1):
        total += b / math.factorial(2 * k) * rising * power
        rising, power = rising * (s + 2 * k - 1) * (s + 2 * k), power / end**2
    return total


def _polygamma(n: Any, x: Any) -> Values:
    if n == 0:
        return _each(_digamma)(x)
    return np.asarray((-1) ** (n + 1) * math.factorial(n) * _each(_zeta, 2)(n + 1, x))


def _log_gamma(x: float) -> float:
    return math.inf if math.isinf(x) or (x <= 0 and x == math.floor(x)) else math.lgamma(x)


def _several_log_gamma(x: Any, p: int) -> Values:
    parts = [_each(_log_gamma)(np.asarray(x) - k / 2) for k in range(p)]
    return np.asarray(sum(parts) + p * (p - 1) / 4 * math.log(math.pi))


def _lower_gamma(a: float, x: float) -> float:
    """Return the regularized lower incomplete gamma function, by its series."""
    if a < 0 or x < 0 or a == x == 0:
        return math.nan
    if not max(a, x) <= _FAR:
        raise ValueError
    if a == 0:
        return 1.0
    if x == 0:
        return 0.0
    term = total = 1 / a
    k = a
    while term > total * 1e-17:
        k += 1
        term *= x / k
        total += term
    return min(1.0, total * math.exp(-x + a * math.log(x) - math.lgamma(a)))


def _upper_gamma(a: float, x: float) -> float:
    if not a + 1 <= x <= _FAR or a <= 0:
        return 1 - _lower_gamma(a, x)
    # Lentz's evaluation of the continued fraction.
    b = x + 1 - a
    c, d = 1e300, 1 / b
    h = d
    for k in range(1, 500):
        b += 2
        d = 1 / (b - k * (k - a) * d)
        c = b - k * (k - a) / c
        h *= d * c
    return h * math.exp(-x + a * math.log(x) - math.lgamma(a))


def _scaled_erfc(x: float) -> float:
    if x < 20:
        return math.exp(x * x) * math.erfc(x)
    series, term = 1.0, 1.0
    for k in range(1, 12):
        term *= -(2 * k - 1) / (2 * x * x)
        series += term
    return series / (x * math.sqrt(math.pi))


def _log_normal(x: float) -> float:
    if x > -5:
        return math.log1p(-0.5 * math.erfc(x / math.sqrt(2)))
    return math.log(0.5 * _scaled_erfc(-x / math.sqrt(2))) - x * x / 2


def _quantile(p: float) -> float:
    """Return the quantile of the standard normal distribution, by bisection."""
    if not 0 < p < 1:
        return {0.0: -math.inf, 1.0: math.inf}.get(p, math.nan)
    if p > 0.5:
        return -_quantile(1 - p)
    low, high = -40.0, 0.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if 0.5 * math.erfc(-middle / math.sqrt(2)) < p else (low, middle)
    return high


def _inverse_erf(y: float) -> float:
    if not -1 < y < 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    low, high = 0.0, 6.0
    for _ in range(80):
        middle = (low + high) / 2
        less = math.erf(middle) < abs(y) if abs(y) < 0.5 else math.erfc(middle) > 1 - abs(y)
        low, high = (middle, high) if less else (low, middle)
    return math.copysign(high, y) if y else y


# -- Bessel functions: by their series, those of the second kind by their integrals -----------------------------------


@functools.cache
def _nodes() -> tuple[Values, Values]:
    at, weights = np.polynomial.legendre.leggauss(600)  # type: ignore[no-untyped-call]
    return (at + 1) / 2, weights / 2


def _near(x: float, limit: float = _FAR) -> float:
    if not abs(x) <= limit:
        raise ValueError
    return x


def _power_series(n: int, x: float, sign: int) -> float:
    """Return a Bessel function of the first kind (`sign` -1) or a modified one (`sign` 1).

    The power series keeps its relative precision however small `x` is.
    """
    term = total = (x / 2) ** n / math.factorial(n)
    for k in range(1, 50 + int(abs(x))):
        term *= sign * x * x / (4 * k * (k + n))
        total += term
    return total


def _first_kind(n: int) -> Callable[[float], float]:
    return lambda x: _power_series(n, _near(x, _SMALL), -1)


def _second_kind(n: int) -> Callable[[float], float]:
    def bessel(x: float) -> float:
        if x <= 0:
            return -math.inf if x == 0 else math.nan
        at, weights = _nodes()
        end = math.asinh(800 / _near(x, _SMALL))
        t, theta = at * end, at * math.pi
        tail = (np.exp(n * t) + (-1) ** n * np.exp(-n * t)) * np.exp(-x * np.sinh(t))
        return float(np.sin(x * np.sin(theta) - n * theta) @ weights - tail @ weights * end / math.pi)

    return bessel


def _modified(n: int, *, scaled: bool = False) -> Callable[[float], float]:
    return lambda x: _power_series(n, _near(x), 1) * (math.exp(-abs(x)) if scaled else 1)


def _modified_second(n: int, *, scaled: bool = False) -> Callable[[float], float]:
    def bessel(x: float) -> float:
        if x <= 0:
            return math.inf if x == 0 else math.nan
        at, weights = _nodes()
        end = math.acosh(1 + 800 / _near(x))
        t = at * end
        value = float((np.exp(-x * (np.cosh(t) - 1)) * np.cosh(n * t)) @ weights * end)
        return value if scaled else value * math.exp(-x)

    return bessel


FUNCTIONS: Mapping[str, Callable[..., Values]] = MappingProxyType(
    {
        "erf": _each(math.erf),
        "erfc": _each(math.erfc),
        "erfcx": _each(_scaled_erfc),
        "erfinv": _each(_inverse_erf),
        "ndtr": _each(lambda x: 0.5 * math.erfc(-x / math.sqrt(2))),
        "ndtri": _each(_quantile),
        "log_ndtr": _each(_log_normal),
        "lgamma": _each(_log_gamma),
        "gammaln": _each(_log_gamma),
        "digamma": _each(_digamma),
        "psi": _each(_digamma),
        "polygamma": _polygamma,
        "zeta": _each(_zeta, 2),
        "mvlgamma": _several_log_gamma,
        "multigammaln": _several_log_gamma,
        **dict.fromkeys(("igamma", "gammainc"), _each(_lower_gamma, 2)),
        **dict.fromkeys(("igammac", "gammaincc"), _each(_upper_gamma, 2)),
        "bessel_j0": _each(_first_kind(0)),
        "bessel_j1": _each(_first_kind(1)),
        "bessel_y0": _each(_second_kind(0)),
        "bessel_y1": _each(_second_kind(1)),
        **{f"{name}{n}": _each(_modified(n)) for name in ("i", "modified_bessel_i") for n in (0, 1)},
        **{f"i{n}e": _each(_modified(n, scaled=True)) for n in (0, 1)},
        **{f"modified_bessel_k{n}": _each(_modified_second(n)) for n in (0, 1)},
        **{f"scaled_modified_bessel_k{n}": _each(_modified_second(n, scaled=True)) for n in (0, 1)},
        "spherical_bessel_j0": lambda x: np.sinc(x / np.pi),
    }
)
