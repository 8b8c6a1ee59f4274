"""Formats a table with a column for each group of machines of a cluster: workers, trials and findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autotest.report.columns import columns
from autotest.results.groups import Group
from autotest.results.sweep_findings import SweepFinding

#: Maximum number of characters of a finding's name in a table.
_WIDEST = 60
#: Maximum number of listed findings that not every group saw.
LISTED = 100


def letters(groups: Sequence[Group]) -> Mapping[str, str]:
    """Return a short name for each group by its full name: A, B, and so on."""
    return {group.name: _letter(number) for number, group in enumerate(groups)}


def _letter(number: int) -> str:
    return chr(ord("A") + number % 26) * (1 + number // 26)


def rows(groups: Sequence[Group], seen: Sequence[tuple[str, Mapping[str, int]]], unit: str) -> list[tuple[str, ...]]:
    """Return the rows of the table below the headings, each with its title first.

    Args:
        groups: the groups of machines, one for each column.
        seen: findings, each as its name and the number of times that each group saw it.
        unit: what the groups' trials are called, such as samples.
    """
    found = [("workers", *(f"{group.workers:,}" for group in groups))]
    found.append((unit, *(f"{group.trials:,}" for group in groups)))
    found.append(("distinct findings", *(f"{group.findings:,}" for group in groups)))
    for name, times in seen:
        shown = name if len(name) <= _WIDEST else name[: _WIDEST - 1] + "…"
        found.append((shown, *(f"{times[group.name]:,}x" if times.get(group.name) else "-" for group in groups)))
    return found


def text(groups: Sequence[Group], seen: Sequence[tuple[str, Mapping[str, int]]], unit: str = "trials") -> str:
    """Return the table, followed by the full names of the groups."""
    names = letters(groups)
    table = columns(("Group", *names.values()), rows(groups, seen, unit))
    legend = [
        f"{names[group.name]}: {group.name}" + (f" ({group.stopped})" if group.stopped else "") for group in groups
    ]
    return "\n".join([table, *legend])


def markdown(groups: Sequence[Group], seen: Sequence[tuple[str, Mapping[str, int]]], unit: str = "trials") -> list[str]:
    """Return the table as lines of Markdown, with the groups' full names."""
    table = [("", *(group.name for group in groups)), *rows(groups, seen, unit)]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table]
    return [lines[0], "|---" * (len(groups) + 1) + "|", *lines[1:], ""]


def differing(
    groups: Sequence[Group], seen: Sequence[tuple[str, Mapping[str, int]]]
) -> list[tuple[str, Mapping[str, int]]]:
    """Return the findings that not every group saw, at most `LISTED`: too many would not be read."""
    return [(name, times) for name, times in seen if not all(times.get(group.name) for group in groups)][:LISTED]


def of_sweep_findings(groups: Sequence[Group], findings: Sequence[SweepFinding]) -> list[tuple[str, Mapping[str, int]]]:
    """Return the findings of a sweep that not every group saw, by names."""
    return differing(groups, [(f"{one.operator}: {one.check}", one.groups) for one in findings])


def where(times: Mapping[str, int], groups: Sequence[Group]) -> str:
    """Return the groups that saw a finding, by their letters, such as ``on A and B``; empty if there are no groups."""
    names = letters(groups)
    return f"on {' and '.join(names[name] for name in names if times.get(name))}" if groups and times else ""
