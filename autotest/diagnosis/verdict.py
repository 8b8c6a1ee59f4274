"""Evidence -> blame, with the numbers that it rests on.

What rounding explains of an element is
``u * (4 + 2 * sqrt(n)) * |truth| + 6 * sqrt(n) * spread``, where u is the unit roundoff of its dtype, n how many
numbers are added up in it at most, and spread by how much it moves when the inputs move by one roundoff (the
probabilistic bound of Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019, with the condition measured and not
derived). An element that only one or two inputs reach has n = 2.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from autotest.comparison.elementwise import Values, distance
from autotest.diagnosis.roundoff import NARROW, ROUNDOFF, TINY

Blame = Literal[
    "candidate",
    "reference",
    "both",
    "semantic difference",
    "unstable",
    "rounding",
    "ill-conditioned",
    "ties",
    "nondeterministic",
    "inconclusive",
]

#: Blames that a test without a tolerance of its own does not fail for.
HARMLESS: frozenset[str] = frozenset(("rounding", "ill-conditioned", "ties"))

_GREATEST = float(np.finfo(np.float64).max)
#: How many roundoffs a roundoff of the inputs may become before a result is called ill-conditioned.
_AMPLIFIED = 1000.0
#: What part of a number may be lost in single precision where torch's own loses none that rounding does not explain:
#: more than half of its digits are none of rounding's.
_DIGITS = 1e-3


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """The two sides against double precision, at the elements that mismatched."""

    #: Mismatched elements that are beyond what rounding explains, of the reference and of the candidate.
    wrong: tuple[int, int]
    total: int
    #: Index of the worst element; the truth there, what either side has, and what rounding explains.
    index: tuple[int, ...]
    truth: float
    values: tuple[Any, Any]
    errors: tuple[float, float]
    allowed: float
    #: In double precision the two sides are this far apart at most, where this much is rounding.
    wide_gap: float
    wide_allowed: float
    #: How many roundoffs of the result one roundoff of the inputs makes, at the worst element.
    amplification: float
    #: Whether few inputs reach the worst element, so that nothing great can have cancelled in it.
    few: bool = False
    #: The greatest magnitude of the truth among the mismatched elements; 0 where that is known too roughly.
    scale: float = 0.0

    @property
    def wide_agrees(self) -> bool:
        return self.wide_gap <= self.wide_allowed

    @property
    def imprecise(self) -> bool:
        """Whether the candidate alone is off by so much of what it computes that no order of operations explains it.

        That is a fault of its single precision, however small the numbers are.
        """
        well_conditioned = self.few and self.amplification <= _AMPLIFIED
        return well_conditioned and not self.wrong[0] and self.errors[1] > _DIGITS * self.scale > 0


@dataclasses.dataclass(frozen=True, slots=True)
class OracleResult:
    """What somebody independent has to say: how far each side is from it."""

    name: str
    #: What the oracle found, in words: ``"0.25 at (1, 2)"``.
    found: str
    errors: tuple[float, float]
    allowed: float
    #: Whether it is a shape or dtype, which one has or has not: then an error is 0 or infinite.
    attribute: bool = False

    @property
    def accuses(self) -> tuple[bool, bool]:
        return not self.errors[0] <= self.allowed, not self.errors[1] <= self.allowed


@dataclasses.dataclass(frozen=True, slots=True)
class Evidence:
    """All that was found out about one mismatch."""

    symptom: str
    sides: tuple[str, str]
    #: How far each side is from itself when it runs twice.
    noise: tuple[float, float] = (0.0, 0.0)
    #: What the test allows at the mismatch, to compare the noise with.
    tolerated: float = 0.0
    measured: Measured | None = None
    oracles: tuple[OracleResult, ...] = ()
    #: Whether every call agrees when it is given the reference's operands.
    each_agrees: bool = False
    #: The greatest magnitude in the program times what rounding makes of it.
    backdrop: float = 0.0
    #: Whether it is a mismatch only because all numbers there are small.
    small: bool = False
    #: What an integer result selects is the same on both sides.
    ties: bool = False
    #: The derivative of either side's forward has a kink here: no gradient is the only right one.
    kink: bool = False
    #: Of a side further off than rounding: how far its error strays when inputs move by roundoffs, and the true result.
    strays: tuple[float, float] | None = None


#: The side that has to change; "nobody" where both may stay as they are, and "" where that is not known.
Wrong = Literal["candidate", "reference", "both", "nobody", ""]
_WRONG: Mapping[Blame, Wrong] = {
    "candidate": "candidate",
    "reference": "reference",
    "both": "both",
    "rounding": "nobody",
    "ill-conditioned": "nobody",
    "ties": "nobody",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """Who is wrong, in one line, and why."""

    blame: Blame
    line: str
    numbers: tuple[str, ...] = ()
    #: What the blame does not say by itself: a semantic difference is the candidate's where the reference specifies.
    side: Wrong = ""

    @property
    def wrong(self) -> Wrong:
        """The side that has to change."""
        return self.side or _WRONG.get(self.blame, "")

    @property
    def weak(self) -> bool:
        """Whether nobody but the two sides had an opinion, so that a verdict on less of the program may say more."""
        return self.blame == "inconclusive" or (self.blame == "semantic difference" and self.side == "candidate")


def measure(
    pair: tuple[Values, Values],
    wide: tuple[Values, Values],
    perturbed: Sequence[Values],
    dtype: str,
    length: float,
    mask: Values,
    backdrop: float = 0.0,
    *,
    exact: bool = False,
) -> Measured:
    """Judge the elements in `mask` (at least one).

    Args:
        pair: expected and actual values, of one shape.
        wide: the same in double precision.
        perturbed: double-precision results when the inputs move by a roundoff of `dtype`.
        dtype: of the result.
        length: how many numbers are added up in one element, at most.
        mask: the elements that mismatched.
        backdrop: what rounding to `dtype` makes of the greatest magnitudes on the way to the result, which may
            have cancelled. In double precision too much of it hides nothing.
        exact: whether what the result is computed of is the same on both sides, and in either precision. Then no
            rounding turns a whole number over in double precision, nor is one at a pole beside it.
    """
    truth = np.asarray(wide[0])
    spread, few = _spread(truth, perturbed)
    allowed = _allowed(truth, spread, np.where(few, 2.0, length), dtype)
    wide_dtype = "complex128" if truth.dtype.kind == "c" else "float64"
    ratio = ROUNDOFF[wide_dtype] / ROUNDOFF[dtype] if dtype in ROUNDOFF else 0.0
    finite = np.isfinite(allowed)
    wide_allowed = np.where(finite, ratio * np.maximum(64 * np.where(finite, allowed, 0.0), backdrop), np.inf)
    if exact:
        certain = np.isinf(truth) & few if dtype in ROUNDOFF else np.ones(truth.shape, bool)
        wide_allowed = np.where(certain, 0.0, wide_allowed)
    errors = [distance(_rounded(truth, dtype), np.asarray(side).astype(truth.dtype)) for side in pair]
    may_overflow = _sums_overflow(truth, spread, np.where(few, 2.0, length), dtype)
    errors = [np.where(may_overflow & np.isinf(side), 0.0, error) for side, error in zip(pair, errors, strict=True)]
    gap = distance(truth, np.asarray(wide[1]).astype(truth.dtype))
    # What is allowed anything is in excess of nothing, however far off it is.
    with np.errstate(over="ignore"):  # a finite error may be an infinite multiple of what is allowed
        excess = np.divide(
            np.maximum(*errors), np.maximum(allowed, 1e-320), out=np.zeros(truth.shape), where=np.isfinite(allowed)
        )
    beyond = np.subtract(gap, wide_allowed, out=np.full(truth.shape, -_GREATEST), where=np.isfinite(wide_allowed))
    at = _greatest(np.where(mask, excess, -1.0))
    wide_at = _greatest(np.where(mask, beyond, -np.inf))
    scale = ROUNDOFF.get(dtype, 1.0) * max(float(np.abs(truth[at])), TINY.get(dtype, 1.0))
    return Measured(
        wrong=(int((errors[0] > allowed)[mask].sum()), int((errors[1] > allowed)[mask].sum())),
        total=int(mask.sum()),
        index=at,
        truth=truth[at].item(),
        values=(np.asarray(pair[0])[at].item(), np.asarray(pair[1])[at].item()),
        errors=(float(errors[0][at]), float(errors[1][at])),
        allowed=float(allowed[at]),
        wide_gap=float(gap[wide_at]),
        wide_allowed=float(wide_allowed[wide_at]),
        amplification=float(spread[at] / scale) if np.isfinite(scale) else float("inf"),
        few=bool(few[at]),
        scale=_resolved(truth[mask], ratio, backdrop),
    )


def _resolved(truth: Values, ratio: float, backdrop: float) -> float:
    """The greatest magnitude of `truth`; 0 where double precision is no more precise, or may itself hold no more than
    what is left of great numbers that cancelled."""
    scale = float(np.abs(truth).max(initial=0.0, where=np.isfinite(truth)))
    return scale if ratio < 1 and scale > 64 * ratio * backdrop else 0.0


def _spread(truth: Values, perturbed: Sequence[Values]) -> tuple[Values, Values]:
    """Root mean square of how far each element moved, and which elements few inputs reach."""
    moves = [distance(truth, np.asarray(one).astype(truth.dtype)) for one in perturbed]
    if not moves:
        return np.zeros(truth.shape), np.ones(truth.shape, bool)
    stack = np.stack(moves)
    with np.errstate(all="ignore"):
        # Each run moves half of the inputs; an element that stood still in one of them depends on few.
        spread = np.sqrt(2 * np.mean(stack**2, axis=0))
    return spread, (stack == 0).any(axis=0)


def _allowed(truth: Values, spread: Values, length: Values, dtype: str) -> Values:
    if dtype not in ROUNDOFF:
        # Integers and booleans: exact, unless a roundoff of the inputs turns them over.
        return np.where(spread > 0, np.inf, 0.0)
    root = np.sqrt(np.maximum(length, 1.0))
    with np.errstate(all="ignore"):
        own = ROUNDOFF[dtype] * (4 + 2 * root) * np.abs(truth)
        bound = np.where(np.isfinite(own), own, 0.0) + 6 * root * spread
    return np.asarray(bound + 4 * TINY.get(dtype, 2.0**-149))


def _sums_overflow(truth: Values, spread: Values, length: Values, dtype: str) -> Values:
    """Where some order of adding up overflows `dtype` on the way to a finite result.

    Independent roundoffs of n terms move their sum by u / sqrt(3) of the terms' Euclidean norm, and no partial sum is
    more than sqrt(n) times that norm. One or two terms have no order.
    """
    kind = NARROW.get(dtype)
    if kind is None or dtype not in ROUNDOFF:
        return np.zeros(truth.shape, bool)
    with np.errstate(all="ignore"):
        reached = np.sqrt(3 * length) * spread / ROUNDOFF[dtype]
    return np.asarray(np.isfinite(truth) & (length > 2) & (reached > float(np.finfo(kind).max)))


def _rounded(truth: Values, dtype: str) -> Values:
    """`truth` with the overflow of `dtype`: an infinity there is no error of either side."""
    kind = NARROW.get(dtype)
    if kind is None:
        return truth
    with np.errstate(all="ignore"):
        narrow = truth.astype(kind).astype(truth.dtype)
        return np.asarray(np.where(np.isfinite(narrow), truth, narrow))


def _greatest(values: Values) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(values)), values.shape))


def judge(evidence: Evidence) -> Verdict:
    """Weigh `evidence`; what it does not settle is inconclusive, never guessed."""
    reference, candidate = evidence.sides
    symptom = evidence.symptom
    noisy = [side for side, noise in zip(evidence.sides, evidence.noise, strict=True) if noise > evidence.tolerated]
    if noisy:
        numbers = tuple(
            f"{side} run twice differs from itself by {noise:.3g}"
            for side, noise in zip(evidence.sides, evidence.noise, strict=True)
        )
        line = f"nondeterministic: {' and '.join(noisy)} does not agree with itself"
        return Verdict("nondeterministic", line, numbers, side="candidate" if noisy == [candidate] else "")
    if symptom == "exception":
        return Verdict("candidate", f"{candidate}: it refuses or lacks what {reference} accepts")
    if symptom == "accepted":
        return Verdict("candidate", f"{candidate}: it accepts what {reference} refuses")
    if symptom in ("crash", "hang", "out of memory"):
        return Verdict("candidate", f"{candidate}: {symptom}, where {reference} returns")
    if evidence.ties:
        return Verdict("ties", "ties: the two sides choose differently among equal values", ())
    accused = _accused(evidence)
    if accused is not None:
        return accused
    found = evidence.measured
    numbers = _numbers(evidence)
    if found is not None and found.wide_agrees:
        return _by_precision(evidence, found, numbers)
    if evidence.kink:
        what = "semantic difference: a kink, where more than one gradient is right"
        return Verdict("semantic difference", what, numbers, side="nobody")
    if any(any(oracle.accuses) for oracle in evidence.oracles):
        what = "inconclusive: those who were asked contradict each other, or both sides"
        return Verdict("inconclusive", what, numbers)
    # Nobody else has an opinion, and it is no rounding: what the reference does is what the candidate is to do.
    where = symptom if found is None else f"{symptom}, in float64 too"
    what = f"{reference} is the specification: {candidate} differs in {where}; nobody else has an opinion"
    return Verdict("semantic difference", what, numbers, side="candidate")


def _accused(evidence: Evidence) -> Verdict | None:
    """By oracles, whose word counts when they are not all against everybody."""
    if evidence.measured is not None and evidence.measured.wide_agrees:
        return None
    heard = [oracle for oracle in evidence.oracles if oracle.accuses in ((True, False), (False, True))]
    blamed = {oracle.accuses for oracle in heard}
    if len(blamed) != 1:
        return None
    at = 0 if blamed.pop() == (True, False) else 1
    blame: Blame = "candidate" if at else "reference"
    words = f"{evidence.sides[at]}: {heard[0].name} gives {heard[0].found}, as {evidence.sides[1 - at]} does"
    return Verdict(blame, words, _numbers(evidence))


def _by_precision(evidence: Evidence, found: Measured, numbers: tuple[str, ...]) -> Verdict:
    """Both sides agree in double precision, which then is the truth."""
    reference, candidate = evidence.sides
    wrong = [count > 0 for count in found.wrong]
    if any(wrong) and evidence.small and not (found.imprecise and not evidence.each_agrees):
        what = "rounding of numbers that are all small: the two sides agree in double precision"
        return Verdict("rounding", what, numbers)
    if any(wrong) and evidence.each_agrees and max(found.errors) <= evidence.backdrop:
        what = "rounding, piled up: every call agrees when it is given the same operands"
        return Verdict("rounding", what, numbers)
    if all(wrong):
        return Verdict(
            "both", f"both: {reference} and {candidate} are further from the float64 result than rounding", numbers
        )
    if any(wrong):
        blame: Literal["candidate", "reference"] = "candidate" if wrong[1] else "reference"
        name = evidence.sides[wrong[1]]
        if evidence.strays is not None:
            what = "its error strays by {:.3g} when inputs move by a few roundoffs, the true result by {:.3g}"
            line = f"{name}: rounding, which its algorithm makes great: {what.format(*evidence.strays)}"
            return Verdict("unstable", line, numbers, blame)
        return Verdict(blame, f"{name}: it is further from the float64 result than rounding explains", numbers)
    if found.amplification > _AMPLIFIED:
        what = f"ill-conditioned: a roundoff of the inputs becomes {found.amplification:.0f} of the result"
        return Verdict("ill-conditioned", what, numbers)
    return Verdict(
        "rounding", "rounding: both sides are as near to the float64 result as their precision allows", numbers
    )


def _numbers(evidence: Evidence) -> tuple[str, ...]:
    lines: list[str] = []
    reference, candidate = evidence.sides
    found = evidence.measured
    if found is not None:
        at = f" at {found.index}" if found.index else ""
        if found.wide_agrees:
            lines.append(
                f"float64 result{at}: {found.truth!r}. {reference} is off by {found.errors[0]:.3g}, {candidate} by "
                f"{found.errors[1]:.3g}; rounding explains {found.allowed:.3g}"
            )
            lines.append(
                f"beyond rounding: {reference} {found.wrong[0]}, {candidate} {found.wrong[1]} of {found.total} "
                "mismatched elements"
            )
        else:
            lines.append(
                f"in float64 the sides still differ by {found.wide_gap:.3g}; {found.wide_allowed:.3g} would be rounding"
            )
    lines += [_sentence(oracle, evidence.sides) for oracle in evidence.oracles]
    return tuple(lines)


def _sentence(oracle: OracleResult, sides: tuple[str, str]) -> str:
    if oracle.attribute:
        words = [f"{side} {'has not' if bad else 'has'}" for side, bad in zip(sides, oracle.accuses, strict=True)]
        return f"{oracle.name}: {oracle.found}, which {words[0]} and {words[1]}"
    return (
        f"{oracle.name}: {oracle.found}. {sides[0]} is off by {oracle.errors[0]:.3g}, {sides[1]} by "
        f"{oracle.errors[1]:.3g} ({oracle.allowed:.3g} allowed)"
    )
