"""Formats gradients as text: the table of one check, and the account of a whole suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autotest.base.plural import several
from autotest.report.columns import columns
from autotest.report.groups import letters
from autotest.results.gradient_account import GRADIENT_STATES, GradientAccount, OperatorAccount
from autotest.results.gradient_rows import GradientRow
from autotest.results.groups import Group

_HEADINGS = ("Input", "Output", "Max abs", "Max rel", "At input", "At output", "Analytic", "Numeric", "Allowed", "")


def table(rows: Sequence[GradientRow]) -> str:
    """Return a line for each input/output pair: the largest differences, and the worst element with both values."""
    return columns(_HEADINGS, [_cells(row) for row in rows])


def _cells(row: GradientRow) -> tuple[str, ...]:
    numbers = (f"{row.absolute:.2e}", f"{row.relative:.2e}")
    places = (row.input_index or "-", row.output_index or "-")
    values = (f"{row.analytic:.6g}", f"{row.numeric:.6g}", f"{row.allowed:.2e}")
    verdict = ("pass" if row.passed else "FAIL") + (f" ({row.note})" if row.note else "")
    return (row.input, row.output, *numbers, *places, *values, verdict)


def failure(rows: Sequence[GradientRow], of: str) -> str:
    """Return the first failed row and the table; `of` names the function whose gradient was checked."""
    row = next(row for row in rows if not row.passed)
    where = f"input {row.input}, output {row.output}"
    if row.note and not row.input_index:
        difference = row.note
    else:
        difference = (
            f"analytic {row.analytic:.9g}, numeric {row.numeric:.9g} at {row.input_index} and {row.output_index}; "
            f"they differ by {abs(row.analytic - row.numeric):.3g}, {row.allowed:.3g} allowed"
        )
        difference += f" ({row.note})" if row.note else ""
    return f"{of} is not its derivative: {where}: {difference}\n{table(rows)}"


def by_group(groups: Mapping[str, GradientAccount]) -> str:
    """Return the gradient state of each operator, with a column for each group of machines, and the groups' names."""
    names = letters([Group(name, 0, account.trials, 0) for name, account in groups.items()])
    accounts = groups.values()
    operators = sorted({operator for account in accounts for operator in account.operators})
    rows = [(operator, *(_state(account.operators.get(operator)) for account in accounts)) for operator in operators]
    at_fault = [str(len(account.broken) + len(account.died)) for account in accounts]
    totals = [
        ("trials", *(str(account.trials) for account in accounts)),
        ("tests that are broken or died", *at_fault),
    ]
    difference = [f"{letter}: {name}" for name, letter in names.items()]
    return "\n".join([columns(("Group", *names.values()), [*rows, *totals]), *difference])


def _state(one: OperatorAccount | None) -> str:
    if one is None:
        return "-"
    return "MISSING" if one.state == "missing" else one.state


def account_table(account: GradientAccount) -> str:
    """Return every operator of a suite with its gradient state, the forgotten ones first, and a line of totals."""
    rows = [_operator(one) for state in GRADIENT_STATES for one in account.of(state)]
    lines = [columns(("Operator", "Gradient", "Trials", "Reason or test"), rows), ""]
    lines += [f"compared no gradients: {test}: {complaint}" for test, complaint in sorted(account.refused.items())]
    lines += [f"could not run: {test}: {error}" for test, error in sorted(account.broken.items())]
    lines += [f"no accepted trial: {test}: {why}" for test, why in sorted(account.never.items())]
    lines += [f"skipped: {test}: {why}" for test, why in sorted(account.skips.items())]
    lines += [f"did not finish: {test}: {how}" for test, how in sorted(account.died.items())]
    if account.spared:
        lines.append(
            f"not run, because the ledger says that they kill the process: {several(len(account.spared), 'test')}"
        )
    counts = ", ".join(f"{len(account.of(state))} {state}" for state in reversed(GRADIENT_STATES))
    return "\n".join(
        [*lines, f"{several(len(account.operators), 'operator')} in {several(account.trials, 'trial')}: {counts}"]
    )


def _operator(one: OperatorAccount) -> tuple[str, ...]:
    trials = f"{one.trials[one.state]}/{sum(one.trials.values())}"
    if one.state != "missing":
        return one.operator, one.state, trials, one.reason
    first, *rest = one.tests
    return one.operator, "MISSING", trials, f"{one.reason}: {first}" + (f" and {len(rest)} more" if rest else "")
