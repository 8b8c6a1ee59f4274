"""Stored failures are tried again, in the cell of their operator."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from autotest.comparison import Mismatch
from autotest.frameworks.samples import DatabaseEntry
from autotest.program import Array, Call, Captured, Program, Ref
from autotest.results.finding import Finding
from autotest.sources.stored_failures import StoredFailures
from autotest.storage.store import Store
from autotest.sweeping.session import SweepPlan, SweepSession
from autotest.sweeping.worker import SweepListing
from tests.support.running import Ended

RELU = "nn.functional.relu"


def program(kind: str, target: str, dtype: str = "float32") -> Program:
    calls = (
        Call("tensor", dtype, (Captured(0),), {"requires_grad": False, "device": "cpu"}, 0),
        Call(kind, target, (Ref(0),), {}, 1),  # type: ignore[arg-type]
    )
    return Program(calls, (Array(np.array([-1.0, 1.0], dtype), dtype),))


def keep(directory: Path, shown: Program) -> Path:
    mismatch = Mismatch("v1", 1, "value", "forward", "candidate", f"{shown.calls[-1].target}: not close")
    return Store(directory).save(Finding("test_it", 0, 3, 7, (mismatch,), ("torch", "mine"), shown, {}, {}))


@pytest.mark.parametrize(
    ("kind", "target", "cell"),
    [
        ("function", RELU, (RELU, "function", "float32")),
        ("method", "relu", ("relu", "method", "float32")),
        ("method", "relu_", ("relu", "in-place", "float32")),
    ],
)
def test_a_failure_belongs_into_the_cell_of_its_operator(
    tmp_path: Path, kind: str, target: str, cell: tuple[str, str, str]
) -> None:
    keep(tmp_path, program(kind, target))
    database = StoredFailures(tmp_path)
    (entry,) = database.entries()
    assert (entry.name, entry.forms[0], entry.dtypes[0]) == cell
    (sample,) = database.samples(*cell, "found", 0)  # type: ignore[arg-type]
    assert sample.program is not None
    assert sample.program.calls == program(kind, target).calls


def test_a_damaged_failure_costs_itself_only(tmp_path: Path) -> None:
    keep(tmp_path, program("method", "relu"))
    (keep(tmp_path, program("function", RELU)) / "program.json").write_text("{")
    (tmp_path / "failures" / "stray").mkdir()
    assert [entry.name for entry in StoredFailures(tmp_path).entries()] == ["relu"]


def test_nothing_was_found_before_where_there_is_no_store(tmp_path: Path) -> None:
    assert StoredFailures(tmp_path / "nowhere").entries() == []


def test_it_makes_no_cells_of_its_own(tmp_path: Path) -> None:
    """Otherwise a cell that exists only for a stored failure would be missing in the next run."""
    keep(tmp_path, program("function", "exp"))
    keep(tmp_path, program("function", "sin"))
    own = DatabaseEntry(
        "operators", "exp", "", "elementwise", ("function",), ("float32",), ("sample",), {}, mutated=False
    )
    double = dataclasses.replace(own, name="sin", dtypes=("float64",))
    listed = SweepListing(("torch", "mine"), {}, [*StoredFailures(tmp_path).entries(), own, double], [], [])
    session = SweepSession(SweepPlan(), listed)
    assert [(unit.database, str(unit.key), unit.kind) for unit in session.units if unit.kind == "found"] == [
        ("found before", "exp/function/float32", "found")
    ]
    assert [row.database for row in session.map.rows.values()] == ["operators", "operators"]


@pytest.mark.slow
def test_a_sweep_tries_it_again(sweep: Callable[..., Ended], quick: Path) -> None:
    keep(quick, program("function", RELU))
    ended = sweep("-k", f"{RELU}/function/float32", "--jobs", 1, candidate="tests.sweep.planted:wrong_relu")
    assert ended.status == 1, ended.errors
    tried = int(ended.output.split(" samples of")[0].rpartition(" ")[2])
    # The findings of that sweep are stored, too, and are tried in the next one.
    for finding in list(Store(quick).list()):
        Store(quick).remove(finding.key)
    again = sweep("-k", f"{RELU}/function/float32", "--jobs", 1, candidate="tests.sweep.planted:wrong_relu")
    assert int(again.output.split(" samples of")[0].rpartition(" ")[2]) == tried - 1
