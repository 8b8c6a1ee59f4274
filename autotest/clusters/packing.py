"""Packs tasks for the agents of a cluster, and unpacks their results: findings go into the driver's own store."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from autotest.base import options
from autotest.base.errors import AutotestError
from autotest.clusters.messages import AccountTask, Files, Package, Work, digest_of_file
from autotest.results.tasks import (
    Conditions,
    Death,
    Diagnose,
    DiagnoseDeath,
    ExpectedDeath,
    Explore,
    FindingRecord,
    Result,
)
from autotest.storage.keeping import forget, latest_files, put, shortened
from autotest.storage.store_format import FILES
from autotest.sweeping.worker import Databases

T = TypeVar("T")

#: Environment variables that belong to this machine, and those other than AUTOTEST_* on which results depend. An engine
#: may set the latter.
_OWN = frozenset(("AUTOTEST_DIR", "AUTOTEST_PROJECT", "AUTOTEST_LEDGER"))
_TELLING = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONHASHSEED")


def package(
    conditions: Conditions,
    files: Sequence[Path],
    shared: Path | None = None,
    work: Work = "campaign",
    databases: Databases | None = None,
) -> Package:
    """Return the package for the agents; the caller sets `slots` for each agent.

    Args:
        conditions: what applies to all tasks.
        files: the test files, whose digests agents compare.
        shared: the folder that is the same on all machines; None if the engine copies the working directory.
        work: the kind of work.
        databases: the databases of samples of a sweep; the reference's own if left out.
    """
    databases = databases or Databases()
    project = options.active_project().file
    named = {name: os.environ[name] for name in os.environ if name.startswith("AUTOTEST_") and name not in _OWN}
    named |= {name: os.environ[name] for name in _TELLING if name in os.environ}
    root = Path.cwd() if shared is None else shared
    for database in databases.others:
        database.entries()  # entries read from this machine's disk travel with the database
    below = [Path(name or ".").absolute() for name in sys.path]
    return Package(
        conditions,
        slots=1,
        root="" if shared is None else str(shared),
        environment=named,
        unset=[name for name in _TELLING if name not in os.environ],
        path=list(dict.fromkeys(str(relative(one, root)) for one in below if one.is_relative_to(root))),
        digests={relative(file, root).as_posix(): digest_of_file(file) for file in files},
        project="" if project is None else project.read_text(encoding="utf-8"),
        ledger="" if conditions.ledger is None else conditions.ledger.read_text(encoding="utf-8"),
        work=work,
        databases=databases,
    )


def relative(file: Path, root: Path) -> Path:
    """Return `file` relative to `root`, so that it can be moved with it; outside of `root`, the absolute path."""
    absolute = file.absolute()
    return absolute.relative_to(root) if absolute.is_relative_to(root) else absolute


def with_file(task: T, change: Callable[[Path], Path]) -> T:
    """Return `task`, or a `Death`, with `change` applied to each of its test files."""
    if isinstance(task, AccountTask):
        return task._replace(where=task.where._replace(file=change(task.where.file)))
    if isinstance(task, DiagnoseDeath | Death):
        before = tuple(ran._replace(where=ran.where._replace(file=change(ran.where.file))) for ran in task.before)
        task = dataclasses.replace(task, before=before)
    if isinstance(task, Explore | Diagnose | DiagnoseDeath):
        return dataclasses.replace(task, where=task.where._replace(file=change(task.where.file)))
    return task


def packed(task: T, root: Path, directory: Path) -> tuple[T, Files]:
    """Return `task` with paths relative to `root`, and the files of the finding that it continues with."""
    files: Files = {}
    if isinstance(task, DiagnoseDeath) and task.verify:
        with contextlib.suppress(AutotestError, OSError):  # without the files, the agent reports what is missing
            files = latest_files(directory, task.identity.key)
    return with_file(task, lambda file: relative(file, root)), files


def unpacked(task: Any, result: Any, files: Files, root: Path, directory: Path) -> Any:
    """Return `result` as if the task had run on this machine.

    A finding is put into the store below `directory`, and its text names that place.
    """
    if isinstance(task, DiagnoseDeath) and task.thorough and _is_another(task, result):
        forget(directory, task.identity.key)
    if isinstance(result, Death):
        return with_file(result, lambda file: root / file)
    if not isinstance(result, FindingRecord):
        return result
    kept = {name: data for name, data in files.items() if name in FILES}
    place, _ = put(directory, result.key, lambda folder, _: _moved(kept, result.place, folder))
    report = result.report.replace(result.place, shortened(place))
    return dataclasses.replace(result, where=task.where, place=shortened(place), report=report)


def _is_another(task: DiagnoseDeath, result: Result) -> bool:
    return isinstance(result, ExpectedDeath) or (isinstance(result, FindingRecord) and result.key != task.identity.key)


def _moved(files: Files, before: str, place: Path) -> Files:
    """Return `files` with the report naming the folder `place`, in which it is stored now, instead of `before`."""
    report = files.get("report.txt", b"").replace(before.encode(), shortened(place).encode())
    return {**files, "report.txt": report}
