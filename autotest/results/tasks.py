"""What a campaign asks of whoever runs its trials, and what it gets back: plain data that crosses processes."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from autotest.base.options import DEFAULT_PAIR
from autotest.comparison import Mismatch, Side, Stage, Symptom
from autotest.results.coverage import Coverage
from autotest.results.identity import Identity
from autotest.results.verification import Verification

#: The type of rejection that stands for an operator that is not tried any more.
SET_ASIDE = "set aside"
#: Stands for all names of calls.
EVERY_CALL = "*"


class LeftOut(NamedTuple):
    """A test that cannot be explored, or a file that cannot be imported, and why."""

    name: str
    why: str


class Where(NamedTuple):
    """A test, and the base seed that its trials are numbered under."""

    file: Path
    test: str
    base_seed: int


@dataclasses.dataclass(frozen=True, slots=True)
class Conditions:
    """What holds for all tasks of a campaign."""

    directory: Path
    #: The registered names of reference and candidate.
    frameworks: tuple[str, str] = DEFAULT_PAIR
    #: A ledger that holds for all tests, beside those that lie with them.
    ledger: Path | None = None
    #: Try on the candidate what the reference refuses. Only where the process may be lost.
    check_errors: bool = False
    #: Seconds that shrinking one finding may take.
    shrink: float = 3.0
    verify: bool = True
    #: Seconds after which a trial counts as hanging, and bytes of memory that it may take; for worker processes.
    deadline: float = 20.0
    memory: int | None = None
    #: The seconds of tests that have a deadline of their own, by their ids.
    deadlines: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def deadline_of(self, test: str) -> float:
        """Seconds after which a trial of `test` counts as hanging."""
        return self.deadlines.get(test, self.deadline)

    def of_test(self, test: str) -> Conditions:
        """What holds for the tasks of `test`."""
        return dataclasses.replace(self, deadline=self.deadline_of(test), deadlines={})


@dataclasses.dataclass(frozen=True, slots=True)
class Explore:
    """Run the trials of these indices, and stop early when `seconds` have passed."""

    where: Where
    indices: range
    seconds: float
    #: Calls that killed too many workers to be tried again, as `fatal_call` names them, or with their arguments.
    set_aside: frozenset[str] = frozenset()
    #: Calls that have killed, whose arguments are noted before they are made; or `EVERY_CALL`.
    watched: frozenset[str] = frozenset()
    #: Count what operators are given.
    counted: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Diagnose:
    """Run one trial that failed again, find out what can be known of it, and keep it in the store."""

    where: Where
    index: int
    #: Shrink, and run the reproducer in a fresh interpreter.
    thorough: bool
    #: False after shrinking has cost a worker.
    shrink: bool = True
    #: As what it was kept. A fresh interpreter may say that it is a death.
    identity: Identity | None = None


class Ran(NamedTuple):
    """Trials that a process has run, one after the other."""

    where: Where
    indices: range


@dataclasses.dataclass(frozen=True, slots=True)
class DiagnoseDeath:
    """Run the trial that a worker died in again in a process of its own, and keep what it was doing."""

    where: Where
    index: int
    identity: Identity
    message: str
    thorough: bool
    #: Make its program smaller; and run its script in a fresh interpreter.
    shrink: bool = True
    verify: bool = False
    #: How many trials before that one the candidate may still have been at work on.
    back: int = 0
    #: What the worker had run before, as far as that is known.
    before: tuple[Ran, ...] = ()


class Suspect(NamedTuple):
    """A trial that failed in a way that the ledger does not expect."""

    trial: int
    identity: Identity


@dataclasses.dataclass(slots=True)
class Explored:
    """What became of the trials of an `Explore`."""

    #: How many of the indices were tried.
    done: int = 0
    accepted: int = 0
    rejections: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Trials that ended before a call that is set aside, by that call.
    avoided: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: The line of the test at which each of these reasons was met first.
    places: dict[str, str] = dataclasses.field(default_factory=dict)
    #: Failures that the ledger expects, by its entries' keys; and mismatches that proved to be rounding.
    expected: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    cleared: int = 0
    compared: int = 0
    gradients: int = 0
    #: What the gradient gate has against accepted trials.
    forgotten: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    suspects: list[Suspect] = dataclasses.field(default_factory=list)
    #: How often each operator was called, in accepted trials.
    operators: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Plain arguments that they were given, such as ``conv2d stride=2``.
    arguments: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: What they were given, in accepted trials, where that was to be counted.
    covered: Coverage = dataclasses.field(default_factory=dict)
    #: The traceback of a body that is itself at fault; the trials after it were not tried.
    broken: str = ""
    #: Why the test skips itself, where it does; the trials after that were not tried either.
    skips: str = ""
    seconds: float = 0.0


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """A finding as it was kept."""

    key: str
    identity: Identity
    where: Where
    index: int
    #: The folder that holds it.
    place: str
    #: What a fresh interpreter said of its reproducer; "" while nobody asked one.
    verified: Verification
    #: The first line of the verdict, where one was reached.
    verdict: str
    message: str
    report: str
    #: The features without which it does not happen, in words.
    happens: str = ""
    #: Whose fault it is, as in `Finding.blame`; empty where that was not asked.
    blame: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class ExpectedDeath:
    """A death that the ledger expects, as tracing it showed: the trail alone had not told."""

    #: Of the ledger's entry.
    key: str


@dataclasses.dataclass(frozen=True, slots=True)
class Vanished:
    """A failure that did not happen when its trial was run again."""

    where: Where
    index: int


def fatal_call(operator: str, refused: bool) -> str:
    """What is set aside when it kills. A call that the reference refuses says nothing about those that it makes."""
    return f"{operator} (calls that the reference refuses)" if refused else operator


@dataclasses.dataclass(frozen=True, slots=True)
class Death:
    """A worker that did not come back from its task."""

    #: None when it says nothing about the candidate.
    symptom: Symptom | None
    #: A signal's name, an exit status, or how long it was waited for.
    how: str
    #: The line of its standard error that tells most.
    last_words: str
    #: Which trial it was in and which call of the candidate was being made; None outside of trials.
    index: int | None = None
    operator: str = ""
    stage: Stage = "forward"
    #: Who was being asked, as far as can be told from outside.
    side: Side = "candidate"
    #: Whether the reference had refused the call that the candidate was being asked for.
    refused: bool = False
    #: How many trials before that one may be the one, where several were run together.
    back: int = 0
    #: The call with what of its arguments matters, where that was noted.
    signature: str = ""
    #: What the worker had run before that trial, the last of it.
    before: tuple[Ran, ...] = ()

    @property
    def mismatch(self) -> Mismatch:
        """What ledgers are asked about, and people told, before anybody has looked into it."""
        operator = self.operator or "tensor"
        message = f"{operator}: the {self.side} {'hangs' if self.symptom == 'hang' else 'dies'} ({self.how})"
        message += f": {self.last_words}" if self.last_words else ""
        assert self.symptom is not None
        return Mismatch(operator, 0, self.symptom, self.stage, self.side, message)


Task = Explore | Diagnose | DiagnoseDeath
Result = Explored | Found | ExpectedDeath | Vanished | Death
