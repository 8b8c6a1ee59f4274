"""Formats the map of a sweep as a Markdown page."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Final

from autotest.base.plural import thousands
from autotest.report import groups as by_group
from autotest.report.sweep_accuracy import accuracy, coverage
from autotest.results.groups import of_sweep
from autotest.results.sweep import CHECKS, STATUSES, Check, SweepMap, SweepRow, worst
from autotest.results.sweep_findings import SweepFinding

#: Checks by importance: an operator's row shows the finding of the most important one.
_BY_WEIGHT: Final[tuple[Check, ...]] = (
    "survives", "value", "dtype", "shape", "gradient", "nonfinite", "alias", "repeat", "double gradient", "errors",
    "signature", "exists", "strides",
)  # fmt: skip
#: Maximum number of characters of a message in a table.
_WIDEST = 150


def page(swept: SweepMap, findings: Sequence[SweepFinding]) -> str:
    """Return the whole page: numbers, families, and a row for each operator that does not agree."""
    reference, candidate = swept.sides
    versions = ", ".join(f"{name} {version}" for name, version in swept.versions.items())
    lines = [
        f"# {candidate} against {reference}: what agrees",
        "",
        f"{versions}. Made by `{swept.command}`" + (f" on {swept.date}." if swept.date else "."),
        "",
    ]
    if swept.incomplete:
        lines += [f"Not complete: {swept.incomplete}.", ""]
    lines += [f"Not available: {note}." for note in swept.notes]
    groups = of_sweep(swept, findings)
    if groups:
        seen = by_group.of_sweep_findings(groups, findings)
        lines += ["## Groups of machines", "", *by_group.markdown(groups, seen, "samples")]
    lines += _numbers(swept)
    lines += _families(swept)
    lines += _operators(swept, findings)
    lines += accuracy(swept)
    lines += coverage(swept)
    lines += _others(swept)
    return "\n".join(lines) + "\n"


def _numbers(swept: SweepMap) -> list[str]:
    counts = swept.counts()
    shared = len(swept.rows) - counts["absent"]
    lines = [
        (
            f"{thousands(swept.samples, 'sample')} of {thousands(len(swept.rows), 'cell')}; a cell is one operator in "
            f"one form and dtype. {thousands(shared, 'cell')} {'exists' if shared == 1 else 'exist'} on both sides."
        ),
        "",
        "| cells | |",
        "|---|---|",
        *(f"| {status} | {count:,} |" for status, count in counts.items() if count),
        "",
        "| check | samples that pass | of |",
        "|---|---|---|",
    ]
    lines += [f"| {name} | {passed:,} | {total:,} |" for name, (passed, total) in swept.checked().items() if total]
    return [*lines, ""]


def _families(swept: SweepMap) -> list[str]:
    families: dict[str, list[SweepRow]] = {}
    for row in swept.rows.values():
        families.setdefault(row.family, []).append(row)
    shown = [status for status in STATUSES if swept.counts()[status]]
    lines = ["## Families", "", f"| family | operators | {' | '.join(shown)} |", "|---|---|" + "---|" * len(shown)]
    for family, rows in sorted(families.items()):
        counts = collections.Counter(row.cell.status for row in rows)
        operators = len({row.key.name for row in rows})
        lines.append(f"| {family} | {operators} | " + " | ".join(str(counts[status] or "") for status in shown) + " |")
    return [*lines, ""]


def _operators(swept: SweepMap, findings: Sequence[SweepFinding]) -> list[str]:
    by_operator: dict[str, list[SweepFinding]] = {}
    for finding in findings:
        by_operator.setdefault(finding.operator, []).append(finding)
    lines = ["## Operators that do not agree", ""]
    lines += ["| operator | cells that agree | checks that fail | example |", "|---|---|---|---|"]
    for operator, rows in sorted(swept.operators().items()):
        found = by_operator.get(operator)
        if not found:
            continue
        run = [row for row in rows if row.cell.status not in ("absent", "not run")]
        agreeing = sum(row.cell.status == "agrees" for row in run)
        failing = [name for name in CHECKS if any(finding.check == name for finding in found)]
        worst_one = min(found, key=lambda finding: _BY_WEIGHT.index(finding.check))
        lines.append(
            f"| `{operator}` | {agreeing} of {len(run)} | {', '.join(failing)} | {_table_cell(worst_one.message)} |"
        )
    return [*lines, ""]


def _others(swept: SweepMap) -> list[str]:
    """Return lists of the operators that agree in all existing cells, are absent, or have no accepted input."""
    lists: dict[str, list[str]] = {}
    for operator, rows in sorted(swept.operators().items()):
        there = [row.cell.status for row in rows if row.cell.status != "absent"]
        lists.setdefault(worst(there) if there else "absent", []).append(operator)
    titles = {
        "agrees": f"Operators that agree in every cell{' that was run' if swept.counts()['not run'] else ''}",
        "vacuous": "Operators whose results have unspecified contents, and that agree in everything else",
        "absent": "Operators that the candidate does not have",
        "refused by the reference": "Operators whose inputs the reference refuses",
        "left out": "Operators that were left out",
        "not run": "Operators that were not run",
    }
    lines: list[str] = []
    for status, title in titles.items():
        names = lists.get(status, [])
        if names:
            lines += [f"## {title} ({len(names)})", "", ", ".join(f"`{name}`" for name in names), ""]
    if reasons := swept.left_out():
        lines += ["## Samples left out", "", "| reason | samples |", "|---|---|"]
        lines += [f"| {_table_cell(reason)} | {count:,} |" for reason, count in reasons.most_common(40)]
    return lines


def _table_cell(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
    return line if len(line) <= _WIDEST else line[: _WIDEST - 1] + "…"
