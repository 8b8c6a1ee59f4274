"""How far results lie from those of more digits, in units in the last place, as a histogram that can be merged."""

from __future__ import annotations

import collections
import dataclasses
import math
from typing import Any, Final

import numpy as np

#: Bins of the histogram for each doubling of an error: a quantile is exact to one of these steps.
_STEPS: Final = 8
#: Errors below this one count as nothing.
_NOTHING: Final = 2.0**-10
#: And their bin.
_EXACT: Final = -10 * _STEPS
#: How many times the candidate's errors may exceed those of the reference, or half a unit, before it is worse.
WORSE: Final = 4.0
_HALF: Final = 0.5
#: dtype -> digits of its significand, and the exponent of its smallest normal number.
_FORMATS: Final = {"float64": (53, -1022), "float32": (24, -126), "float16": (11, -14), "bfloat16": (8, -126)}
#: dtype -> the power of two from which on it has no numbers; 128 for the others.
_OVERFLOWS: Final = {"float64": 1024, "float16": 16}
#: The bits of a double that hold its exponent.
_EXPONENT: Final = np.int64(0x7FF0_0000_0000_0000)


def measurable(dtype: str) -> bool:
    """Whether double precision, or a higher one, says of results of this dtype how far they are off."""
    return dtype in _FORMATS


def in_ulps(
    given: np.ndarray[Any, Any], exact: np.ndarray[Any, Any], dtype: str
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """|given - exact| in units in the last place of `exact` in `dtype`, of the elements that are finite in both.

    `exact` is in double precision, of float64 in extended precision; what overflows in `dtype` is left out, too.
    """
    digits, least = _FORMATS[dtype]
    wide = np.longdouble if dtype == "float64" else np.float64
    exact, given = np.asarray(exact, wide).ravel(), np.asarray(given, wide).ravel()
    largest = np.ldexp(wide(1.0), _OVERFLOWS.get(dtype, 128))
    magnitude = np.abs(exact)
    if exact.size and not (magnitude.max() < largest and np.isfinite(given).all()):  # a NaN is not less, either
        kept = np.isfinite(given) & (magnitude < largest)
        exact, given, magnitude = exact[kept], given[kept], magnitude[kept]
    # Units of powers of two: dividing by them rounds nothing.
    binade = np.maximum(_binade(magnitude), np.ldexp(wide(1.0), least))
    found = np.abs(given - exact) / (binade * np.ldexp(wide(1.0), 1 - digits))
    errors: np.ndarray[Any, np.dtype[np.float64]] = found.astype(np.float64, copy=False)
    return errors


def _binade(magnitude: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The greatest power of two that is not above each of these finite numbers; of doubles, 0 for what is subnormal."""
    if magnitude.dtype == np.float64:
        # Taking the exponent's bits alone takes a tenth of the time.
        binade: np.ndarray[Any, Any] = (magnitude.view(np.int64) & _EXPONENT).view(np.float64)
        return binade
    exponent = np.frexp(magnitude)[1]
    return np.where(magnitude == 0, 0, np.ldexp(magnitude.dtype.type(1.0), exponent - 1))


@dataclasses.dataclass(slots=True)
class Errors:
    """The errors of one side."""

    #: bin -> how many elements; an error of ``2 ** (bin / 8)`` units at most
    bins: collections.Counter[int] = dataclasses.field(default_factory=collections.Counter)
    greatest: float = 0.0

    def add(self, errors: np.ndarray[Any, np.dtype[np.float64]]) -> None:
        if errors.size:
            greatest = float(errors.max())
            self.greatest = max(self.greatest, greatest)
            if greatest <= _NOTHING:  # what only moves or chooses numbers is never off
                self.bins[_EXACT] += errors.size
                return
            bins = np.ceil(np.log2(np.maximum(errors, _NOTHING)) * _STEPS).astype(int)
            least = int(bins.min())
            counts = np.bincount(bins - least)
            steps = np.flatnonzero(counts)
            self.bins.update(dict(zip((steps + least).tolist(), counts[steps].tolist(), strict=True)))

    def merge(self, other: Errors) -> None:
        self.bins.update(other.bins)
        self.greatest = max(self.greatest, other.greatest)

    def quantile(self, share: float) -> float:
        """The error that `share` of all elements do not exceed, to one step of the histogram."""
        wanted = math.ceil(share * self.bins.total())
        for step in sorted(self.bins):
            wanted -= self.bins[step]
            if wanted <= 0:
                bound = 2.0 ** (step / _STEPS)
                return 0.0 if bound <= _NOTHING else min(bound, self.greatest)
        return 0.0


@dataclasses.dataclass(slots=True)
class Accuracy:
    """The errors of both sides on the same results."""

    reference: Errors = dataclasses.field(default_factory=Errors)
    candidate: Errors = dataclasses.field(default_factory=Errors)

    @property
    def elements(self) -> int:
        return self.candidate.bins.total()

    def merge(self, other: Accuracy) -> None:
        self.reference.merge(other.reference)
        self.candidate.merge(other.candidate)

    @property
    def worse(self) -> bool:
        """Whether the candidate's greatest or 99th-percentile error is more than four times the reference's."""
        return any(
            candidate > WORSE * max(reference, _HALF)
            for reference, candidate in (
                (self.reference.greatest, self.candidate.greatest),
                (self.reference.quantile(0.99), self.candidate.quantile(0.99)),
            )
        )

    def as_data(self) -> dict[str, Any]:
        """Greatest and 99th-percentile error of each side, and of how many elements, for `json.dumps`."""
        return {
            "elements": self.elements,
            "reference": [self.reference.greatest, self.reference.quantile(0.99)],
            "candidate": [self.candidate.greatest, self.candidate.quantile(0.99)],
            "worse": self.worse,
        }
