"""The orthogonal polynomials of ``torch.special``, each by its recurrence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.counterparts.values import Unsupported, Values

#: One step of a recurrence: returns the value at degree k from k, the argument x, and the values at k-1 and k-2.
Next = Callable[[int, Any, Any, Any], Any]
#: The highest degree that is computed: above it, the error of a recurrence may dominate its result.
_HIGHEST = 30


def _by(first: Callable[[Any], Any], following: Next, *, shifted: bool = False) -> Callable[..., Values]:
    """Return the polynomial that is 1 at degree 0, `first` at degree 1, and follows the recurrence `following`."""

    def one(x: float, degree: float) -> float:
        wanted = int(degree)
        before, now = 1.0, first(x)
        if wanted <= 0:
            return before if wanted == 0 else 0.0
        for k in range(2, wanted + 1):
            before, now = now, following(k, x, now, before)
        return float(now)

    each = np.frompyfunc(one, 2, 1)

    def polynomial(x: Any, n: Any) -> Values:
        if np.max(n, initial=0) > _HIGHEST:
            raise Unsupported
        x = np.asarray(x, dtype=np.float64)
        return np.asarray(each(2 * x - 1 if shifted else x, np.asarray(n, dtype=np.float64)), dtype=np.float64)

    return polynomial


def _chebyshev(first: Callable[[Any], Any], *, shifted: bool) -> Callable[..., Values]:
    return _by(first, lambda k, x, now, before: 2 * x * now - before, shifted=shifted)


_KINDS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {"t": lambda x: x, "u": lambda x: 2 * x, "v": lambda x: 2 * x - 1, "w": lambda x: 2 * x + 1}
)
POLYNOMIALS: Mapping[str, Callable[..., Values]] = MappingProxyType(
    {
        **{f"chebyshev_polynomial_{kind}": _chebyshev(first, shifted=False) for kind, first in _KINDS.items()},
        **{f"shifted_chebyshev_polynomial_{kind}": _chebyshev(first, shifted=True) for kind, first in _KINDS.items()},
        "hermite_polynomial_h": _by(lambda x: 2 * x, lambda k, x, now, before: 2 * x * now - 2 * (k - 1) * before),
        "hermite_polynomial_he": _by(lambda x: x, lambda k, x, now, before: x * now - (k - 1) * before),
        "laguerre_polynomial_l": _by(
            lambda x: 1 - x, lambda k, x, now, before: ((2 * k - 1 - x) * now - (k - 1) * before) / k
        ),
        "legendre_polynomial_p": _by(
            lambda x: x, lambda k, x, now, before: ((2 * k - 1) * x * now - (k - 1) * before) / k
        ),
    }
)
