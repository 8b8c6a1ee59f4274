"""The table of faults in `conftest` names existing tests, and contains every fault."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
TABLE = (HERE / "conftest.py").read_text(encoding="utf-8").partition('"""\n\nfrom')[0]


def test_every_fault_of_the_list_has_a_test():
    assert [int(number) for number in re.findall(r"^(\d+) ", TABLE, re.MULTILINE)] == list(range(1, 28))


def test_every_test_in_the_table_exists():
    for row in re.split(r"^\d+ ", TABLE, flags=re.MULTILINE)[1:]:
        file, *names = re.findall(r"test_\w+", row)
        text = (HERE / f"{file}.py").read_text(encoding="utf-8")
        for name in names:
            assert f"def {name}(" in text, f"{file}: {name}"
