"""Tells what got worse since an earlier sweep from what wavers, by judging it once more."""

from __future__ import annotations

from collections.abc import Callable

from autotest.results.sweep import CellKey
from autotest.results.sweep_format import Baseline
from autotest.results.sweep_gate import Change, Changes, changes
from autotest.sweeping.engine import SweepEngine
from autotest.sweeping.session import SweepSession


def tried_again(
    session: SweepSession, engine: SweepEngine, before: Baseline, asked: Callable[[CellKey], bool], compared: Changes
) -> tuple[Changes, list[Change]]:
    """What of `compared` got worse in another run, too, and what is flaky since it is there as it was before.

    The map of `session` stays what it was.
    """
    keys = {change.key for change in compared.worse if change.key in session.map.rows}
    if not keys:
        return compared, []
    kept = {key: session.map.rows[key].cell for key in keys}
    again = session.again(engine, keys)
    for key, cell in again.items():
        session.map.rows[key].cell = cell
    still = {change.key for change in changes(session.map, before, asked, session.unfinished - set(again)).worse}
    for key, cell in kept.items():
        session.map.rows[key].cell = cell
    worse = [change for change in compared.worse if change.key in still or change.key not in keys]
    return compared._replace(worse=worse), [change for change in compared.worse if change not in worse]
