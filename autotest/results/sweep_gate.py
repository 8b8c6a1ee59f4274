"""Compares a sweep map with an earlier one: which cells got worse, which got better."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from autotest.results.sweep import PASSING, Cell, CellKey, SweepMap
from autotest.results.sweep_format import Baseline


class Change(NamedTuple):
    """The change of one cell."""

    key: CellKey
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.key}: {self.before} -> {self.after}"


class Changes(NamedTuple):
    """The changes between two maps."""

    worse: list[Change]
    better: list[Change]
    #: New cells that do not agree.
    added: list[Change]
    #: Number of unfinished cells, of which only the failures were compared.
    unfinished: int = 0
    #: Number of cells that are in both maps.
    shared: int = 0
    #: Other differences between the maps, such as versions or seeds, as sentences.
    notes: tuple[str, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """Return the same as values that `json.dumps` accepts."""
        listed = {"worse": self.worse, "better": self.better, "added": self.added}
        return {
            **{
                name: [{"cell": str(change.key), "before": change.before, "after": change.after} for change in each]
                for name, each in listed.items()
            },
            "unfinished": self.unfinished,
            "shared": self.shared,
            "notes": list(self.notes),
        }


def changes(
    swept: SweepMap, before: Baseline, chosen: Callable[[CellKey], bool], unfinished: Collection[CellKey] = frozenset()
) -> Changes:
    """Compare the cells of a map with those of an earlier one.

    A cell got worse if

    - it agreed and does not agree any more, or it is gone;
    - a check that all its samples passed fails now, or is not made any more;
    - of the same number of samples, more than twice as many fail a check;
    - more samples are left out.

    Args:
        swept: the new map.
        before: the earlier map.
        chosen: returns whether a cell was to be run; only these cells of the earlier map are compared.
        unfinished: cells of which not all samples were run; for these only failures count.
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
        finished = key not in unfinished
        if lost := (_worsened if finished else _failed)(before, key, row.cell):
            worse.append(Change(key, *lost))
        elif finished and (gained := _improved(before, key, row.cell)):
            better.append(Change(key, *gained))
    added = [
        Change(key, "not there", row.cell.status)
        for key, row in swept.rows.items()
        if key not in before.statuses and row.cell.status in ("differs", "dies", "refuses")
    ]
    shared = sum(key in before.statuses for key in swept.rows)
    halfway = sum(key in before.statuses and chosen(key) for key in unfinished)
    return Changes(worse, better, added, halfway, shared, tuple(_unlike(swept, before)))


def _worsened(before: Baseline, key: CellKey, cell: Cell) -> tuple[str, str] | None:
    """Return what the cell was before and is now, if it got worse."""
    status = before.statuses[key]
    return (status, _why(cell)) if status in PASSING and cell.status not in PASSING else _lost(before, key, cell)


def _improved(before: Baseline, key: CellKey, cell: Cell) -> tuple[str, str] | None:
    """Return what the cell was before and is now, if it got better."""
    status = before.statuses[key]
    return (status, cell.status) if status not in PASSING and cell.status in PASSING else _gained(before, key, cell)


def _unlike(swept: SweepMap, before: Baseline) -> Iterator[str]:
    """Yield sentences about differences between the maps other than in their cells."""
    if tuple(swept.sides) != tuple(before.sides):
        old, new = (f"{sides[1]} with {sides[0]}" for sides in (before.sides, swept.sides))
        yield f"the earlier map compares {old}, this one {new}: a change may come from that"
    elif dict(swept.versions) != dict(before.versions):
        named = (", ".join(f"{name} {version}" for name, version in made.versions.items()) for made in (before, swept))
        yield "the earlier map was made with {}, this one with {}".format(*named)
    if before.incomplete:
        yield (
            f"the earlier map is not complete ({before.incomplete}): cells that got worse may be cells that it did "
            "not reach; `autotest sweep --bless` without --time writes a complete map"
        )
    if swept.seed != before.seed:
        yield (
            f"the earlier map was made with --seed {before.seed}, this one with --seed {swept.seed}: a change may "
            "come from other samples"
        )


def _why(cell: Cell) -> str:
    failing = [name for name, (passed, total) in cell.checks.items() if passed < total]
    reasons = failing or [cell.absent, *cell.left_out]
    shown = ", ".join(reason for reason in reasons if reason)
    return f"{cell.status} ({shown})" if shown else cell.status


def _lost(before: Baseline, key: CellKey, cell: Cell) -> tuple[str, str] | None:
    """Return how the cell got worse: a lost check, more failures, or more samples left out; None if it did not."""
    for name in _all_passed(before, key):
        now = cell.checks.get(name)
        if now is None or not now[1]:
            return f"{name} passes", f"{name} is not checked"
    failed = _failed(before, key, cell) or _fails_more(before, key, cell)
    if failed:
        return failed
    skipped, were = cell.left_out.total(), sum(before.left_out[key].values())
    if skipped > were:
        known = before.left_out[key]
        reason = max(cell.left_out, key=lambda why: cell.left_out[why] - known.get(why, 0))
        return f"{were} samples left out", f"{skipped} left out ({reason})"
    return None


def _failed(before: Baseline, key: CellKey, cell: Cell) -> tuple[str, str] | None:
    """Return the first check that passed on all samples and now fails on some; None if there is none."""
    for name in _all_passed(before, key):
        passed, total = cell.checks.get(name, (0, 0))
        if passed < total:
            return f"{name} passes", f"{name} fails in {total - passed} of {total}"
    return None


def _fails_more(before: Baseline, key: CellKey, cell: Cell) -> tuple[str, str] | None:
    """Return the first check that more than twice as many samples fail as before; None if there is none.

    A smaller increase may be caused by rounding on another machine. If the number of samples is another one, the
    samples are different, and the counts cannot be compared.
    """
    for name, (passed, total) in before.checks[key].items():
        now, of = cell.checks.get(name, (0, 0))
        if of == total and 0 < 2 * (total - passed) < of - now:
            return f"{name} fails in {total - passed} of {total}", f"{name} fails in {of - now} of {of}"
    return None


def _all_passed(before: Baseline, key: CellKey) -> list[str]:
    return [name for name, (passed, total) in before.checks[key].items() if total and passed == total]


def _gained(before: Baseline, key: CellKey, cell: Cell) -> tuple[str, str] | None:
    for name, (passed, total) in before.checks[key].items():
        now = cell.checks.get(name)
        if passed < total and now is not None and now[1] and now[0] == now[1]:
            return f"{name} fails in {total - passed} of {total}", f"{name} passes"
    return None
