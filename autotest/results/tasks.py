"""The tasks that a campaign gives to workers, and their results: plain data that is sent between processes."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from autotest.base.options import DEFAULT_PAIR
from autotest.comparison import Mismatch, Side, Stage, Symptom
from autotest.results.coverage import Coverage
from autotest.results.gradient_tally import GradientTally
from autotest.results.identity import Identity
from autotest.results.verification import Verification
from autotest.results.zeros_tally import ZerosTally

#: The type of the rejection of a call that is not made any more because it kills its process.
SET_ASIDE = "set aside"
#: Wildcard for the names of all calls.
EVERY_CALL = "*"
#: Ends the names and the signatures of backward passes.
_BACKWARD = " (backward)"


class LeftOut(NamedTuple):
    """A test that cannot be explored, or a file that cannot be imported, and why."""

    name: str
    why: str


class Where(NamedTuple):
    """A test, and the base seed of its trials."""

    file: Path
    test: str
    base_seed: int


@dataclasses.dataclass(frozen=True, slots=True)
class Conditions:
    """The settings that are the same for all tasks of a campaign."""

    #: Folder in which failures are stored.
    directory: Path
    #: The registered names of reference and candidate.
    frameworks: tuple[str, str] = DEFAULT_PAIR
    #: A ledger that applies to all tests, in addition to those stored with the tests.
    ledger: Path | None = None
    #: Whether each worker process imports the frameworks itself, which takes seconds; see `Pair.needs_own_import`.
    own_import: bool = False
    #: Whether calls that the reference rejects are made on the candidate, too; only in processes that may die.
    check_errors: bool = False
    #: Seconds that shrinking one finding may take.
    shrink: float = 3.0
    #: Whether reproducers are run in a fresh interpreter.
    verify: bool = True
    #: Limits of a trial in a worker process: seconds after which it counts as hanging, and bytes of memory.
    deadline: float = 20.0
    memory: int | None = None
    #: Test id -> deadline in seconds, for tests with their own deadline.
    deadlines: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def deadline_of(self, test: str) -> float:
        """Return the seconds after which a trial of `test` counts as hanging."""
        return self.deadlines.get(test, self.deadline)

    def absolute(self) -> Conditions:
        """Return the settings with paths that do not depend on the working directory."""
        ledger = None if self.ledger is None else self.ledger.absolute()
        return dataclasses.replace(self, directory=self.directory.absolute(), ledger=ledger)

    def of_test(self, test: str) -> Conditions:
        """Return the settings for the tasks of `test`, with only its own deadline."""
        return dataclasses.replace(self, deadline=self.deadline_of(test), deadlines={})


@dataclasses.dataclass(frozen=True, slots=True)
class Explore:
    """A task: run the trials with these indices, and stop early when `seconds` have passed."""

    where: Where
    indices: range
    seconds: float
    #: Calls that killed too many workers and are not made again, as `fatal_call` names them, or with their arguments.
    set_aside: frozenset[str] = frozenset()
    #: Calls that killed a worker, whose arguments are recorded before they are made; or `EVERY_CALL`.
    watched: frozenset[str] = frozenset()
    #: Whether to count the features of the operators' inputs.
    counted: bool = False
    #: Whether to return what each trial drew.
    drawn: bool = False
    #: Whether to stop after the first trial whose body the reference refuses; it takes `drawn`.
    until_refused: bool = False
    #: Whether all tensors require grad for which the test leaves it open.
    all_require_grad: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Diagnose:
    """A task: run one failed trial again, diagnose it, and write the finding to the store."""

    where: Where
    index: int
    #: Whether to shrink, and to run the reproducer in a fresh interpreter.
    thorough: bool
    #: Whether to judge and to shrink. False after that has failed, and in the overtime of a campaign.
    shrink: bool = True
    #: Why that has failed, such as how the worker died.
    trouble: str = ""
    #: The identity under which it was stored. The reproducer may show in a fresh interpreter that it is a death.
    identity: Identity | None = None
    #: Whether all tensors required grad in the failed trial for which the test leaves it open.
    all_require_grad: bool = False


class RanTrials(NamedTuple):
    """Trials that a process ran one after the other."""

    where: Where
    indices: range


@dataclasses.dataclass(frozen=True, slots=True)
class DiagnoseDeath:
    """A task: run the trial in which a worker died again in its own process, and store the program that killed it."""

    where: Where
    index: int
    identity: Identity
    message: str
    thorough: bool
    #: Whether to shrink its program; and whether to run its script in a fresh interpreter.
    shrink: bool = True
    verify: bool = False
    #: Number of trials before `index` that the candidate may still have been working on.
    back: int = 0
    #: The trials that the worker had run before, as far as they are known.
    before: tuple[RanTrials, ...] = ()


class Suspect(NamedTuple):
    """A trial that failed in a way that the ledger does not expect."""

    trial: int
    identity: Identity


class DrawnTrial(NamedTuple):
    """What a trial drew among the features that its test leaves open, and whether the reference refused its body."""

    trial: int
    features: Mapping[Any, int]
    refused: bool


@dataclasses.dataclass(slots=True)
class Explored:
    """The result of an `Explore`."""

    #: Number of indices that were run.
    done: int = 0
    accepted: int = 0
    #: Number of accepted trials in which the plan chose that some or all tensors require no grad.
    without_gradients: int = 0
    rejections: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Trials that ended before a call that is set aside, by that call.
    avoided: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: For each of these reasons, the line of the test where it first occurred.
    places: dict[str, str] = dataclasses.field(default_factory=dict)
    #: Failures that the ledger expects, by the keys of its entries; and mismatches cleared as rounding.
    expected: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    cleared: int = 0
    compared: int = 0
    #: Complaints of the gradient gate about accepted trials.
    forgotten: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: How many trials compared gradients; it stays empty if the test says that none need be compared.
    gradient_tally: GradientTally = dataclasses.field(default_factory=GradientTally)
    #: The comparisons that zeros would have passed, if the test gives a wide tolerance.
    zeros: ZerosTally = dataclasses.field(default_factory=ZerosTally)
    suspects: list[Suspect] = dataclasses.field(default_factory=list)
    #: Number of calls of each operator in accepted trials.
    operators: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Plain arguments of these calls, such as ``conv2d stride=2``.
    arguments: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Features of the operators' inputs in accepted trials, if the task counts them.
    covered: Coverage = dataclasses.field(default_factory=dict)
    #: What each trial drew, if the task asks for it.
    drawn: list[DrawnTrial] = dataclasses.field(default_factory=list)
    #: Number of values compared in graph mode; reason -> number of trials that were left out of it, completely or in
    #: part.
    graphed: int = 0
    left_out: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: The traceback of a mistake in the test body; the trials after it were not run.
    broken: str = ""
    #: The trial that compared nothing, which is such a mistake; None if every accepted one compared something.
    vacuous: int | None = None
    #: Why the test skips itself, empty if it does not; the trials after the skip were not run.
    skips: str = ""
    #: How long the task took, and how long the set-up of the test before its trials.
    seconds: float = 0.0
    set_up: float = 0.0

    @property
    def last_refused(self) -> bool:
        """Whether the reference refused the body of the last of the trials in `drawn`."""
        return bool(self.drawn) and self.drawn[-1].refused


@dataclasses.dataclass(frozen=True, slots=True)
class FindingRecord:
    """A stored finding."""

    key: str
    identity: Identity
    where: Where
    index: int
    #: The folder in which it is stored.
    place: str
    #: Whether its reproducer showed it in a fresh interpreter.
    verified: Verification
    #: The first line of the verdict; empty if none was reached.
    verdict: str
    message: str
    report: str
    #: The features without which it does not happen, in words.
    happens: str = ""
    #: Whose fault it is, as in `Finding.blame`; empty if that was not determined.
    blame: str = ""
    #: Whether the folder contains its standalone script.
    has_script: bool = True

    @property
    def script(self) -> str:
        """The path of its standalone script, or "none"."""
        return f"{self.place}/repro.py" if self.has_script else "none"


@dataclasses.dataclass(frozen=True, slots=True)
class ExpectedDeath:
    """A death that the ledger expects; only tracing the trial showed that, not the breadcrumb file."""

    #: The key of the ledger entry.
    key: str


@dataclasses.dataclass(frozen=True, slots=True)
class Vanished:
    """A failure that did not happen when its trial was run again."""

    #: Why the trial is no evidence, if the reference did not agree with itself; else empty.
    rejection: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Undiagnosed:
    """A failure whose diagnosis raised an exception, so that nothing was stored by it."""

    #: The exception: a traceback, or its type and message.
    why: str


def fatal_call(operator: str, refused: bool, *, backward: bool = False) -> str:
    """Return the name under which a call of `operator` is set aside after it has killed its process.

    Calls that the reference rejects (`refused`) have another name, since they say nothing about calls that it accepts.
    So does a backward pass after a call of `operator`, which says nothing about the call.
    """
    name = f"{operator} (calls that the reference refuses)" if refused else operator
    return f"{name}{_BACKWARD}" if backward else name


def is_fatal_backward(name: str) -> bool:
    """Return whether `fatal_call` named a backward pass so, or its signature is `name`."""
    return name.endswith(_BACKWARD)


@dataclasses.dataclass(frozen=True, slots=True)
class Death:
    """The death of a worker during its task."""

    #: None if the death says nothing about the candidate.
    symptom: Symptom | None
    #: The name of a signal, an exit status, or the duration of the timeout.
    how: str
    #: The most informative line of the worker's standard error.
    last_words: str
    #: The index of the trial in which it died, None outside trials; and the operator that was being called.
    index: int | None = None
    operator: str = ""
    stage: Stage = "forward"
    #: The side whose call was running, as far as this can be determined from outside.
    side: Side = "candidate"
    #: Whether the reference had rejected the call that the candidate was running.
    refused: bool = False
    #: Number of trials before `index` that may have caused the death, if several were run together.
    back: int = 0
    #: The call with those of its arguments that matter, if they were recorded.
    signature: str = ""
    #: The latest trials that the worker had run before that one.
    before: tuple[RanTrials, ...] = ()

    @property
    def mismatch(self) -> Mismatch:
        """The mismatch with which ledgers are searched, and which users are shown, before the death is diagnosed."""
        operator = self.operator or "tensor"
        message = f"{operator}: the {self.side} {'hangs' if self.symptom == 'hang' else 'dies'} ({self.how})"
        message += f": {self.last_words}" if self.last_words else ""
        assert self.symptom is not None
        return Mismatch(operator, 0, self.symptom, self.stage, self.side, message)


Task = Explore | Diagnose | DiagnoseDeath
Result = Explored | FindingRecord | ExpectedDeath | Vanished | Undiagnosed | Death
