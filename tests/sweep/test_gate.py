"""Two maps compared: nothing that got worse is passed over, and nothing else is called worse."""

from __future__ import annotations

import json

import pytest

from autotest.results.sweep import Cell, CellKey, Row, SweepMap
from autotest.results.sweep_format import as_data, baseline
from autotest.results.sweep_gate import Changes, changes

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
        made.rows[key] = Row(key, "family", "operators", each)
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
    assert compared(swept(add=cell(**GOOD)), swept(add=cell(**GOOD))) == Changes([], [], [])


def test_a_new_cell_that_differs_is_told_and_no_regression() -> None:
    found = compared(swept(), swept(add=cell(value=(1, 3))))
    assert not found.worse
    assert [str(change) for change in found.added] == ["add/function/float32: not there -> differs"]
