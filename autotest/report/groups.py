"""A table with a column for each group of machines of a cluster: workers, trials, findings, and who saw which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autotest.report.columns import columns
from autotest.results.groups import Group

#: Letters of a finding's name in a table.
_WIDEST = 60
#: Of findings that not every group saw, how many are listed.
LISTED = 100


def letters(groups: Sequence[Group]) -> Mapping[str, str]:
    """A short name for each group by its long one: A, B, and so on."""
    return {group.name: _letter(number) for number, group in enumerate(groups)}


def _letter(number: int) -> str:
    return chr(ord("A") + number % 26) * (1 + number // 26)


def rows(groups: Sequence[Group], seen: Sequence[tuple[str, Mapping[str, int]]], unit: str) -> list[tuple[str, ...]]:
    """The rows below a row of headings, each with its own.

    `seen` is a finding's name and in how many trials, or whatever `unit` says, each group saw it.
    """
    found = [("workers", *(f"{group.workers:,}" for group in groups))]
    found.append((unit, *(f"{group.trials:,}" for group in groups)))
    found.append(("distinct findings", *(f"{group.findings:,}" for group in groups)))
    for name, times in seen:
        shown = name if len(name) <= _WIDEST else name[: _WIDEST - 1] + "…"
        found.append((shown, *(f"{times[group.name]:,}x" if times.get(group.name) else "-" for group in groups)))
    return found


def text(groups: Sequence[Group], seen: Sequence[tuple[str, Mapping[str, int]]], unit: str = "trials") -> str:
    """The table, and below it which group is which."""
    names = letters(groups)
    table = columns(("Group", *names.values()), rows(groups, seen, unit))
    told = [f"{names[group.name]}: {group.name}" + (f" ({group.stopped})" if group.stopped else "") for group in groups]
    return "\n".join([table, *told])


def markdown(groups: Sequence[Group], seen: Sequence[tuple[str, Mapping[str, int]]], unit: str = "trials") -> list[str]:
    """The table as lines of Markdown, with whole names."""
    table = [("", *(group.name for group in groups)), *rows(groups, seen, unit)]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table]
    return [lines[0], "|---" * (len(groups) + 1) + "|", *lines[1:], ""]


def differing(
    groups: Sequence[Group], seen: Sequence[tuple[str, Mapping[str, int]]]
) -> list[tuple[str, Mapping[str, int]]]:
    """Of very many findings, those that not every group saw, and no more than are read."""
    return [(name, times) for name, times in seen if not all(times.get(group.name) for group in groups)][:LISTED]


def where(times: Mapping[str, int], groups: Sequence[Group]) -> str:
    """Which groups saw a finding, by their letters: ``on A and B``; "" where there are no groups."""
    names = letters(groups)
    return f"on {' and '.join(names[name] for name in names if times.get(name))}" if groups and times else ""


__all__ = ["differing", "letters", "markdown", "text", "where"]
