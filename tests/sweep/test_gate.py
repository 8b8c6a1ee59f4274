"""The comparison of two maps reports everything that became worse, and nothing else as worse."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from autotest.frameworks.samples import DatabaseEntry
from autotest.report import sweep_text
from autotest.results.sweep import Cell, CellKey, SweepMap, SweepRow
from autotest.results.sweep_format import as_data, baseline
from autotest.results.sweep_gate import Changes, changes
from autotest.sweeping.engine import ReportCell
from autotest.sweeping.journal import name_of
from autotest.sweeping.regressions import without_flaky
from autotest.sweeping.session import SweepPlan, SweepSession
from autotest.sweeping.units import Unit
from autotest.sweeping.worker import SweepListing

ADD = CellKey("add", "function", "float32")


def cell(left_out: int = 0, **checks: tuple[int, int]) -> Cell:
    made = Cell(accepted=max((total for _, total in checks.values()), default=0))
    for name, (passed, total) in checks.items():
        made.checks[name] = [passed, total]
    if left_out:
        made.left_out["a reason"] = left_out
    return made


def swept(**cells: Cell) -> SweepMap:
    made = SweepMap(("a", "b"), {}, 0, "autotest sweep")
    for name, each in cells.items():
        key = CellKey(name, "function", "float32")
        made.rows[key] = SweepRow(key, "family", "operators", each)
    return made


def compared(before: SweepMap, after: SweepMap) -> Changes:
    document = json.loads(json.dumps(as_data(before, [])))
    return changes(after, baseline(document, "old.json"), lambda key: True)


GOOD = {"exists": (3, 3), "value": (3, 3)}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (cell(**GOOD), cell(exists=(3, 3), value=(2, 3)), "agrees -> differs (value)"),
        (cell(**GOOD), cell(), "agrees -> not run"),
        (cell(**GOOD), cell(left_out=3), "agrees -> left out (a reason)"),
        (cell(**GOOD), cell(left_out=1, **GOOD), "0 samples left out -> 1 left out (a reason)"),
        (cell(**GOOD), cell(exists=(3, 3)), "value passes -> value is not checked"),
        (cell(value=(1, 3), dtype=(3, 3)), cell(value=(1, 3), dtype=(1, 3)), "dtype passes -> dtype fails in 2 of 3"),
    ],
    ids=["differs", "vanished samples", "skipped", "newly left out", "check vanished", "another check"],
)
def test_what_got_worse_is_worse(before: Cell, after: Cell, said: str) -> None:
    found = compared(swept(add=before), swept(add=after))
    assert [str(change) for change in found.worse] == [f"add/function/float32: {said}"]
    assert not found.better


def test_the_reason_why_more_samples_are_left_out_is_the_one_that_is_new() -> None:
    before, after = cell(left_out=2, **GOOD), cell(left_out=2, **GOOD)
    after.left_out["a new reason"] = 1
    (change,) = compared(swept(add=before), swept(add=after)).worse
    assert str(change) == "add/function/float32: 2 samples left out -> 3 left out (a new reason)"


def test_a_cell_that_vanished_is_worse() -> None:
    found = compared(swept(add=cell(**GOOD), mul=cell(**GOOD)), swept(mul=cell(**GOOD)))
    assert [str(change) for change in found.worse] == ["add/function/float32: agrees -> gone"]


def test_what_was_not_asked_for_has_not_vanished() -> None:
    before = baseline(as_data(swept(add=cell(**GOOD)), []), "old.json")
    assert changes(swept(), before, lambda key: False) == Changes([], [], [])


def test_what_got_better_is_told() -> None:
    found = compared(swept(add=cell(value=(1, 3))), swept(add=cell(value=(3, 3))))
    assert [str(change) for change in found.better] == ["add/function/float32: differs -> agrees"]
    assert not found.worse


def test_the_same_again_is_no_change() -> None:
    found = compared(swept(add=cell(**GOOD)), swept(add=cell(**GOOD)))
    assert found == Changes([], [], [], shared=1)
    assert sweep_text.changed(found, []) == "compared with the earlier map in 1 cell that both have\n\nnothing changed"


@pytest.mark.parametrize(
    ("now", "worse"),
    [((60, 100), ["value fails in 4 of 100 -> value fails in 40 of 100"]), ((95, 100), []), ((60, 99), [])],
)
def test_many_more_failures_of_as_many_samples_are_worse(now: tuple[int, int], worse: list[str]) -> None:
    found = compared(swept(add=cell(value=(96, 100))), swept(add=cell(value=now)))
    assert [str(change) for change in found.worse] == [f"add/function/float32: {said}" for said in worse]


def test_what_two_maps_do_not_have_in_common_is_told() -> None:
    before, after = swept(add=cell(**GOOD)), swept(add=cell(**GOOD))
    before.versions, after.versions = {"a": "1", "b": "2"}, {"a": "1", "b": "3"}
    after.seed = 7
    text = sweep_text.changed(compared(before, after), [])
    assert "the earlier map was made with a 1, b 2, this one with a 1, b 3" in text
    assert "made with --seed 0, this one with --seed 7: a change may come from other samples" in text
    after.sides = ("a", "c")
    assert "compares b with a, this one c with a" in sweep_text.changed(compared(before, after), [])


def test_an_earlier_map_that_is_not_complete_is_told() -> None:
    """An incomplete cell agrees so far, and may differ in a later run that has more time."""
    before, after = swept(add=cell(**GOOD)), swept(add=cell(exists=(3, 3), value=(2, 3)))
    assert "not complete" not in sweep_text.changed(compared(before, after), [])
    before.incomplete = "no time for 68 of 90 units"
    text = sweep_text.changed(compared(before, after), [])
    assert "the earlier map is not complete (no time for 68 of 90 units)" in text
    assert "`autotest sweep --bless` without --time writes a complete map" in text


def test_a_new_cell_that_differs_is_told_and_no_regression() -> None:
    found = compared(swept(), swept(add=cell(value=(1, 3))))
    assert not found.worse
    assert [str(change) for change in found.added] == ["add/function/float32: not there -> differs"]


# -- a whole run: interrupted, restricted, flaky -------------------------------------------------------------------


class Planned:
    """Judges no samples: it returns the prepared cells for each unit, one set per run."""

    def __init__(self, *runs: dict[str, Cell]) -> None:
        self._runs = list(runs)

    def run(self, units: Iterable[Unit], report: ReportCell, stop: Callable[[], bool] = lambda: False) -> None:
        planned = self._runs.pop(0)
        for unit in units:
            if unit.key.operator not in planned:
                raise KeyboardInterrupt
            report(unit, planned[unit.key.operator] if unit.kind == "sample" else Cell(), True)


def session(expression: str = "") -> SweepSession:
    """Return a sweep of two operators."""
    entries = [
        DatabaseEntry("operators", name, "", "family", ("function",), ("float32",), ("sample",), {})
        for name in ("add", "mul")
    ]
    return SweepSession(SweepPlan(expression), SweepListing(("a", "b"), {}, entries, [], []))


def against(
    before: SweepMap, made: SweepSession, *runs: dict[str, Cell], expression: str = ""
) -> tuple[Changes, list[str]]:
    """Return the judgement of the gate about a run, and the cells that it calls flaky."""
    chosen = SweepPlan(expression).cell_filter()
    old = baseline(json.loads(json.dumps(as_data(before, []))), "old.json")
    engine: Any = Planned(*runs)
    with contextlib.suppress(KeyboardInterrupt):
        made.run(engine)
    compared = changes(made.map, old, lambda key: chosen(str(key)), made.unfinished)
    if len(runs) > 1:
        compared, flaky = without_flaky(made, engine, old, lambda key: chosen(str(key)), compared)
        return compared, [str(change.key) for change in flaky]
    return compared, []


BEFORE = swept(add=cell(**GOOD), mul=cell(**GOOD), gone=cell(**GOOD))
WRONG = {"exists": (3, 3), "value": (1, 3)}


def test_an_interrupted_run_reports_what_fails_and_nothing_as_vanished() -> None:
    before = swept(add=cell(**GOOD), mul=cell(**GOOD))
    first = session().units[0].key
    found, _ = against(before, session(), {first.operator: cell(**GOOD)})
    assert (found.worse, found.better, found.unfinished) == ([], [], 2)
    assert "2 cells were not tested completely" in sweep_text.changed(found, [])
    found, _ = against(before, session(), {first.operator: cell(**WRONG)})
    assert [str(change) for change in found.worse] == [f"{first}: value passes -> value fails in 2 of 3"]


def test_a_restricted_run_reports_nothing_else_as_vanished() -> None:
    found, _ = against(BEFORE, session("mul"), {"mul": cell(**WRONG)}, expression="mul")
    assert [change.key.operator for change in found.worse] == ["mul"]


def test_a_whole_run_reports_what_vanished() -> None:
    found, _ = against(BEFORE, session(), {"add": cell(**GOOD), "mul": cell(**GOOD)})
    assert [str(change) for change in found.worse] == ["gone/function/float32: agrees -> gone"]


def test_what_wavers_is_called_flaky_by_name_and_no_regression() -> None:
    before = swept(add=cell(**GOOD), mul=cell(**GOOD))
    first = {"add": cell(**WRONG), "mul": cell(**WRONG)}
    found, flaky = against(before, session(), first, {"add": cell(**GOOD), "mul": cell(**WRONG)})
    assert [change.key.operator for change in found.worse] == ["mul"]
    assert flaky == ["add/function/float32"]


def test_what_was_judged_before_a_run_was_resumed_is_tried_again_as_a_whole() -> None:
    before = swept(add=cell(**GOOD), mul=cell(**GOOD))
    made = session()
    made.resume({name_of(unit): [cell(**WRONG)] for unit in made.units if unit.key.operator == "add"})
    found, flaky = against(before, made, {"mul": cell(**GOOD)}, {"add": cell(**GOOD)})
    assert (found.worse, flaky) == ([], ["add/function/float32"])
