"""How scripts compare two arrays of one shape, as this library does.

Complex numbers need a function of their own: `numpy.isclose` takes one with a NaN in either part for a NaN, and finds
two different infinities in the same part alike or not by their other part.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from autotest.comparison.elementwise import Statistics
from autotest.program.dtypes import is_complex, is_differentiable

#: Source of a function that returns where two arrays of one shape agree. Real numbers may be given, too.
CLOSE: Final = '''\
def close(actual, expected, rtol, atol):
    """Return where numbers agree. A real or imaginary part that is the same NaN or infinity in both counts as 0."""
    a, e = (np.array([np.real(side), np.imag(side)], float) for side in (actual, expected))
    alike = ~np.isfinite(e) & ((a == e) | np.isnan(a) & np.isnan(e))
    a, e = np.where(alike, 0, a), np.where(alike, 0, e)
    with np.errstate(all="ignore"):
        gap = np.hypot(*(a - e))
        return (gap <= atol + rtol * np.hypot(*e)) & np.isfinite(gap)

'''


class Closeness(NamedTuple):
    """How a script asks whether the arrays ``expected`` and ``actual`` agree: for each element, and as a whole."""

    each: str
    whole: str
    #: The source of the function that both expressions call, if any.
    definition: str = ""


def closeness_of(found: Statistics) -> Closeness:
    """Return how values with the dtype and the tolerances of `found` agree."""
    given = f"actual, expected, {found.rtol!r}, {found.atol!r}"
    if is_complex(found.dtype):
        return Closeness(f"close({given})", f"close({given}).all()", CLOSE)
    if is_differentiable(found.dtype):
        return Closeness(f"np.isclose({given}, equal_nan=True)", f"np.allclose({given}, equal_nan=True)")
    return Closeness("expected == actual", "np.array_equal(expected, actual)")
