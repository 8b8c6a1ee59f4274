"""Compares a map with an earlier one: what got worse, what got better."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from autotest.results.sweep import PASSING, Cell, CellKey, SweepMap
from autotest.results.sweep_format import Baseline


class Change(NamedTuple):
    """What changed in one cell."""

    key: CellKey
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.key}: {self.before} -> {self.after}"


class Changes(NamedTuple):
    """What changed between two maps."""

    worse: list[Change]
    better: list[Change]
    #: Cells that are new, and do not agree.
    added: list[Change]

    def as_data(self) -> dict[str, list[dict[str, str]]]:
        """All of it, as values that `json.dumps` takes."""
        return {
            name: [{"cell": str(change.key), "before": change.before, "after": change.after} for change in listed]
            for name, listed in self._asdict().items()
        }


def changes(swept: SweepMap, before: Baseline, chosen: Callable[[CellKey], bool]) -> Changes:
    """Compare the cells that `chosen` says were asked for.

    A cell got worse when it agreed and does not any more, when it is not there any more, when a check that all of its
    samples passed is failed or not made, and when samples are left out that were not.
    """
    worse: list[Change] = []
    better: list[Change] = []
    for key, status in before.statuses.items():
        if not chosen(key):
            continue
        row = swept.rows.get(key)
        if row is None:
            if status not in ("not run", "absent", "left out"):
                worse.append(Change(key, status, "gone"))
            continue
        cell = row.cell
        if status in PASSING and cell.status not in PASSING:
            worse.append(Change(key, status, _why(cell)))
            continue
        lost = _lost(before, key, cell)
        if lost:
            worse.append(Change(key, *lost))
        elif status not in PASSING and cell.status in PASSING:
            better.append(Change(key, status, cell.status))
        else:
            gained = _gained(before, key, cell)
            if gained:
                better.append(Change(key, *gained))
    added = [
        Change(key, "not there", row.cell.status)
        for key, row in swept.rows.items()
        if key not in before.statuses and row.cell.status in ("differs", "dies", "refuses")
    ]
    return Changes(worse, better, added)


def _why(cell: Cell) -> str:
    failing = [name for name, (passed, total) in cell.checks.items() if passed < total]
    reasons = failing or [cell.absent, *cell.left_out]
    shown = ", ".join(reason for reason in reasons if reason)
    return f"{cell.status} ({shown})" if shown else cell.status


def _lost(before: Baseline, key: CellKey, cell: Cell) -> tuple[str, str] | None:
    """A check that passed on all samples and does not now, or samples that are left out now."""
    for name, (passed, total) in before.checks[key].items():
        if not total or passed < total:
            continue
        now = cell.checks.get(name)
        if now is None or not now[1]:
            return f"{name} passes", f"{name} is not checked"
        if now[0] < now[1]:
            return f"{name} passes", f"{name} fails in {now[1] - now[0]} of {now[1]}"
    skipped, were = cell.left_out.total(), sum(before.left_out[key].values())
    if skipped > were:
        reason = next(iter(cell.left_out))
        return f"{were} samples left out", f"{skipped} left out ({reason})"
    return None


def _gained(before: Baseline, key: CellKey, cell: Cell) -> tuple[str, str] | None:
    for name, (passed, total) in before.checks[key].items():
        now = cell.checks.get(name)
        if passed < total and now is not None and now[1] and now[0] == now[1]:
            return f"{name} fails in {total - passed} of {total}", f"{name} passes"
    return None
