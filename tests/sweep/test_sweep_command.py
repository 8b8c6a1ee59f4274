"""`autotest sweep`: exit statuses, reports, deaths, and the gate."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.running import Ended

Sweep = Callable[..., Ended]
RELU = "nn.functional.relu/function/float32"


@pytest.mark.slow
def test_what_agrees_ends_in_0_and_what_differs_in_1(sweep: Sweep, tmp_path: Path) -> None:
    good = sweep("-k", RELU, "--json", "map.json", "--markdown", "map.md", "--jobs", 1)
    assert good.status == 0, good.errors
    (cell,) = json.loads((tmp_path / "map.json").read_text())["cells"]
    assert (cell["operator"], cell["status"]) == ("nn.functional.relu", "agrees")
    assert "## Operators that agree in every cell (1)" in (tmp_path / "map.md").read_text()
    bad = sweep("-k", RELU, "--against", "map.json", "--jobs", 1, candidate="tests.sweep.planted:wrong_relu")
    assert bad.status == 1
    # In place it returns a copy, too.
    assert f"{RELU}: agrees -> differs (alias, value)" in bad.output


def test_a_death_costs_one_sample_and_is_told(sweep: Sweep, tmp_path: Path) -> None:
    ended = sweep("-k", RELU, "--bless", "--jobs", 1, candidate="tests.sweep.planted:deadly_relu")
    assert ended.status == 0, ended.errors
    document = json.loads((tmp_path / "sweep.json").read_text())
    (cell,) = document["cells"]
    assert cell["status"] == "dies"
    survived, samples = cell["checks"]["survives"]
    assert 0 < survived < samples
    assert any("ends with SIG" in finding["message"] for finding in document["findings"])


def test_a_map_that_is_blessed_before_it_is_complete_is_told(sweep: Sweep, tmp_path: Path) -> None:
    ended = sweep("-k", RELU, "--bless", "--time", "0.001s", "--jobs", 1, candidate="torch")
    assert ended.status == 0, ended.errors
    assert ended.output.endswith("is not complete: a later run may report cells as worse that this run did not reach\n")
    assert "no time for" in json.loads((tmp_path / "sweep.json").read_text())["incomplete"]


def test_an_expression_that_fits_nothing_names_cells(sweep: Sweep) -> None:
    ended = sweep("-k", "no_such_operator")
    assert ended.status == 2
    assert "matches no cell; the name of a cell is operator/form/dtype, such as" in ended.errors


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"format": "autotest map", "version": 99}', "version 99"),
        ('{"format": "another"}', "is not a map written by"),
        ("[1, 2", "is not a map written by"),
        ('{"format": "autotest map", "version": 1}', "damaged"),
    ],
)
def test_a_map_that_cannot_be_read_is_told_before_anything_runs(
    sweep: Sweep, tmp_path: Path, content: str, said: str
) -> None:
    (tmp_path / "old.json").write_text(content)
    ended = sweep("--against", "old.json")
    assert ended.status == 2
    assert said in ended.errors


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (
            [],
            "(made by `autotest sweep`) has 0 cells, but none of the requested ones, such as nn.functional.relu",
        ),
        ([("add", "function", "float64")], "has 1 cell, but none of the requested ones"),
    ],
)
def test_a_map_of_other_cells_is_told_before_anything_runs(
    sweep: Sweep, tmp_path: Path, cells: list[tuple[str, ...]], said: str
) -> None:
    written = [
        {
            **dict(zip(("operator", "form", "dtype"), cell, strict=True)),
            "status": "agrees",
            "checks": {},
            "left_out": {},
        }
        for cell in cells
    ]
    document = {"format": "autotest map", "version": 1, "sides": ["torch", "faulty"], "versions": {}, "cells": written}
    (tmp_path / "old.json").write_text(json.dumps({**document, "command": "autotest sweep"}))
    ended = sweep("-k", RELU, "--against", "old.json", "--jobs", 1)
    assert ended.status == 2
    assert said in ended.errors


def test_a_missing_map_says_what_writes_it(sweep: Sweep) -> None:
    ended = sweep("--against")
    assert ended.status == 2
    assert "--bless sweep.json` writes it" in ended.errors


def test_a_report_without_a_folder_is_told_before_anything_runs(sweep: Sweep) -> None:
    ended = sweep("--json", "nowhere/map.json")
    assert ended.status == 2
    assert "the folder nowhere does not exist" in ended.errors


def test_a_report_that_is_a_folder_is_told_before_anything_runs(sweep: Sweep, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    ended = sweep("--html", "pages")
    assert ended.status == 2
    assert "pages cannot be written: it is a folder; give the name of a file" in ended.errors


@pytest.mark.parametrize("other", ["--html", "--against"])
def test_two_options_that_name_one_file_are_told_before_anything_is_lost(
    sweep: Sweep, tmp_path: Path, other: str
) -> None:
    baseline = '{"format": "autotest map", "version": 1, "sides": ["torch", "x"], "versions": {}, "cells": []}'
    (tmp_path / "map.json").write_text(baseline)
    ended = sweep("--json", "./map.json", other, "map.json")
    assert ended.status == 2
    assert "name the same file, " in ended.errors
    assert (tmp_path / "map.json").read_text() == baseline


def test_a_missing_ledger_is_told_before_anything_runs(sweep: Sweep) -> None:
    ended = sweep("--ledger", "nowhere.toml")
    assert ended.status == 2
    assert "nowhere.toml: no ledger can be read there: No such file or directory" in ended.errors


def test_a_run_that_could_judge_nothing_is_no_pass_and_says_why(sweep: Sweep) -> None:
    ended = sweep("-k", RELU, "--jobs", 1, candidate="tests.sweep.planted:incomplete")
    assert ended.status == 3
    assert "samples left out:" in ended.output
    assert "nothing could be judged" in ended.errors
    assert "no get_num_threads" in ended.errors
