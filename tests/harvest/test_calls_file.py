"""Errors for files of calls that are damaged, of another version, or of another kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from autotest import UsageError, harvest
from autotest.sources import harvested
from autotest.sources.calls_file import read


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    with harvest(tmp_path / "calls.jsonl"):
        torch.sin(torch.ones(2))
        torch.cos(torch.ones(2))
    return tmp_path / "calls.jsonl"


def test_lines_that_are_broken_are_told_and_the_others_used(calls: Path) -> None:
    lines = calls.read_text().splitlines()
    lines[2:2] = ["{", '{"call": 9, "process": 1, "name": "tan", "form": "sideways"}', "[1]"]
    calls.write_text("\n".join([*lines, lines[-1][:20]]))
    found = read(calls)
    assert {"sin", "cos"} <= {call.name for call in found.calls}
    assert found.broken == [3, 4, 5, len(lines) + 1]
    (note,) = found.notes(calls)
    assert "4 lines of" in note
    assert "line 3: JSONDecodeError" in note


def test_an_unknown_version_says_which_ones_are_meant(calls: Path) -> None:
    calls.write_text(calls.read_text().replace('"version":1', '"version":99', 1))
    with pytest.raises(UsageError, match=r"format version 99, .* reads version 1; harvest again"):
        read(calls)


@pytest.mark.parametrize("content", ["", "hello\n", '{"call": 1}\n', '{"format": "autotest map", "version": 1}'])
def test_another_file_is_none_of_harvest(tmp_path: Path, content: str) -> None:
    (tmp_path / "x").write_text(content)
    with pytest.raises(UsageError, match="x is not a file written by `autotest harvest`"):
        read(tmp_path / "x")


def test_a_missing_file_says_what_writes_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"No such file or directory.*autotest harvest -o .* -- python train.py"):
        read(tmp_path / "nothing")


def test_a_program_that_made_no_call_is_told(tmp_path: Path) -> None:
    with harvest(tmp_path / "calls.jsonl"):
        pass
    with pytest.raises(UsageError, match="contains no call"):
        harvested.database(tmp_path / "calls.jsonl")


def test_a_call_whose_arguments_are_damaged_is_left_out_with_its_line(calls: Path) -> None:
    lines = calls.read_text().splitlines()
    number, line = next((n, line) for n, line in enumerate(lines) if '"sin"' in line)
    call = json.loads(line)
    call["args"][0]["tensor"]["strides"] = [-1]
    calls.write_text("\n".join([*lines[:number], json.dumps(call), *lines[number + 1 :]]))
    (made,) = harvested.database(calls).samples("sin", "function", "float32", "sample", 0)
    assert made.program is None
    assert f"line {number + 1} of the calls is damaged" in made.left_out
