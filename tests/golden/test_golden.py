"""The whole text of a report of each kind is unchanged; ``python -m tests.golden`` writes the expected ones again."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from tests.golden import __main__ as rewriting
from tests.golden.reports import EXPECTED, REPORTS, normalised

#: These need another process.
SLOW = ("crash",)


def change(name: str, text: str) -> str:
    """Return the difference between `text` and the expected report `name`; empty if there is none."""
    expected = (EXPECTED / f"{name}.txt").read_text(encoding="utf-8")
    lines = difflib.unified_diff(expected.splitlines(), text.splitlines(), "expected", "actual", lineterm="")
    found = "\n".join(lines)
    return found and f"{found}\n\nIf that is meant: python -m tests.golden {name}"


# The texts contain numbers of torch 2.0.1, which is installed together with OneFlow.
@pytest.mark.oneflow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in REPORTS]
)
def test_a_report_reads_as_before(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, importable_elsewhere: None
) -> None:
    for variable, value in rewriting.settings(tmp_path).items():
        monkeypatch.setenv(variable, value)
    assert not change(name, REPORTS[name](tmp_path))


def test_a_word_that_changed_is_shown_with_the_command_that_accepts_it() -> None:
    text = (EXPECTED / "value.txt").read_text(encoding="utf-8").replace("not close", "far off")
    assert "-  - v1: not close." in change("value", text)
    assert "+  - v1: far off." in change("value", text)
    assert "python -m tests.golden value" in change("value", text)


def test_every_kind_of_report_is_expected() -> None:
    assert {path.stem for path in EXPECTED.glob("*.txt")} == set(REPORTS)
    assert len(REPORTS) == 10


def test_folders_and_versions_are_left_out() -> None:
    text = "python some/place/failures/relu-1/repro.py\nVersions:   torch 2.0.1+cu117, oneflow 0.9.0"
    assert normalised(text) == "python FOLDER/failures/relu-1/repro.py\nVersions:   torch VERSION, oneflow VERSION\n"
