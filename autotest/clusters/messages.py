"""The messages between the driver of a campaign and the agents of a cluster."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from autotest.base.library_folder import LIBRARY
from autotest.results.gradient_account import GradientAccount
from autotest.results.sweep import Cell
from autotest.results.sweep_findings import SweepFinding
from autotest.results.tasks import Conditions, Result, Task, Where
from autotest.sweeping.units import Unit
from autotest.sweeping.worker import Databases

#: The files of a finding, by name.
Files = Mapping[str, bytes]


#: The kinds of work that a cluster does.
Work = Literal["campaign", "sweep", "gradients"]


class AccountTask(NamedTuple):
    """Request for the gradient account of one test, from at most `trials` trials."""

    where: Where
    trials: int


class ExplainTask(NamedTuple):
    """Request to explain a sweep's finding and to run its script, with a time limit in seconds for each."""

    finding: SweepFinding
    explain: float
    verify: float


class Package(NamedTuple):
    """The first message to an agent, with everything that applies to all of its tasks."""

    #: The agent stores findings in a folder of its own, only until they are sent.
    conditions: Conditions
    slots: int
    #: The folder that relative paths start from; "" for the folder into which the engine has copied the files.
    root: str
    #: The environment variables that trials depend on, and the names of those that must not be set.
    environment: Mapping[str, str]
    unset: Sequence[str]
    #: The entries of `sys.path` below `root`.
    path: Sequence[str]
    #: Test files, relative to `root` if they are below it, and their digests.
    digests: Mapping[str, str]
    #: The text of the project's ``pyproject.toml``, and of the ledger that AUTOTEST_LEDGER names.
    project: str
    ledger: str
    work: Work = "campaign"
    #: The databases of samples of a sweep.
    databases: Databases = Databases()


class Facts(NamedTuple):
    """An agent's description of its machine, sent before it gets a task."""

    #: The frameworks, versions and devices, such as ``torch 2.0.1 / oneflow 0.9.0 on cpu``.
    group: str
    #: Digest of the source of this library on that machine.
    library: str
    #: Test files that are missing on that machine, or differ.
    differing: Sequence[str]
    #: Why it cannot work; "" if it can.
    trouble: str = ""


class SentTask(NamedTuple):
    """A task that is sent to an agent."""

    number: int
    task: Task | Unit | ExplainTask | AccountTask
    #: The files of the finding that the task continues with, if there is one.
    files: Files


class TaskBatch(NamedTuple):
    """Further tasks for an agent, and for how many seconds it may wait for the next result."""

    tasks: Sequence[SentTask]
    seconds: float


class SentResult(NamedTuple):
    """The result of a task, sent back to the driver."""

    number: int
    #: The result of a campaign's task; the cells of a unit of a sweep; the finding of an `ExplainTask`; or the account
    #: of an `AccountTask`.
    result: Result | Sequence[tuple[Cell, bool]] | SweepFinding | GradientAccount
    #: The files of the finding, if the result is one.
    files: Files


class Report(NamedTuple):
    """An agent's answer to a `TaskBatch`."""

    results: Sequence[SentResult]
    #: Why it cannot continue; "" if it can.
    trouble: str = ""
    #: How many of its workers seem to hang; as many others may explore in their place.
    late: int = 0


class Shutdown(NamedTuple):
    """Notice to an agent that no further message will follow."""


def digest_of_library() -> str:
    """Return a digest of this library's source, which is equal for identical copies."""
    total = hashlib.sha256()
    for package in ("autotest", "generators"):
        for file in sorted((LIBRARY / package).rglob("*.py")):
            total.update(file.relative_to(LIBRARY).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()


def digest_of_file(file: Path) -> str:
    """Return a digest of the contents of `file`; "" if it cannot be read."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""
