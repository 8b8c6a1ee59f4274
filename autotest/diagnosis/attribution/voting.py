"""Runs a program on which a reference and a candidate differ on the other candidates, and counts their votes."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from autotest.base.settings import Settings
from autotest.comparison import Comparison, Mismatch, compare_values
from autotest.diagnosis.attribution.verdict import Verdict
from autotest.frameworks import Absent, Framework, Pair
from autotest.program import Program
from autotest.replaying.agreement import Agreement, results
from autotest.replaying.replay import Place, replay

#: The side that a voter agrees with.
For = Literal["reference", "candidate", "neither"]


class Vote(NamedTuple):
    """The vote of one of the other candidates."""

    name: str
    agrees_with: For


def votes(focus: Agreement, place: Place, first: Mismatch, pair: Pair, settings: Settings) -> tuple[Vote, ...]:
    """Return the vote of each other candidate that supports all calls in the program of `focus`.

    A vote compares the value at `place` with the values of both sides. If the mismatch `first` is an exception, a vote
    is whether the other candidate accepts the program.
    """
    if first.symptom == "exception":
        cast = [(other.name, _carries_out(focus.program, other)) for other in pair.others]
    else:
        expected, actual = focus.read().get(place, (None, None))
        asked = [other for other in pair.others if other.holds_values or not first.of_numbers]
        alike = functools.partial(_alike, first, settings)
        given = [results(focus.program, other, slots=place[:1]).get(place) for other in asked]
        cast = [(other.name, _for(one, expected, actual, alike)) for other, one in zip(asked, given, strict=True)]
    return tuple(Vote(name, given) for name, given in cast if given is not None)


def _carries_out(program: Program, other: Framework) -> For | None:
    """Return the side that `other` agrees with if the candidate rejects `program`; None if it lacks an operator."""
    error = replay(program, other).error
    if isinstance(error, (Absent, AttributeError)):
        return None
    return "reference" if error is None else "candidate"


def _for(given: object, expected: object, actual: object, alike: Callable[[object, object], bool]) -> For | None:
    if given is None:  # the voter lacks an operator, or raises
        return None
    if alike(expected, given):
        return "reference"
    return "candidate" if alike(actual, given) else "neither"


def _alike(first: Mismatch, settings: Settings, one: object, other: object) -> bool:
    # A voter may support fewer dtypes, so that the dtype is compared only if it is what the two sides differ in.
    how = Comparison(first.stage, settings.tolerance_at(first.stage), check_dtype=first.symptom == "dtype")
    return not compare_values(first.name, one, other, how)


def weighed(verdict: Verdict, cast: Sequence[Vote], sides: tuple[str, str]) -> Verdict:
    """Return `verdict` with the votes added to its numbers; if it is weak, votes for one side alone decide it.

    Args:
        verdict: the verdict without the votes.
        cast: the votes of the other candidates.
        sides: the names of the reference and the candidate.
    """
    with_votes = dataclasses.replace(verdict, numbers=(*verdict.numbers, *_lines_of_votes(cast, sides)))
    ways = {vote.agrees_with for vote in cast} - {"neither"}
    if not verdict.weak or len(ways) != 1:
        return with_votes
    voters = [vote.name for vote in cast if vote.agrees_with in ways]
    names = f"{' and '.join(voters)} {'agrees' if len(voters) == 1 else 'agree'}"
    reference, candidate = sides
    if ways == {"reference"}:
        line = f"{candidate}: {names} with {reference}"
        return dataclasses.replace(with_votes, blame="candidate", line=line, side="")
    line = f"semantic difference: {names} with {candidate}, and only {reference} differs"
    return dataclasses.replace(with_votes, blame="semantic difference", line=line, side="")


def _lines_of_votes(cast: Sequence[Vote], sides: tuple[str, str]) -> list[str]:
    """Return a line of text for each way to vote that has voters."""
    words: dict[For, str] = {
        "reference": f"the same as {sides[0]}",
        "candidate": f"the same as {sides[1]}, different from {sides[0]}",
        "neither": f"different from both {sides[0]} and {sides[1]}",
    }
    lines = []
    for way, said in words.items():
        names = [vote.name for vote in cast if vote.agrees_with == way]
        if names:
            lines.append(f"{' and '.join(names)}: {said}")
    return lines
