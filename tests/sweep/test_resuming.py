"""`autotest sweep --resume`, and the state after an interrupt or on a full disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autotest.base.errors import UsageError
from autotest.results.sweep import Cell, CellDivergence, CellKey
from autotest.sweeping import journal
from autotest.sweeping.journal import Journal, SweepRequest
from autotest.sweeping.units import Unit
from tests.support.running import Ended

Sweep = Callable[..., Ended]
RELU = "nn.functional.relu/function/float32"
ASKED = SweepRequest("relu", 3, "", "torch")


def unit(operator: str) -> Unit:
    return Unit(0, "operators", CellKey(operator, "function", "float32"), "sample", 0)


def cell(accepted: int) -> Cell:
    found = Cell(accepted=accepted)
    found.diverged(CellDivergence("value", "differs", "a message", "sample 1", samples=accepted))
    return found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return journal.journal_path(tmp_path / "kept", (1, 1))


@pytest.fixture
def written(place: Path) -> Iterator[Journal]:
    opened = Journal(place)
    opened.begin(ASKED)
    opened.add(unit("exp"), cell(2), done=False)
    opened.add(unit("exp"), cell(3), done=True)
    opened.add(unit("sin"), cell(5), done=False)
    yield opened
    opened.close()


def judged(place: Path) -> bool:
    """Return whether a running sweep has completed a unit."""
    try:
        return bool(journal.read(place)[1])
    except UsageError:  # the file does not exist yet
        return False


def test_units_that_came_to_their_end_are_known_and_others_judged_again(written: Journal, place: Path) -> None:
    asked, done = journal.read(place)
    assert asked == ASKED
    assert {name: [part.accepted for part in parts] for name, parts in done.items()} == {
        "operators/exp/function/float32/sample": [2, 3]
    }


def test_what_was_handed_in_before_a_resumption_is_not_counted_twice(written: Journal, place: Path) -> None:
    again = Journal(place, resumed=True)
    again.resumed()
    again.add(unit("sin"), cell(7), done=True)
    again.close()
    assert [part.accepted for part in journal.read(place)[1]["operators/sin/function/float32/sample"]] == [7]


def test_an_incomplete_outcome_is_left_out(written: Journal, place: Path) -> None:
    place.write_bytes(place.read_bytes()[:-3])
    assert list(journal.read(place)[1]) == ["operators/exp/function/float32/sample"]


@pytest.mark.parametrize("content", [b"", b"hello\n", b'{"format": "autotest sweep under way", "version": 99}\n'])
def test_a_file_that_cannot_be_resumed_says_so(place: Path, content: bytes) -> None:
    place.parent.mkdir(parents=True)
    place.write_bytes(content)
    with pytest.raises(UsageError, match="damaged or from another version; run without --resume"):
        journal.read(place)


def test_a_full_disk_costs_the_resumption_only(place: Path) -> None:
    place.parent.mkdir(parents=True)
    place.symlink_to("/dev/full")
    full = Journal(place)
    full.begin(ASKED)
    full.add(unit("exp"), cell(1), done=True)
    assert "this run cannot be resumed from its end: No space left on device" in full.trouble


def test_there_is_nothing_to_resume_at_first(sweep: Sweep) -> None:
    ended = sweep("--resume")
    assert ended.status == 2
    assert "nothing to resume" in ended.errors


@pytest.mark.slow
def test_a_sweep_without_time_is_gone_on_with(sweep: Sweep, tmp_path: Path) -> None:
    expression = f"{RELU} or nn.functional.relu/function/float64"
    whole = sweep("-k", expression, "--json", "whole.json", "--jobs", 1)
    assert whole.status == 0, whole.errors
    first = sweep("-k", expression, "--jobs", 1, "--time", "0.001s", "--json", "first.json")
    assert "no time for" in first.output
    other = sweep("--resume", "-k", "abs")
    assert other.status == 2
    assert "was run with -k" in other.errors
    second = sweep("--resume", "--jobs", 1, "--json", "second.json", "--junitxml", "junit.xml")
    assert second.status == 0, second.errors
    assert "resumed: " in second.output
    again = sweep("--resume", "--jobs", 1, "--json", "again.json")
    assert ", 0 are left" in again.output
    assert ", 0 a second, seed 0, " in again.output  # everything was judged in the earlier run

    def cells(name: str) -> object:
        return json.loads((tmp_path / name).read_text())["cells"]

    assert cells("whole.json") == cells("second.json") == cells("again.json")
    (case,) = ET.parse(tmp_path / "junit.xml").getroot().iter("testcase")
    assert case.get("name") == "nn.functional.relu"
    assert not len(case)


@pytest.mark.slow
def test_the_map_so_far_is_written_when_it_is_interrupted(
    sweep: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    command = [sys.executable, "-m", "autotest", "sweep", "-k", "float32", "--json", "map.json", "--jobs", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        kept = journal.journal_path(tmp_path / "kept", (1, 1))
        while not judged(kept) and process.poll() is None:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=100)
    assert process.returncode == 3
    assert "autotest: interrupted" in errors
    assert "Not complete: interrupted." in output
    document = json.loads((tmp_path / "map.json").read_text())
    assert document["incomplete"] == "interrupted"
    assert any(one["status"] == "agrees" for one in document["cells"])


@pytest.mark.slow
def test_what_can_be_written_is_written_on_a_full_disk(sweep: Sweep, tmp_path: Path) -> None:
    ended = sweep("-k", RELU, "--jobs", 1, "--html", "/dev/full", "--json", "map.json")
    assert ended.status == 2
    assert "/dev/full cannot be written: No space left on device" in ended.errors
    assert "1 agrees" in ended.output
    assert json.loads((tmp_path / "map.json").read_text())["cells"]
    assert os.path.exists("/dev/full")  # noqa: PTH110 - a device is no file to be replaced
