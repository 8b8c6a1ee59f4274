"""Writes the reports of a run: each file completely or not at all, and every file that can be written."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from autotest.base.errors import UsageError

#: A file, or None if the report is not requested; and a function that returns the report.
ReportFile = tuple[Path | None, Callable[[], str]]

#: Errors of a file that can be written and not replaced: its folder takes no new files, or it is mounted on its own.
_UNREPLACEABLE = frozenset((errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY))


def write_reports(reports: Sequence[ReportFile], summary: Callable[[], str]) -> None:
    """Write `reports`, and in GitHub Actions append the result of `summary` to the summary of the job.

    Raises `UsageError`, which names all files that cannot be written, after the other files are written.
    """
    failed = [trouble for path, text in reports if path is not None and (trouble := _write(path, text))]
    job = os.environ.get("GITHUB_STEP_SUMMARY")
    if os.environ.get("GITHUB_ACTIONS") == "true" and job:
        try:
            with Path(job).open("a", encoding="utf-8") as file:
                file.write(summary())
        except OSError as error:
            failed.append(f"{job} cannot be written: {error.strerror}")
    if failed:
        raise UsageError("; ".join(failed))


def _write(path: Path, text: Callable[[], str]) -> str:
    """Write a file completely or not at all, so that a full disk does not destroy an earlier report.

    Returns an error message, or "" if the file was written.
    """
    try:
        if path.exists() and not path.is_file():  # a device or a pipe cannot be replaced
            path.write_text(text(), encoding="utf-8")
        else:
            _replace(path, text())
    except OSError as error:
        return f"{path} cannot be written: {error.strerror}"
    return ""


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        if error.errno not in _UNREPLACEABLE:
            raise
        path.write_text(text, encoding="utf-8")
    except KeyboardInterrupt:
        beside.unlink(missing_ok=True)
        raise
