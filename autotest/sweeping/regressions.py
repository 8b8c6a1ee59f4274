"""Separates regressions since an earlier sweep from flaky results, by judging the cells once more."""

from __future__ import annotations

from collections.abc import Callable

from autotest.results.sweep import CellKey
from autotest.results.sweep_format import Baseline
from autotest.results.sweep_gate import Change, Changes, changes
from autotest.sweeping.engine import SweepEngine
from autotest.sweeping.session import SweepSession


def without_flaky(
    session: SweepSession, engine: SweepEngine, before: Baseline, asked: Callable[[CellKey], bool], compared: Changes
) -> tuple[Changes, list[Change]]:
    """Return `compared` without the cells that are not worse in a second run, and these flaky changes.

    The map of `session` is unchanged.

    Args:
        session: the sweep whose map was compared.
        engine: runs the cells again.
        before: the earlier sweep.
        asked: returns whether a cell was chosen for this sweep.
        compared: the comparison of the first run with `before`.
    """
    keys = {change.key for change in compared.worse if change.key in session.map.rows}
    if not keys:
        return compared, []
    kept = {key: session.map.rows[key].cell for key in keys}
    again = session.again(engine, keys)
    try:
        for key, cell in again.items():
            session.map.rows[key].cell = cell
        still = {change.key for change in changes(session.map, before, asked, session.unfinished - set(again)).worse}
    finally:
        for key, cell in kept.items():
            session.map.rows[key].cell = cell
    worse = [change for change in compared.worse if change.key in still or change.key not in keys]
    return compared._replace(worse=worse), [change for change in compared.worse if change not in worse]
