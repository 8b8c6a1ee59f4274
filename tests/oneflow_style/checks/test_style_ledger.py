"""The ledger of the files in OneFlow's style: each entry has a reproducer, and each reproducer an entry."""

from __future__ import annotations

from pathlib import Path

from autotest.results import ledger

STYLE = Path(__file__).parents[1]
ENTRIES = ledger.read(STYLE / ledger.FILE)


def test_entries_and_reproducers_belong_together() -> None:
    there = {f"reproducers/{path.name}" for path in (STYLE / "reproducers").glob("*.py")}
    assert there == {entry.reproducer for entry in ENTRIES}
    assert len(there) == len(ENTRIES) == len({entry.key for entry in ENTRIES})
    assert all(entry.date for entry in ENTRIES)
