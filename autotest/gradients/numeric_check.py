"""The numeric check of gradients that trials make under ``check_grad="numeric"`` in addition to the comparison."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from autotest.base.settings import Settings
from autotest.comparison import Mismatch, Side
from autotest.comparison.rejection import Rejection
from autotest.frameworks import Framework, Pair
from autotest.gradients.checking import GradcheckResult
from autotest.gradients.guilty_operator import guilty_operators
from autotest.gradients.larger_inputs import ENOUGH, LargerInputs, too_small, with_larger_inputs
from autotest.gradients.program_function import NotNumeric, SingularMatrix
from autotest.gradients.programs import check_program
from autotest.program import Program
from autotest.program.paths import gradient_of
from autotest.report import gradients as report

#: `Mismatch.what` of a gradient that does not agree with differences of its own forward.
NOT_THE_DERIVATIVE = "not the derivative of its own forward"


@dataclasses.dataclass(slots=True)
class NumericResult:
    """The result of the numeric check of one trial."""

    mismatches: list[Mismatch] = dataclasses.field(default_factory=list)
    #: Number of input/output pairs that were checked, on both sides together.
    pairs: int = 0
    #: Inputs that were checked only with fewer than `ENOUGH` elements, because no larger input was accepted.
    small: list[str] = dataclasses.field(default_factory=list)
    #: Why the check could not be made; empty if it was.
    unchecked: str = ""
    #: Why the drawn numbers do not allow a check; None if they do.
    rejection: Rejection | None = None


def check_numerically(program: Program, pair: Pair, settings: Settings) -> NumericResult:
    """Check the gradients that each side of `pair` computes for `program` numerically, with the options in `settings`.

    If the gradients are right, they are checked again on larger inputs.
    """
    result = NumericResult()
    sides: tuple[Side, Side] = ("reference", "candidate")
    same = type(pair.reference) is type(pair.candidate) and pair.reference.name == pair.candidate.name
    larger: LargerInputs | None = None
    for side, framework in zip(sides[: 1 if same else 2], pair.frameworks, strict=False):
        try:
            found, places = _checked(program, framework, settings)
        except SingularMatrix as error:
            result.rejection = Rejection(error.operator, error.type, str(error))
            continue
        except NotNumeric as error:
            result.unchecked = str(error)
            continue
        result.pairs += len(found.rows)
        checked = program
        larger = larger or (with_larger_inputs(program, pair.reference) if found.rows and found.passed else None)
        small = [] if larger is None else too_small(larger.after)
        suffix = _smallness(small)
        if larger is not None and found.passed and str(larger):
            try:
                found, places = _checked(larger.program, framework, settings)
                checked = larger.program
                suffix = f"\n(on larger inputs: {larger}){suffix}"
            except NotNumeric as error:
                small = too_small(larger.before)
                suffix = f"\n(only on the drawn inputs; on larger inputs {error})"
        result.small += [name for name in small if name not in result.small]
        mismatches = mismatches_of(found, places, side, framework, suffix)
        result.mismatches += _named(mismatches, found, checked, framework, settings)
    return result


def _checked(
    program: Program, framework: Framework, settings: Settings
) -> tuple[GradcheckResult, Mapping[str, tuple[int, str]]]:
    forward = settings.check_grad == "forward"
    return check_program(program, framework, order=settings.grad_order, forward=forward)


def _smallness(small: Sequence[str]) -> str:
    return (
        (f"\n(fewer than {ENOUGH} elements, because larger inputs are not accepted: {', '.join(small)})")
        if small
        else ""
    )


def mismatches_of(
    found: GradcheckResult, places: Mapping[str, tuple[int, str]], side: Side, framework: Framework, suffix: str = ""
) -> list[Mismatch]:
    """Return a mismatch for each row that failed.

    Args:
        found: the rows.
        places: name of an input -> its slot in the program, and the part of its value.
        side: the side that was checked.
        framework: the framework of that side.
        suffix: text to append to the messages.
    """
    failed = [row for row in found.rows if not row.passed]
    mismatches: list[Mismatch] = []
    for row in failed:
        rows = [row, *(other for other in found.rows if other is not row)]
        name, (slot, place) = gradient_of(row.input), places[row.input]
        table = report.failure(rows, f"{name} of {framework.name}")
        message = f"{table}\n(of its own forward, by central differences in float64){suffix}"
        mismatches.append(
            Mismatch(name, slot, "gradient", "replay", side, message, what=NOT_THE_DERIVATIVE, place=gradient_of(place))
        )
    return mismatches


def _named(
    mismatches: Sequence[Mismatch], found: GradcheckResult, program: Program, framework: Framework, settings: Settings
) -> list[Mismatch]:
    """Return `mismatches`, made of the failed rows of `found`, each with the operator that is wrong."""
    inputs = [row.input for row in found.rows if not row.passed]
    if not inputs:
        return []
    forward, order = settings.check_grad == "forward", settings.grad_order
    guilty = guilty_operators(program, framework, {*inputs}, order=order, forward=forward)
    return [
        dataclasses.replace(one, operator=guilty.get(name, "")) for one, name in zip(mismatches, inputs, strict=True)
    ]


def verdict(mismatch: Mismatch, pair: Pair) -> str:
    """Return which side is wrong, for a mismatch with differences."""
    name = pair.sides[0 if mismatch.side == "reference" else 1]
    return f"{name} is wrong: its gradient is not the derivative of its own forward"
