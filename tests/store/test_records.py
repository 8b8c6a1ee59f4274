"""A file of records is resumed after its writer was killed, and again after that."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotest.storage.records import Records, read


def appended(path: Path, *records: object, resumed: bool) -> None:
    file = Records(path, resumed=resumed)
    if not resumed:
        file.begin({"seed": 1})
    for record in records:
        file.add(record)
    file.close()
    assert not file.trouble


@pytest.mark.parametrize("left", ["all but a byte", "the length", "half of the length", "zeros"])
def test_records_of_a_resumed_run_are_read_although_the_first_run_was_killed_while_it_wrote(tmp_path, left):
    path = tmp_path / "sweeps" / "1-of-1"
    appended(path, "first", resumed=False)
    before = path.read_bytes()
    appended(path, ["killed"] * 9, resumed=True)
    written = path.read_bytes()
    ends = {"all but a byte": len(written) - 1, "the length": len(before) + 8, "half of the length": len(before) + 4}
    path.write_bytes(written[: ends[left]] if left in ends else before + bytes(4096))
    appended(path, "second", "third", resumed=True)
    header, records = read(path)
    assert (header, [*records]) == ({"seed": 1}, ["first", "second", "third"])


def test_a_file_without_records_is_resumed(tmp_path):
    path = tmp_path / "sweeps" / "1-of-1"
    appended(path, resumed=False)
    appended(path, "first", resumed=True)
    assert [*read(path)[1]] == ["first"]
