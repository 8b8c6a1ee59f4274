"""The progress of a campaign: the state of its tests, and its findings."""

from __future__ import annotations

import collections
import dataclasses

from autotest.base.settings import ATTEMPTS_PER_TRIAL, DEFAULT_TRIALS
from autotest.comparison.rejection import absences, what_is_lacking
from autotest.results.coverage import Coverage
from autotest.results.gradient_tally import GradientTally
from autotest.results.identity import Identity
from autotest.results.tasks import DrawnTrial, Explored, FindingRecord, LeftOut, Where
from autotest.results.zeros_tally import ZerosTally

#: Maximum number of different arguments that are counted for one test.
ARGUMENTS_KEPT = 400
#: After how many trials, if the reference refuses all, a test fails: as many as pytest runs of a test with the default
#: number of trials.
REFUSED = ATTEMPTS_PER_TRIAL * DEFAULT_TRIALS


@dataclasses.dataclass(slots=True)
class TestProgress:
    """The progress of one test."""

    where: Where
    #: Base seeds and indices of trials that are run before any other.
    pinned: tuple[tuple[int, int], ...] = ()
    #: The next trial to run, as an index within this shard.
    next: int = 0
    #: Trials that were given to a worker and returned without being run.
    returned: list[range] = dataclasses.field(default_factory=list)
    tried: int = 0
    #: Trials that killed their process, and deaths outside of any trial.
    died: int = 0
    mishaps: int = 0
    accepted: int = 0
    #: Accepted trials of this run in which the plan chose that some or all tensors require no grad.
    without_gradients: int = 0
    seconds: float = 0.0
    #: Seconds per trial in the last task; None before the first.
    pace: float | None = None
    #: Number of latest consecutive trials that did nothing because everything in them was set aside.
    idle: int = 0
    rejections: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Trials that ended before a call that is set aside, by that call.
    avoided: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: For each reason of a rejection or avoided trial, the line of the test where it first occurred in this run.
    places: dict[str, str] = dataclasses.field(default_factory=dict)
    expected: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Deaths that the ledger expects, by the keys of its entries; `expected` does not count them.
    known_deaths: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    operators: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    arguments: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    compared: int = 0
    #: Complaints of the gradient gate, and the number of trials of each.
    forgotten: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: The name of the candidate's graph mode, if something of the test must run in it; else empty.
    graph_mode: str = ""
    #: The same as in `Explored`, for the trials of this run.
    graphed: int = 0
    left_out: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: How many trials of this run compared gradients.
    gradient_tally: GradientTally = dataclasses.field(default_factory=GradientTally)
    #: The comparisons of this run that zeros would have passed, if the test gives a wide tolerance.
    zeros: ZerosTally = dataclasses.field(default_factory=ZerosTally)
    #: What its trials drew, if the plan asks for it.
    drawn: list[DrawnTrial] = dataclasses.field(default_factory=list)
    #: Trials that did not run because the reference refused one before them, if the plan asks for that.
    unrun: list[range] = dataclasses.field(default_factory=list)
    #: Whether the progress changed since it was last written to the history.
    changed: bool = True
    #: Number of tasks since the last one with a new failure, operator or reason of rejection.
    unrewarded: int = 0
    known: set[object] = dataclasses.field(default_factory=set)
    broken: str = ""
    #: The trial that compared nothing, because of which it is broken.
    vacuous: int | None = None
    #: Why no more of its trials are run; empty if they are.
    set_aside: str = ""
    #: Why it skips itself; empty if it does not.
    skips: str = ""

    @property
    def rejected(self) -> int:
        """The number of trials that the reference rejected."""
        return self.rejections.total() - self.absent

    @property
    def absent(self) -> int:
        """The number of trials that need what the candidate lacks. Their reasons are among the `rejections`."""
        return absences(self.rejections).total()

    @property
    def lacking(self) -> str:
        """What the candidate lacks, if nothing else came of its trials; else empty."""
        return what_is_lacking(self.accepted + self.died, self.rejections)

    @property
    def skipped(self) -> int:
        """The number of trials that ended before a call that is set aside."""
        return self.avoided.total()

    @property
    def refused(self) -> bool:
        """Whether the reference refused every trial, and so many that the test is wrong.

        Accepted trials in which some tensors require no grad do not count. A body that writes into its inputs has only
        these, and checks no gradient.
        """
        return self.rejected + self.without_gradients == self.tried >= REFUSED and not self.died

    @property
    def complaints(self) -> collections.Counter[str]:
        """Why the test compares no gradients, and the number of trials of each reason."""
        without = self.gradient_tally.refused.total() + self.gradient_tally.without
        never = self.gradient_tally.complaint if without >= DEFAULT_TRIALS else ""  # as many as pytest runs of a test
        return self.forgotten + collections.Counter({never: without} if never else {})

    @property
    def ungraphed(self) -> bool:
        """Whether nothing of the test could run in graph mode, in as many trials as pytest runs of a test."""
        return bool(self.graph_mode) and not self.graphed and self.left_out.total() >= DEFAULT_TRIALS

    @property
    def passes_zeros(self) -> str:
        """The message about a tolerance that accepts zeros, after as many trials as pytest runs of a test; else ""."""
        return self.zeros.complaint if self.accepted >= DEFAULT_TRIALS else ""

    @property
    def over(self) -> bool:
        return bool(self.broken or self.set_aside or self.skips)

    def add(self, result: Explored) -> None:
        """Add the results of some of its trials."""
        self.tried += result.done
        self.pace = (result.seconds - result.set_up) / result.done if result.done else self.pace
        self.accepted += result.accepted
        self.without_gradients += result.without_gradients
        self.rejections += result.rejections
        self.avoided += result.avoided
        self.places = {**result.places, **self.places}
        self.expected += result.expected
        self.operators += result.operators
        self.forgotten += result.forgotten
        self.gradient_tally.add(result.gradient_tally)
        self.zeros.add(result.zeros)
        self.drawn += result.drawn
        self.graphed += result.graphed
        self.left_out += result.left_out
        for item, times in result.arguments.items():
            # Sizes and bounds can have any value; the first `ARGUMENTS_KEPT` values are enough to show the range.
            if item in self.arguments or len(self.arguments) < ARGUMENTS_KEPT:
                self.arguments[item] += times
        self.changed = True
        self.compared += result.compared
        self.seconds += result.seconds
        if result.broken:  # another task of the test, which runs at the same time, may end well
            self.broken, self.vacuous = result.broken, result.vacuous
        self.skips = self.skips or result.skips
        seen: set[object] = {suspect.identity for suspect in result.suspects}
        seen |= set(result.operators) | set(result.rejections)
        self.unrewarded = 0 if seen - self.known else self.unrewarded + 1
        self.known |= seen


TestProgress.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it as a test


@dataclasses.dataclass(slots=True)
class CampaignProgress:
    """The progress of a campaign."""

    base_seed: int
    tests: list[TestProgress]
    #: Distinct findings, in the order of their discovery.
    found: dict[Identity, FindingRecord] = dataclasses.field(default_factory=dict)
    #: Number of trials that showed each failure, including failures that are not stored yet.
    seen: collections.Counter[Identity] = dataclasses.field(default_factory=collections.Counter)
    #: Test and trial index of each failure that did not happen again.
    vanished: list[tuple[Where, int]] = dataclasses.field(default_factory=list)
    #: Test and trial index of each failure that is not stored because its diagnosis failed, and why it did.
    undiagnosed: list[tuple[Where, int, str]] = dataclasses.field(default_factory=list)
    expected: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    cleared: int = 0
    #: Number of worker processes that died; and of trials in which they did, by test and call.
    workers_lost: int = 0
    deaths: collections.Counter[tuple[str, str]] = dataclasses.field(default_factory=collections.Counter)
    #: The arguments with which a call killed its process, as far as they were recorded, by test and call.
    fatal_arguments: dict[tuple[str, str], set[str]] = dataclasses.field(default_factory=dict)
    #: Number of deaths that the ledger expects, by the keys of its entries; `expected` counts them, too.
    known_deaths: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Tests that cannot be explored, and files that cannot be imported.
    left_out: list[LeftOut] = dataclasses.field(default_factory=list)
    files_broken: list[LeftOut] = dataclasses.field(default_factory=list)
    #: Descriptions of the calls that are not made any more because they kill their process.
    set_aside: set[str] = dataclasses.field(default_factory=set)
    #: Features of the operators' inputs, from those trials of this run that counted them.
    covered: Coverage = dataclasses.field(default_factory=dict)
    seconds: float = 0.0
    #: Number of workers that explore at the moment.
    workers: int = 0
    #: Messages about the machines of a cluster, one line each.
    machines: list[str] = dataclasses.field(default_factory=list)
    #: The progress on each group of machines, by name, if the campaign runs on each; this object is then their sum.
    groups: dict[str, CampaignProgress] = dataclasses.field(default_factory=dict)
    #: Why the latest progress could not be written to the history; empty if it was.
    unwritten: str = ""
    #: Why it ended early, empty if it did not; and whether the reason was Ctrl-C.
    stopped: str = ""
    interrupted: bool = False

    @property
    def trials(self) -> int:
        return self.accepted + sum(test.rejections.total() + test.died for test in self.tests)

    @property
    def accepted(self) -> int:
        return sum(test.accepted for test in self.tests)

    @property
    def rejected(self) -> int:
        return sum(test.rejected for test in self.tests)

    @property
    def absent(self) -> int:
        return sum(test.absent for test in self.tests)

    def seen_on(self, identity: Identity) -> dict[str, int]:
        """Return how often each group of machines showed a finding, without the groups that did not."""
        return {name: times for name, group in self.groups.items() if (times := group.seen[identity])}

    @property
    def forgetful(self) -> list[TestProgress]:
        """The tests with trials that compare no gradient although they could."""
        return [test for test in self.tests if test.complaints]

    @property
    def passing_zeros(self) -> list[TestProgress]:
        """The tests whose tolerance is so wide that zeros would have passed in every comparison."""
        return [test for test in self.tests if test.passes_zeros]

    @property
    def ungraphed(self) -> list[TestProgress]:
        """The tests of which nothing could run in graph mode, although they ask for it."""
        return [test for test in self.tests if test.ungraphed]

    @property
    def refused(self) -> list[TestProgress]:
        """The tests that test nothing, because the reference refuses all of their trials."""
        return [test for test in self.tests if test.refused]

    @property
    def unexplored(self) -> list[LeftOut]:
        """Tests that cannot be explored, and those that skip themselves."""
        skipping = [LeftOut(test.where.test, f"skipped: {test.skips}") for test in self.tests if test.skips]
        return [*self.left_out, *skipping]

    @property
    def broken(self) -> list[TestProgress]:
        return [test for test in self.tests if test.broken]
