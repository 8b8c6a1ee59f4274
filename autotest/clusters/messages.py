"""What the driver of a campaign and the agents of a cluster tell one another."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from autotest.results.gradient_account import GradientAccount
from autotest.results.sweep import Cell
from autotest.results.sweep_findings import SweepFinding
from autotest.results.tasks import Conditions, Result, Task, Where
from autotest.sweeping.units import Unit
from autotest.sweeping.worker import Databases

#: The files of a finding, by name.
Files = Mapping[str, bytes]


#: What a cluster may be asked for.
Work = Literal["campaign", "sweep", "gradients"]


class AccountTask(NamedTuple):
    """The gradients of one test are to be looked at, in so many trials at most."""

    where: Where
    trials: int


class LookInto(NamedTuple):
    """A finding of a sweep is to be explained, and its script to be run, in so many seconds each."""

    finding: SweepFinding
    explain: float
    verify: float


class Package(NamedTuple):
    """What an agent is told first: all that holds for its tasks."""

    #: The agent keeps findings in a folder of its own, only until they are sent.
    conditions: Conditions
    slots: int
    #: The folder that relative paths start from; "" for the one that the engine has put the files into.
    root: str
    #: The variables that trials depend on, and the names of those that must not be set.
    environment: Mapping[str, str]
    unset: Sequence[str]
    #: What of `sys.path` is below `root`.
    path: Sequence[str]
    #: Test files, relative to `root` where they are below it, and their digests.
    digests: Mapping[str, str]
    #: The text of the project's ``pyproject.toml``, and of the ledger that AUTOTEST_LEDGER names.
    project: str
    ledger: str
    work: Work = "campaign"
    #: What a sweep is of.
    databases: Databases = Databases()


class Facts(NamedTuple):
    """What an agent says of itself before it gets a task."""

    #: Such as ``torch 2.0.1 / oneflow 0.9.0 on cpu``.
    group: str
    #: Digest of this library's own source there.
    library: str
    #: Test files that are missing there, or others.
    differing: Sequence[str]
    #: Why it cannot work; "" when it can.
    trouble: str = ""


class SentTask(NamedTuple):
    """A task on its way to an agent."""

    number: int
    task: Task | Unit | LookInto | AccountTask
    #: Of the finding that the task goes on with, where it does.
    files: Files


class Order(NamedTuple):
    """Further tasks for an agent, and for how many seconds it may wait for the next result."""

    tasks: Sequence[SentTask]
    seconds: float


class SentResult(NamedTuple):
    """The result of a task, on its way back to the driver."""

    number: int
    #: Of a campaign's task; cells, of a unit of a sweep; the finding, of a `LookInto`; an account, of an `AccountTask`.
    result: Result | Sequence[tuple[Cell, bool]] | SweepFinding | GradientAccount
    #: Of the finding, where the result is one.
    files: Files


class Report(NamedTuple):
    """An agent's answer to an `Order`."""

    results: Sequence[SentResult]
    #: Why it cannot go on; "" when it can.
    trouble: str = ""
    #: How many of its workers seem to hang, in whose place as many others may explore.
    late: int = 0


class Farewell(NamedTuple):
    """Tells an agent that nothing more will be asked of it."""


def digest_of_library() -> str:
    """A digest of the source of this library, by which two copies of it are the same."""
    root = Path(__file__).parents[2]
    total = hashlib.sha256()
    for package in ("autotest", "generators"):
        for file in sorted((root / package).rglob("*.py")):
            total.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()


def digest_of_file(file: Path) -> str:
    """A digest of what is in `file`; "" when it cannot be read."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""
