"""Errors of results against a computation of higher precision, in ULPs, as histograms that can be merged."""

from __future__ import annotations

import collections
import dataclasses
import math
from typing import Any, Final

import numpy as np

#: Number of histogram bins per factor of two of the error; quantiles are exact to one bin.
_STEPS: Final = 8
#: Errors up to this one, in ULPs, count as zero.
_NOTHING: Final = 2.0**-10
#: The bin of errors that count as zero.
_EXACT: Final = -10 * _STEPS
#: The candidate is less accurate if its error exceeds this many times the reference's, or half an ULP if that is more.
WORSE: Final = 4.0
_HALF: Final = 0.5
#: dtype -> number of bits of its significand, and the exponent of its smallest normal number.
_FORMATS: Final = {"float64": (53, -1022), "float32": (24, -126), "float16": (11, -14), "bfloat16": (8, -126)}
#: dtype -> exponent of the power of two at which it overflows; 128 for the other dtypes.
_OVERFLOWS: Final = {"float64": 1024, "float16": 16}
#: Mask of the exponent bits of a float64.
_EXPONENT: Final = np.int64(0x7FF0_0000_0000_0000)


def measurable(dtype: str) -> bool:
    """Whether the error of results of `dtype` can be measured against double or extended precision."""
    return dtype in _FORMATS


def in_ulps(
    given: np.ndarray[Any, Any], exact: np.ndarray[Any, Any], dtype: str
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return ``|given - exact|`` in units in the last place of `exact` in `dtype`, as a 1-d array.

    Elements that are not finite in `given`, or that overflow in `dtype` in `exact`, are left out.

    Args:
        given: the results of a framework.
        exact: the exact results, of the same shape, in double precision; for float64 in extended precision.
        dtype: the framework's name of the dtype of `given`; it must be `measurable`.
    """
    digits, least = _FORMATS[dtype]
    wide = np.longdouble if dtype == "float64" else np.float64
    exact, given = np.asarray(exact, wide).ravel(), np.asarray(given, wide).ravel()
    largest = np.ldexp(wide(1.0), _OVERFLOWS.get(dtype, 128))
    magnitude = np.abs(exact)
    if exact.size and not (magnitude.max() < largest and np.isfinite(given).all()):  # also true for a NaN
        kept = np.isfinite(given) & (magnitude < largest)
        exact, given, magnitude = exact[kept], given[kept], magnitude[kept]
    # The units are powers of two, so dividing by them does not round.
    binade = np.maximum(_binade(magnitude), np.ldexp(wide(1.0), least))
    found = np.abs(given - exact) / (binade * np.ldexp(wide(1.0), 1 - digits))
    errors: np.ndarray[Any, np.dtype[np.float64]] = found.astype(np.float64, copy=False)
    return errors


def _binade(magnitude: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the greatest power of two not above each of these finite numbers; 0 for 0 and for subnormal doubles."""
    if magnitude.dtype == np.float64:
        # Masking the exponent's bits takes a tenth of the time of `frexp`.
        binade: np.ndarray[Any, Any] = (magnitude.view(np.int64) & _EXPONENT).view(np.float64)
        return binade
    exponent = np.frexp(magnitude)[1]
    return np.where(magnitude == 0, 0, np.ldexp(magnitude.dtype.type(1.0), exponent - 1))


@dataclasses.dataclass(slots=True)
class Errors:
    """The histogram of the errors of one side."""

    #: bin -> number of elements whose error is at most ``2 ** (bin / 8)`` ULPs and above that of the bin before
    bins: collections.Counter[int] = dataclasses.field(default_factory=collections.Counter)
    greatest: float = 0.0

    def add(self, errors: np.ndarray[Any, np.dtype[np.float64]]) -> None:
        if errors.size:
            greatest = float(errors.max())
            self.greatest = max(self.greatest, greatest)
            if greatest <= _NOTHING:  # the common case of operators that only move or select values
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
        """Return the error, in ULPs, that a fraction `share` of all elements does not exceed, exact to one bin."""
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
        """Return the number of elements and each side's greatest and 99th-percentile error for `json.dumps`."""
        return {
            "elements": self.elements,
            "reference": [self.reference.greatest, self.reference.quantile(0.99)],
            "candidate": [self.candidate.greatest, self.candidate.quantile(0.99)],
            "worse": self.worse,
        }
