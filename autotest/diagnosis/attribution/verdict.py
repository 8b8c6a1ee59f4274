"""Weighs the evidence about a mismatch, and decides which side is wrong."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Literal

from autotest.comparison.mismatch import NUMERIC_SYMPTOMS
from autotest.diagnosis.oracles.oracle_result import OracleResult
from autotest.diagnosis.rounding.error_spread import ErrorSpread
from autotest.diagnosis.rounding.measurement import Measured

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

#: Blames for which a test without its own tolerance does not fail.
HARMLESS: frozenset[str] = frozenset(("rounding", "ill-conditioned", "ties"))


@dataclasses.dataclass(frozen=True, slots=True)
class Evidence:
    """All evidence about one mismatch."""

    symptom: str
    sides: tuple[str, str]
    #: The difference between two runs of each side.
    noise: tuple[float, float] = (0.0, 0.0)
    #: The tolerance of the test at the mismatch, to compare the noise with.
    tolerated: float = 0.0
    #: Whether the mismatch is in uninitialised memory that the program writes, as of ``torch.empty``.
    in_new_memory: bool = False
    #: The operator whose call changes the value on the candidate although it only reads it; empty if none does.
    changed_by: str = ""
    measured: Measured | None = None
    oracles: tuple[OracleResult, ...] = ()
    #: Whether every call agrees on the reference's operands.
    each_agrees: bool = False
    #: The rounding error of the greatest magnitudes in the program, which may have cancelled.
    cancellation: float = 0.0
    #: Whether the mismatch only exists because all numbers there are small.
    small: bool = False
    #: Whether the integer results, used as indices, select equal values on both sides.
    ties: bool = False
    #: Whether the reference computes in double precision what it refuses in single precision.
    refused_in_single_precision: bool = False
    #: Whether the function has a kink here, so that more than one gradient is right.
    kink: bool = False
    #: For each side with more error than rounding explains: how its error varies; None if that is unknown.
    error_spreads: tuple[ErrorSpread | None, ErrorSpread | None] = (None, None)


#: Algorithms amplify rounding alike if the standard deviations of their errors differ by at most this factor. Each
#: deviation is estimated from eight runs, so that either may be off by a half.
_ALIKE = 3.0

#: An error that is greater than the reference's by this factor is not the one of its algorithm. Where terms cancel, the
#: reference has more error than changes of the inputs explain, and another algorithm one that is like it (`_ALIKE`).
_FAR_GREATER = 100.0

#: Says how the error of an algorithm that amplifies rounding varies, of an `ErrorSpread`.
_VARIES = "When the inputs change slightly, its error changes by {:.3g}, and the true result by {:.3g}"

#: The side that has to change; "nobody" if neither has to, and "" if it is unknown.
WrongSide = Literal["candidate", "reference", "both", "nobody", ""]
_WRONG: Mapping[Blame, WrongSide] = {
    "candidate": "candidate",
    "reference": "reference",
    "both": "both",
    "rounding": "nobody",
    "ill-conditioned": "nobody",
    "ties": "nobody",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """The side that is wrong, the reason in one line, and the numbers behind it."""

    blame: Blame
    line: str
    numbers: tuple[str, ...] = ()
    #: The side that has to change, if `blame` does not imply it. For example, a semantic difference is the candidate's
    #: fault if the reference is the specification.
    side: WrongSide = ""

    @property
    def wrong(self) -> WrongSide:
        """The side that has to change."""
        return self.side or _WRONG.get(self.blame, "")

    @property
    def weak(self) -> bool:
        """Whether no oracle decided, so that a verdict on a smaller part of the program may say more."""
        return self.blame == "inconclusive" or (self.blame == "semantic difference" and self.side == "candidate")


def judge(evidence: Evidence) -> Verdict:
    """Return the verdict on `evidence`, which is inconclusive if the evidence does not settle the matter."""
    without_numbers = _nondeterministic(evidence) or _by_symptom(evidence)
    if without_numbers is not None:
        return without_numbers
    if evidence.changed_by:
        reference, candidate = evidence.sides
        return Verdict(
            "candidate",
            f"{candidate}: {evidence.changed_by} changes an earlier value, which {reference} leaves as it is",
        )
    if evidence.ties:
        return Verdict("ties", "ties: several values are equal, and each side selects a different one", ())
    reference, candidate = evidence.sides
    found, numbers = evidence.measured, _numbers(evidence)
    # Numbers that differ as well say nothing about a wrong dtype: that is no rounding.
    of_numbers = evidence.symptom in NUMERIC_SYMPTOMS
    noise = evidence.error_spreads[0]
    if of_numbers and noise is not None and amplified_by_reference(found, evidence.error_spreads):
        what = f"rounding: the algorithm of {reference} amplifies it, and {candidate} is right"
        return Verdict("rounding", f"{what}. {_VARIES.format(noise.noise, noise.result)}", numbers)
    accused = _accused(evidence)
    if accused is not None:
        return accused
    if of_numbers and found is not None and found.wide_agrees:
        return _by_precision(evidence, found, numbers)
    if evidence.kink:
        what = "semantic difference: the function has a kink here, and more than one gradient is right"
        return Verdict("semantic difference", what, numbers, side="nobody")
    for oracle in evidence.oracles:
        if oracle.several and not any(oracle.accuses):
            what = f"semantic difference: several results are right, and each side returns one of them: {oracle.found}"
            return Verdict("semantic difference", what, numbers, side="nobody")
    if any(any(oracle.accuses) for oracle in evidence.oracles):
        what = "inconclusive: the independent oracles contradict each other, or contradict both sides"
        return Verdict("inconclusive", what, numbers)
    if of_numbers and found is not None and found.double_decides:
        return _by_precision(evidence, found, numbers)
    # No oracle has an opinion, and it is not rounding: the candidate has to do what the reference does.
    where = evidence.symptom if found is None else f"{evidence.symptom}, also in float64"
    what = f"{reference} is the specification: {candidate} differs in {where}; no independent oracle can decide"
    return Verdict("semantic difference", what, numbers, side="candidate")


def _nondeterministic(evidence: Evidence) -> Verdict | None:
    """Return the verdict if a side differs from itself by more than the tolerance."""
    reference, candidate = evidence.sides
    noises = list(zip(evidence.sides, evidence.noise, strict=True))
    noisy = [side for side, noise in noises if noise > evidence.tolerated]
    if not noisy:
        return None
    numbers = tuple(f"two runs of {side} differ by {noise:.3g}" for side, noise in noises)
    if noisy == [candidate] and evidence.in_new_memory:
        line = f"{candidate}: it does not write all of the uninitialised memory that {reference} writes"
        return Verdict("candidate", line, numbers)
    disagree = "give different results in two runs" if len(noisy) > 1 else "gives different results in two runs"
    line = f"nondeterministic: {' and '.join(noisy)} {disagree}"
    return Verdict("nondeterministic", line, numbers, side="candidate" if noisy == [candidate] else "")


def _by_symptom(evidence: Evidence) -> Verdict | None:
    """Return the verdict if only one side returned a result."""
    reference, candidate = evidence.sides
    if evidence.symptom == "exception":
        return Verdict("candidate", f"{candidate}: it refuses or lacks what {reference} accepts")
    if evidence.symptom == "accepted" and evidence.refused_in_single_precision:
        return Verdict("reference", f"{reference}: it refuses in float32 what it computes in float64")
    if evidence.symptom == "accepted":
        return Verdict("candidate", f"{candidate}: it accepts what {reference} refuses")
    if evidence.symptom in ("crash", "hang", "out of memory"):
        return Verdict("candidate", f"{candidate}: {evidence.symptom}; {reference} returns a result")
    return None


def amplified_alike(measured: Measured | None, spreads: tuple[ErrorSpread | None, ErrorSpread | None]) -> bool:
    """Whether the errors of both sides are rounding that their algorithms amplify, the candidate's not much more.

    If the error of the reference, too, is larger than rounding explains, the operator amplifies rounding in a way that
    changes of its inputs do not show: a gate next to 1 is rounded to 1.
    """
    own, other = spreads
    if measured is None or not measured.wrong[1] or not measured.double_decides or measured.beside_step:
        return False
    alike = measured.excess[1] <= _ALIKE * measured.excess[0] < math.inf
    if not measured.wrong[0]:
        return alike and other is not None and other.is_noise
    if own is None or other is None:
        return alike
    return alike or (own.is_noise and other.is_unstable and other.error <= _ALIKE * own.noise)


def amplified_by_reference(measured: Measured | None, spreads: tuple[ErrorSpread | None, ErrorSpread | None]) -> bool:
    """Whether the algorithm of the reference amplifies rounding, and the candidate's result is right.

    `layer_norm` of a single number is an example: its difference from the mean is zero, and torch subtracts two
    rounded numbers.
    """
    noisy = spreads[0] is not None and spreads[0].is_noise
    return noisy and measured is not None and not (measured.wrong[1] or measured.stays)


def _accused(evidence: Evidence) -> Verdict | None:
    """Return the verdict of the oracles if all that accuse exactly one side accuse the same one, else None."""
    found = evidence.measured
    oracles_first = found is not None and (found.stays or found.own_truth or found.one_sided)
    if found is not None and found.wide_agrees and not (oracles_first and any(found.wrong)):
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
    """Return the verdict if the sides agree in double precision, or only one has it: its result is then the truth."""
    reference, candidate = evidence.sides
    wrong = [count > 0 for count in found.wrong]
    if found.one_sided and all(wrong) and found.errors[1] > _FAR_GREATER * found.errors[0]:
        wrong[0] = False  # the truth is its own result, from which nothing but rounding leads away
    if any(wrong) and evidence.small and not found.one_sided and not (found.imprecise and not evidence.each_agrees):
        what = "rounding: all numbers here are small, and both sides agree in double precision"
        return Verdict("rounding", what, numbers)
    if any(wrong) and evidence.each_agrees and max(found.errors) <= evidence.cancellation:
        what = "rounding, accumulated: each call agrees when both sides get the same operands"
        return Verdict("rounding", what, numbers)
    if amplified_alike(found, evidence.error_spreads):
        own, other = evidence.error_spreads
        what = "rounding: the algorithms of both sides amplify it"
        if own is not None and other is not None and own.is_noise and other.is_unstable:
            what += f". When the inputs change slightly, the error of {reference} changes by {own.noise:.3g}, and that "
            what += f"of {candidate} by {other.error:.3g}"
        return Verdict("rounding", what, numbers)
    if all(wrong):
        return Verdict(
            "both",
            f"both: the errors of {reference} and {candidate} against the float64 result are larger than rounding "
            "explains",
            numbers,
        )
    if any(wrong):
        blame: Literal["candidate", "reference"] = "candidate" if wrong[1] else "reference"
        name = evidence.sides[wrong[1]]
        spread = evidence.error_spreads[wrong[1]]
        if spread is not None and spread.is_unstable:
            line = f"{name}: its algorithm amplifies rounding. {_VARIES.format(spread.error, spread.result)}"
            return Verdict("unstable", line, numbers, blame)
        if found.one_sided and wrong[1]:
            what = f"{reference} is the specification: {candidate} differs in {evidence.symptom} by more than rounding"
            what += " explains, and has no float64 result of its own; no independent oracle can decide"
            return Verdict("semantic difference", what, numbers, side="candidate")
        return Verdict(blame, f"{name}: its error against the float64 result is larger than rounding explains", numbers)
    if found.ill_conditioned:
        changes = f"a change of one roundoff in the inputs changes it by {found.amplification:.3g} roundoffs"
        # Next to zero, any change is an astronomical number of roundoffs.
        what = changes if found.truth else "its terms cancel to zero, so that only their rounding errors are left"
        return Verdict("ill-conditioned", f"ill-conditioned: {what}", numbers)
    return Verdict(
        "rounding", "rounding: both sides are as close to the float64 result as their precision allows", numbers
    )


def _numbers(evidence: Evidence) -> tuple[str, ...]:
    lines: list[str] = []
    reference, candidate = evidence.sides
    found = evidence.measured
    if found is not None:
        at = f" at {found.index}" if found.index else ""
        if found.double_decides:
            whose = f" of {reference}" if found.one_sided else ""
            lines.append(
                f"float64 result{whose}{at}: {found.truth!r}. {reference} is off by {found.errors[0]:.3g}, {candidate} "
                f"by {found.errors[1]:.3g}; rounding explains up to {found.allowed:.3g}"
            )
            lines.append(
                f"errors larger than rounding explains: {reference} {found.wrong[0]}, {candidate} {found.wrong[1]} "
                f"of {found.total} mismatched elements"
            )
        else:
            lines.append(
                f"in float64 the sides still differ by {found.wide_gap:.3g}; rounding explains up to "
                f"{found.wide_allowed:.3g}"
            )
    # Oracles see what both sides compute in double precision, where they may agree.
    where = ", in float64" if found is not None and found.seen_to_agree else ""
    lines += [_sentence(oracle, evidence.sides, where) for oracle in evidence.oracles]
    return tuple(lines)


def _sentence(oracle: OracleResult, sides: tuple[str, str], where: str) -> str:
    if oracle.attribute:
        words = [
            f"{side} {'has another one' if bad else 'has the same'}"
            for side, bad in zip(sides, oracle.accuses, strict=True)
        ]
        return f"{oracle.name}: {oracle.found}. {words[0]}, {words[1]}"
    off = [elsewhere or f"{error:.3g}" for error, elsewhere in zip(oracle.errors, oracle.elsewhere, strict=True)]
    how_far = f"{sides[0]} is off by {off[0]}, {sides[1]} by {off[1]}"
    return f"{oracle.name}{where}: {oracle.found}. {how_far} ({oracle.allowed:.3g} allowed)"
