"""Compares both sides of a result with double precision, and counts the elements that rounding does not explain.

The error that rounding explains in an element is ``u * (4 + 2 * sqrt(n)) * |truth| + 6 * sqrt(n) * spread``. Here u is
the unit roundoff of its dtype, n the largest number of terms that are summed in it, and spread the change of the
element when the inputs change by one roundoff. This is the probabilistic bound of Higham and Mary, SIAM J. Sci. Comput.
41(5), 2019, with the condition measured and not derived. An element that depends on only one or two inputs has n = 2.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from autotest.base.numpy_warnings import warnings_off
from autotest.comparison.elementwise import Values, distance, index_of_greatest
from autotest.diagnosis.rounding.roundoff import NARROW, ROUNDOFF, TINY

_GREATEST = float(np.finfo(np.float64).max)
#: The amplification of a roundoff of the inputs, in roundoffs of the result, above which a result is ill-conditioned.
_AMPLIFIED = 1000.0
#: The relative error of the candidate above which no order of operations explains it, if the reference's error is
#: rounding: in single precision, more than half of the digits are lost.
_DIGITS = 1e-3
#: An element that stands still in this fraction of the runs, or more, depends on few inputs. Each run changes half of
#: the inputs, and two runs change each once: of eight runs, an element of one input stands still in four. With two
#: inputs it stands still in two or more with probability 0.69, with three 0.26, with four 0.08, and with six 0.005.
_STILL = 0.25
#: The least part of a change that remains at a step if inputs change by roundoffs of double precision, not of single
#: precision. What changes smoothly keeps 2**-29 of it, and 2**-42 if half precision changed.
_STEP = 2.0**-10
#: By how much less than the roundoff an error of both sides may shrink in double precision. It is a random number of
#: about the roundoff's size, in either precision.
SHRINKS = 16.0
#: The fraction of a difference between the sides that may remain in double precision if low precision causes it.
_KEPT = 0.01
#: The fraction up to which it is no sign of another cause. A side that keeps a number in single precision, such as the
#: ``eps`` of a normalisation, differs by one roundoff of that in double precision, too. A mismatch is larger: the
#: relative tolerance of a test is 1e-4, or 1700 roundoffs.
_LEFT_BY_A_ROUNDOFF = 1e-3


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """The errors of the two sides against double precision, at the mismatched elements."""

    #: The numbers of mismatched elements whose error rounding does not explain, for the reference and the candidate.
    wrong: tuple[int, int]
    total: int
    #: The index of the worst element, and there: the truth, the errors of both sides, and the error that rounding
    #: explains.
    index: tuple[int, ...]
    truth: float
    errors: tuple[float, float]
    allowed: float
    #: For each side, the greatest quotient of an error and what rounding explains of it.
    excess: tuple[float, float]
    #: The largest gap between the two sides in double precision, and the gap that rounding explains there.
    wide_gap: float
    wide_allowed: float
    #: The change of the worst element, in roundoffs, when the inputs change by one roundoff.
    amplification: float
    #: Whether the worst element depends on few inputs, so that no great numbers can have cancelled in it.
    few: bool = False
    #: Whether the difference at the worst element remains in double precision. Oracles then come first.
    stays: bool = False
    #: Whether what remains of each difference in double precision is too little to have caused it.
    vanishes: bool = False
    #: Whether the elements lie beside a step of the function, so that roundoffs of double precision explain the gap.
    #: An example is the gradient of ``relu`` at a difference of equal numbers, which is zero but for rounding.
    beside_step: bool = False
    #: Whether the result is in double precision itself, so that the truth is no more than the reference's own result.
    #: Oracles then come first, too.
    own_truth: bool = False
    #: Whether the candidate has no result in double precision, so that the truth is the reference's alone. An error of
    #: the candidate's then is either one of its precision or another meaning of the operator. Oracles come first, too.
    one_sided: bool = False
    #: The greatest magnitude of the truth among the mismatched elements; 0 if it is not known precisely enough.
    scale: float = 0.0

    @property
    def wide_agrees(self) -> bool:
        return self.wide_gap <= self.wide_allowed

    @property
    def double_decides(self) -> bool:
        """Whether the result in double precision is the truth, against which the errors of the sides are counted."""
        return self.wide_agrees or self.beside_step or (self.vanishes and not all(self.wrong))

    @property
    def seen_to_agree(self) -> bool:
        """Whether both sides ran in double precision and agree there."""
        return self.wide_agrees and not self.one_sided

    @property
    def is_rounding(self) -> bool:
        """Whether rounding explains the errors of both sides, in either precision."""
        return self.double_decides and not any(self.wrong)

    @property
    def ill_conditioned(self) -> bool:
        return self.amplification > _AMPLIFIED

    @property
    def imprecise(self) -> bool:
        """Whether the candidate alone has so large a relative error that no order of operations explains it.

        This is a fault of its single precision, even if the numbers are small.
        """
        well_conditioned = self.few and not self.ill_conditioned
        return well_conditioned and not self.wrong[0] and self.errors[1] > _DIGITS * self.scale > 0


@dataclasses.dataclass(frozen=True, slots=True)
class Rounding:
    """The properties of a result that determine its rounding error."""

    #: The dtype of the result.
    dtype: str
    #: The largest number of terms that are summed in one element.
    length: float
    #: The rounding error in the dtype of the greatest intermediate values, which may have cancelled. It is used in
    #: double precision, where too large a value hides nothing.
    cancellation: float = 0.0
    #: Whether the operands of the result are the same on both sides and in both precisions. Then rounding neither
    #: moves an operand away from a pole, nor changes an integer in double precision.
    exact: bool = False

    def allowed(self, truth: Values, spread: Values, few: Values) -> Values:
        """Return the error that rounding explains, for each element.

        Args:
            truth: the result in double precision.
            spread: the change of each element when the inputs change by one roundoff, of the shape of `truth`.
            few: a mask of the elements that depend on few inputs, of the same shape.
        """
        if self.dtype not in ROUNDOFF:
            # Integers and booleans are exact, unless a roundoff of the inputs changes them.
            return np.where(spread > 0, np.inf, 0.0)
        root = np.sqrt(np.maximum(self._lengths(few), 1.0))
        with warnings_off():
            own = ROUNDOFF[self.dtype] * (4 + 2 * root) * np.abs(truth)
            bound = np.where(np.isfinite(own), own, 0.0) + 6 * root * spread
        bound = np.where(self._certain(truth, few), 0.0, bound)
        return np.asarray(bound + 4 * TINY.get(self.dtype, 2.0**-149))

    def allowed_in_double(self, allowed: Values, truth: Values, few: Values) -> Values:
        """Return the gap between the sides in double precision that rounding explains, for each element.

        Args:
            allowed: the return value of `allowed`, of the shape of `truth`.
            truth: the result in double precision.
            few: a mask of the elements that depend on few inputs, of the same shape.
        """
        finite = np.isfinite(allowed)
        bound = self.ratio(truth) * np.maximum(64 * np.where(finite, allowed, 0.0), self.cancellation)
        bound = np.where(finite, bound, np.inf)
        certain = self._certain(truth, few) if self.dtype in ROUNDOFF else self.exact
        return np.where(certain, 0.0, bound)

    def _certain(self, truth: Values, few: Values) -> Values:
        """Return a mask of the elements that are at a pole or outside the domain, as their operands are exact."""
        return np.asarray(self.exact & few & ~np.isfinite(truth))

    def ratio(self, truth: Values) -> float:
        """Return the roundoff of double precision divided by that of the result; 0 for integers and booleans."""
        wide = "complex128" if truth.dtype.kind == "c" else "float64"
        return ROUNDOFF[wide] / ROUNDOFF[self.dtype] if self.dtype in ROUNDOFF else 0.0

    def may_overflow(self, truth: Values, spread: Values, few: Values) -> Values:
        """Return a mask of the finite elements where some order of summation may overflow the dtype.

        Independent roundoffs of n terms change their sum by u / sqrt(3) times the Euclidean norm of the terms, and no
        partial sum exceeds sqrt(n) times that norm. The sum of one or two terms does not depend on an order.
        """
        kind = NARROW.get(self.dtype)
        if kind is None or self.dtype not in ROUNDOFF:
            return np.zeros(truth.shape, bool)
        lengths = self._lengths(few)
        with warnings_off():
            reached = np.sqrt(3 * lengths) * spread / ROUNDOFF[self.dtype]
        return np.asarray(np.isfinite(truth) & (lengths > 2) & (reached > float(np.finfo(kind).max)))

    def amplification(self, truth: float, spread: float) -> float:
        """Return the change of an element, in roundoffs of the result, when the inputs change by one roundoff."""
        scale = ROUNDOFF.get(self.dtype, 1.0) * max(float(np.abs(truth)), TINY.get(self.dtype, 1.0))
        with warnings_off():  # for a zero in double precision, the scale is zero, too
            return float(np.divide(spread, scale)) if np.isfinite(scale) else float("inf")

    def scale(self, truth: Values) -> float:
        """Return the greatest finite magnitude of `truth`; 0 if it is not known precisely enough.

        This is so if double precision is not more precise than the result, or if `truth` may be no more than the
        error that is left after great numbers cancelled.
        """
        ratio = self.ratio(truth)
        greatest = float(np.abs(truth).max(initial=0.0, where=np.isfinite(truth)))
        return greatest if ratio < 1 and greatest > 64 * ratio * self.cancellation else 0.0

    def _lengths(self, few: Values) -> Values:
        return np.where(few, 2.0, self.length)


class Spread:
    """The spread of the elements of a result over runs with perturbed inputs.

    The runs are added one by one, so that only one of them, which may be large, is in memory.
    """

    __slots__ = ("_squares", "_stood_still", "runs", "truth")

    def __init__(self, truth: Values) -> None:
        self.truth = np.asarray(truth)
        #: The number of runs in which each element did not change.
        self._squares, self._stood_still = np.zeros(self.truth.shape), np.zeros(self.truth.shape, np.uint8)
        self.runs = 0

    def add(self, moved: Values) -> None:
        """Add the result `moved` of one run; a result of another shape is ignored."""
        if moved.shape != self.truth.shape:
            return
        with warnings_off():
            move = distance(self.truth, moved.astype(self.truth.dtype))
            self._stood_still += move == 0
            self._squares += move**2
        self.runs += 1

    def leave_out(self, finer: Spread) -> None:
        """Leave out the changes of elements that change hardly less in `finer`, of which the inputs changed far less.

        Such an element lies beside a step, as the gradient of a maximum of equal numbers does.
        """
        with warnings_off():
            self._squares = np.where(finer._squares > _STEP**2 * self._squares, 0.0, self._squares)

    def found(self) -> tuple[Values, Values]:
        """Return the root mean square change of each element, and a mask of the elements that depend on few inputs."""
        if not self.runs:
            return self._squares, np.ones(self.truth.shape, bool)
        with warnings_off():
            return np.sqrt(2 * (self._squares / self.runs)), self._stood_still >= _STILL * self.runs


def measure(
    pair: tuple[Values, Values], wide: tuple[Values, Values], moved: Spread, mask: Values, rounding: Rounding
) -> Measured:
    """Return the errors of both sides at the elements in `mask`.

    Args:
        pair: the expected and the actual values, of one shape.
        wide: the same in double precision.
        moved: the spread of the reference's values in double precision when the inputs change by a roundoff of the
            result's dtype.
        mask: the mismatched elements, at least one.
        rounding: the properties of the result that determine its rounding error.
    """
    truth = np.asarray(wide[0])
    spread, few = moved.found()
    allowed = rounding.allowed(truth, spread, few)
    errors = [distance(_rounded(truth, rounding.dtype), np.asarray(side).astype(truth.dtype)) for side in pair]
    may_overflow = rounding.may_overflow(truth, spread, few)
    # A non-finite element is excused there. It may be NaN, if terms of both signs overflow.
    beyond_range = [may_overflow & ~np.isfinite(side) for side in pair]
    errors = [np.where(excused, 0.0, error) for excused, error in zip(beyond_range, errors, strict=True)]
    # An element with an infinite allowance has no excess, however large its error is.
    with warnings_off():  # the quotient of a finite error and a tiny allowance may be infinite
        excess = [
            np.divide(error, np.maximum(allowed, 1e-320), out=np.zeros(truth.shape), where=np.isfinite(allowed))
            for error in errors
        ]
    at = index_of_greatest(np.where(mask, np.maximum(*excess), -1.0))
    gap = distance(truth, np.asarray(wide[1]).astype(truth.dtype))
    wide_allowed = rounding.allowed_in_double(allowed, truth, few)
    # An error of both sides that shrinks with the roundoff is made by it, though changes of the inputs do not show it:
    # equal terms cancel in the gradient of a normalised row, whatever the row holds.
    wide_allowed = np.fmax(wide_allowed, SHRINKS * rounding.ratio(truth) * np.minimum(*errors))
    beyond = np.subtract(gap, wide_allowed, out=np.full(truth.shape, -_GREATEST), where=np.isfinite(wide_allowed))
    wide_at = index_of_greatest(np.where(mask, beyond, -np.inf))
    # What low precision causes vanishes in double precision. The bound for rounding does not show this: great numbers
    # elsewhere in the inputs may make it larger than the values, and it knows nothing of constants.
    difference = distance(*(np.asarray(side).astype(truth.dtype) for side in pair))
    more_precise = 0 < rounding.ratio(truth) < _KEPT
    return Measured(
        wrong=(int((errors[0] > allowed)[mask].sum()), int((errors[1] > allowed)[mask].sum())),
        total=int(mask.sum()),
        index=at,
        truth=truth[at].item(),
        errors=(float(errors[0][at]), float(errors[1][at])),
        excess=(float(excess[0][mask].max()), float(excess[1][mask].max())),
        allowed=float(allowed[at]),
        wide_gap=float(gap[wide_at]),
        wide_allowed=float(wide_allowed[wide_at]),
        amplification=rounding.amplification(truth[at], float(spread[at])),
        few=bool(few[at]),
        stays=bool(gap[at] > _KEPT * difference[at]) and rounding.ratio(truth) < _KEPT,
        vanishes=more_precise and bool((gap < _LEFT_BY_A_ROUNDOFF * difference)[mask].all()),
        own_truth=rounding.ratio(truth) == 1,
        scale=rounding.scale(truth[mask]),
    )


def reaches(spread: Spread, claimed: Values, mask: Values, length: float) -> bool:
    """Return whether a spread explains that the other side has the values `claimed` where the reference has the truth.

    Args:
        spread: the spread of the reference's values in double precision when its operands change by a roundoff of that.
        claimed: the candidate's values in double precision, of the same shape.
        mask: the mismatched elements.
        length: the largest number of terms that are summed in one element.
    """
    with warnings_off():
        gap = distance(spread.truth, claimed.astype(spread.truth.dtype))
        return bool((gap <= 6 * np.sqrt(length) * spread.found()[0])[mask].all())


def _rounded(truth: Values, dtype: str) -> Values:
    """Return `truth` with infinities where `dtype` overflows, as these are no error of either side."""
    kind = NARROW.get(dtype)
    if kind is None:
        return truth
    with warnings_off():
        narrow = truth.astype(kind).astype(truth.dtype)
        return np.asarray(np.where(np.isfinite(narrow), truth, narrow))
