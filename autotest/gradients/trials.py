"""What a trial under ``check_grad="numeric"`` does beyond comparing the two sides.

Enters the program of a trial in which both sides agreed, leaves a mismatch for every gradient that is not the
derivative of its own side's forward. Two frameworks that are wrong alike agree; numbers disagree with both.
"""

from __future__ import annotations

import dataclasses

from autotest.comparison import Mismatch, Side
from autotest.errors import NotReplayable
from autotest.frameworks import Pair
from autotest.gradients.checking import Rule
from autotest.gradients.programs import NotNumeric, check_program
from autotest.record import Record
from autotest.report import gradients as report
from autotest.settings import Settings

#: Differences in double precision are good to nine digits or so; anything beyond this is no rounding.
RULE = Rule(eps=1e-6, atol=1e-6, rtol=1e-4)


@dataclasses.dataclass(slots=True)
class Numbers:
    """What differences say of one trial."""

    mismatches: list[Mismatch] = dataclasses.field(default_factory=list)
    #: Input/output pairs that were checked, on both sides together.
    pairs: int = 0
    #: Why the check that was asked for could not be made.
    unchecked: str = ""


def held_against_numbers(record: Record, settings: Settings) -> Numbers:
    """Check the gradients of each side of a trial as `settings` ask."""
    result = Numbers()
    pair = record.pair
    sides: tuple[Side, Side] = ("reference", "candidate")
    same = type(pair.reference) is type(pair.candidate) and pair.reference.name == pair.candidate.name
    try:
        program = record.program()
    except NotReplayable as error:
        return Numbers(unchecked=str(error))
    for side, framework in zip(sides[: 1 if same else 2], (pair.reference, pair.candidate), strict=False):
        try:
            forward = settings.check_grad == "forward"
            found, slots = check_program(program, framework, RULE, order=settings.grad_order, forward=forward)
        except NotNumeric as error:
            result.unchecked = str(error)
            continue
        result.pairs += len(found.rows)
        for row in found.rows:
            if not row.passed:
                rows = [row, *(other for other in found.rows if other is not row)]
                told = report.failure(rows, f"{row.input}.grad of {framework.name}")
                message = f"{told}\n(of its own forward, by central differences in float64)"
                result.mismatches.append(
                    Mismatch(f"{row.input}.grad", slots[row.input], "gradient", "replay", side, message)
                )
    return result


def verdict(mismatch: Mismatch, pair: Pair) -> str:
    """Who is wrong, where differences were the judge."""
    name = pair.sides[0 if mismatch.side == "reference" else 1]
    return f"{name} is wrong: its gradient is not the derivative of its own forward"
