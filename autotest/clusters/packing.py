"""What is packed for the agents of a cluster, and a finding that came from one put into the driver's own store."""

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
from autotest.results.tasks import Conditions, Death, Diagnose, DiagnoseDeath, ExpectedDeath, Explore, Found, Result
from autotest.storage.keeping import forget, latest_files, put, shortened
from autotest.storage.store_format import FILES
from autotest.sweeping.worker import Databases

T = TypeVar("T")

_USUAL = Databases()

#: Variables that belong to this machine, and those besides AUTOTEST_* that results depend on. An engine may set these.
_OWN = frozenset(("AUTOTEST_DIR", "AUTOTEST_PROJECT", "AUTOTEST_LEDGER"))
_TELLING = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONHASHSEED")


def package(
    conditions: Conditions,
    files: Sequence[Path],
    shared: Path | None = None,
    work: Work = "campaign",
    databases: Databases = _USUAL,
) -> Package:
    """What agents are to know of this process; `slots` is each one's own.

    `shared` is the folder that is the same on their machine; None where the engine brings the working directory.
    """
    project = options.in_force().file
    named = {name: os.environ[name] for name in os.environ if name.startswith("AUTOTEST_") and name not in _OWN}
    named |= {name: os.environ[name] for name in _TELLING if name in os.environ}
    root = Path.cwd() if shared is None else shared
    for database in databases.others:
        database.entries()  # what it has read from this machine's disk travels with it
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
    """`file` from `root`, which it may be moved with; or where it is on every machine."""
    absolute = file.absolute()
    return absolute.relative_to(root) if absolute.is_relative_to(root) else absolute


def with_file(task: T, change: Callable[[Path], Path]) -> T:
    """`task`, or a death in one, with its test files as `change` gives them, if it is about any."""
    if isinstance(task, AccountTask):
        return task._replace(where=task.where._replace(file=change(task.where.file)))
    if isinstance(task, DiagnoseDeath | Death):
        before = tuple(ran._replace(where=ran.where._replace(file=change(ran.where.file))) for ran in task.before)
        task = dataclasses.replace(task, before=before)
    if isinstance(task, Explore | Diagnose | DiagnoseDeath):
        return dataclasses.replace(task, where=task.where._replace(file=change(task.where.file)))
    return task


def packed(task: T, root: Path, directory: Path) -> tuple[T, Files]:
    """`task` as an agent can carry it out, with the files of the finding that it goes on with."""
    files: Files = {}
    if isinstance(task, DiagnoseDeath) and task.verify:
        with contextlib.suppress(AutotestError, OSError):  # without it the agent says what is missing
            files = latest_files(directory, task.identity.key)
    return with_file(task, lambda file: relative(file, root)), files


def unpacked(task: Any, result: Any, files: Files, root: Path, directory: Path) -> Any:
    """`result` as if the task had been carried out here: a finding is in the store below `directory`, and tells so."""
    if isinstance(task, DiagnoseDeath) and task.thorough and _is_another(task, result):
        forget(directory, task.identity.key)
    if isinstance(result, Death):
        return with_file(result, lambda file: root / file)
    if not isinstance(result, Found):
        return result
    kept = {name: data for name, data in files.items() if name in FILES}
    place, _ = put(directory, result.key, lambda folder, _: _moved(kept, result.place, folder))
    told = result.report.replace(result.place, shortened(place))
    return dataclasses.replace(result, where=task.where, place=shortened(place), report=told)


def _is_another(task: DiagnoseDeath, result: Result) -> bool:
    return isinstance(result, ExpectedDeath) or (isinstance(result, Found) and result.key != task.identity.key)


def _moved(files: Files, before: str, place: Path) -> Files:
    """The report names the folder that it lies in."""
    report = files.get("report.txt", b"").replace(before.encode(), shortened(place).encode())
    return {**files, "report.txt": report}
