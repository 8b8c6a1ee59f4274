"""Weighs what was found out about a mismatch, and says which side is wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

from autotest.diagnosis.measurement import Measured

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
    #: Whether it says what a right result is like, of which there are several.
    several: bool = False
    #: Of each side that is right there and wrong elsewhere: how far it is off, and where, in words.
    elsewhere: tuple[str, str] = ("", "")

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
    #: What rounding makes of the greatest magnitudes in the program, which may have cancelled.
    cancellation: float = 0.0
    #: Whether it is a mismatch only because all numbers there are small.
    small: bool = False
    #: What an integer result selects is the same on both sides.
    ties: bool = False
    #: The derivative of either side's forward has a kink here: no gradient is the only right one.
    kink: bool = False
    #: Of a side further off than rounding: how far its error strays when inputs move by roundoffs, and the true result.
    strays: tuple[float, float] | None = None


#: The side that has to change; "nobody" where both may stay as they are, and "" where that is not known.
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
    """Who is wrong, in one line, and why."""

    blame: Blame
    line: str
    numbers: tuple[str, ...] = ()
    #: What the blame does not say by itself: a semantic difference is the candidate's where the reference specifies.
    side: WrongSide = ""

    @property
    def wrong(self) -> WrongSide:
        """The side that has to change."""
        return self.side or _WRONG.get(self.blame, "")

    @property
    def weak(self) -> bool:
        """Whether nobody but the two sides had an opinion, so that a verdict on less of the program may say more."""
        return self.blame == "inconclusive" or (self.blame == "semantic difference" and self.side == "candidate")


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
        disagree = "do not agree with themselves" if len(noisy) > 1 else "does not agree with itself"
        line = f"nondeterministic: {' and '.join(noisy)} {disagree}"
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
    for oracle in evidence.oracles:
        if oracle.several and not any(oracle.accuses):
            what = f"semantic difference: several results are right, and both sides give one: {oracle.found}"
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
    found = evidence.measured
    if found is not None and found.wide_agrees and not (found.stays and any(found.wrong)):
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
    if any(wrong) and evidence.each_agrees and max(found.errors) <= evidence.cancellation:
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
    if found.ill_conditioned:
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
    off = [elsewhere or f"{error:.3g}" for error, elsewhere in zip(oracle.errors, oracle.elsewhere, strict=True)]
    how_far = f"{sides[0]} is off by {off[0]}, {sides[1]} by {off[1]}"
    return f"{oracle.name}: {oracle.found}. {how_far} ({oracle.allowed:.3g} allowed)"
