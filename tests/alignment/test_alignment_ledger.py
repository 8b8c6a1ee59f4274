"""The ledger itself: each entry has a reproducer, none is unused, and arguments in brackets are respected."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotest.results import ledger

HERE = Path(__file__).parent
ENTRIES = ledger.read(HERE / ledger.FILE)


def test_every_entry_has_a_key_of_its_own():
    keys = [entry.key for entry in ENTRIES]
    assert sorted(keys) == sorted(set(keys))


def test_every_entry_has_a_reproducer_and_a_date():
    lacking = [entry.key for entry in ENTRIES if not (HERE / entry.reproducer).is_file() or not entry.date]
    assert not lacking


def test_no_reproducer_is_left_over():
    there = {path.stem for path in (HERE / "reproducers").glob("*.py")}
    assert there <= {Path(entry.reproducer).stem for entry in ENTRIES}


@pytest.mark.parametrize(
    ("pattern", "test", "meant"),
    [
        ("test_a.py::test_b", "test_a.py::test_b[x=1]", True),
        ("test_a.py::test_b[x=1]", "test_a.py::test_b[x=1]", True),
        ("test_a.py::test_b[x=1]", "test_a.py::test_b[x=2]", False),
        ("test_a.py::test_b[x=1]", "test_a.py::test_b", False),
        ("test_a.py::*", "test_a.py::C.test_b[x=1]", True),
        ("test_a.py::test_b[name='*", "test_a.py::test_b[name='relu']", True),
    ],
)
def test_an_entry_with_arguments_speaks_of_these_alone(pattern, test, meant):
    entry = ledger.LedgerEntry(key="k", test=pattern, symptom="value", reason="r")
    assert entry.applies_to_test(test) is meant
