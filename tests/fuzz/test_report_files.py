"""All report files that can be written are written, and the others are named at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotest.base.errors import UsageError
from autotest.cli.report_files import write_reports


@pytest.fixture
def in_actions(monkeypatch, tmp_path):
    """Set the variables of a job of GitHub Actions; return the file of the job's summary."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    return tmp_path / "summary"


def test_a_report_that_cannot_be_written_prevents_no_other_one(tmp_path, in_actions):
    full, page = tmp_path / "nowhere" / "out.json", tmp_path / "page.html"
    with pytest.raises(UsageError, match=r"out\.json cannot be written: No such file or directory"):
        write_reports([(full, lambda: "{}"), (None, lambda: "unasked"), (page, lambda: "<p>")], lambda: "# Found")
    assert page.read_text() == "<p>"
    assert in_actions.read_text() == "# Found"


def test_a_summary_that_cannot_be_written_is_told_without_a_traceback(tmp_path, in_actions):
    in_actions.mkdir()
    with pytest.raises(UsageError, match="summary cannot be written: Is a directory"):
        write_reports([(tmp_path / "out.json", lambda: "{}")], lambda: "# Found")
    assert (tmp_path / "out.json").read_text() == "{}"


def test_a_report_that_finds_no_room_leaves_the_earlier_one(tmp_path):
    earlier = tmp_path / "out.json"
    earlier.write_text("{}")

    def no_room() -> str:
        raise OSError(28, "No space left on device")

    with pytest.raises(UsageError, match=r"out\.json cannot be written: No space left on device"):
        write_reports([(earlier, no_room)], lambda: "")
    assert earlier.read_text() == "{}"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_a_file_that_can_be_written_but_not_replaced_is_written(tmp_path, monkeypatch):
    """This happens in a container into which single files are mounted."""
    mounted = tmp_path / "out.json"
    mounted.write_text("earlier")

    def busy(self, target):
        raise OSError(16, "Device or resource busy")

    monkeypatch.setattr(Path, "replace", busy)
    write_reports([(mounted, lambda: "{}")], lambda: "")
    assert mounted.read_text() == "{}"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
