"""The ledgers of other candidates than OneFlow: their candidates, versions and scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotest.results import ledger

HERE = Path(__file__).parent
FILES = sorted(set(HERE.glob(ledger.FILES)) - {HERE / ledger.FILE})


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_says_of_whom_and_of_which_versions_it_speaks(file):
    entries = ledger.read(file)
    assert entries
    assert all(entry.candidate and entry.versions and entry.date for entry in entries)
    assert len({entry.key for entry in entries}) == len(entries)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_its_reproducers_are_there_none_is_left_over_and_all_stand_alone(file):
    named = {HERE / entry.reproducer for entry in ledger.read(file) if entry.reproducer}
    folder = HERE / "reproducers" / file.stem.removeprefix("ledger-")
    assert named == set(folder.glob("*.py"))
    assert not [path.name for path in named if "autotest" in path.read_text(encoding="utf-8")]


def test_the_usual_candidate_is_not_spoken_of():
    usual = ledger.find(HERE / "test_activation.py", "oneflow", lambda: "0.9.0").entries
    assert {entry.candidate for entry in usual} == {"oneflow"}
