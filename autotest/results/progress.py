"""Where a campaign stands: what its tests have come to and what was found."""

from __future__ import annotations

import collections
import dataclasses

from autotest.results.coverage import Coverage
from autotest.results.identity import Identity
from autotest.results.tasks import Explored, Found, LeftOut, Where

#: Different arguments of one test that are counted.
ARGUMENTS_KEPT = 400


@dataclasses.dataclass(slots=True)
class TestProgress:
    """How far one test has come."""

    where: Where
    #: Base seeds and indices of trials that are to be run before any other.
    pinned: tuple[tuple[int, int], ...] = ()
    #: The next trial to run, counted in this shard's own indices.
    next: int = 0
    #: Trials that were handed out and came back untried.
    returned: list[range] = dataclasses.field(default_factory=list)
    tried: int = 0
    #: Trials that killed their process, and deaths outside of any trial.
    died: int = 0
    mishaps: int = 0
    accepted: int = 0
    seconds: float = 0.0
    #: Seconds of a trial in the last task; None before the first.
    pace: float | None = None
    #: Trials one after the other in which everything was set aside.
    idle: int = 0
    rejections: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Trials that ended before a call that is set aside, by that call.
    avoided: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: The line of the test at which each of these reasons was met first, in this run.
    places: dict[str, str] = dataclasses.field(default_factory=dict)
    expected: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    operators: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    arguments: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    compared: int = 0
    #: What the gradient gate has against it, and in how many trials.
    forgotten: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Whether something happened since it was written down.
    changed: bool = True
    #: Tasks since the last one that showed something new: another failure, operator or reason of rejection.
    unrewarded: int = 0
    known: set[object] = dataclasses.field(default_factory=set)
    broken: str = ""
    #: Why no more of its trials are run.
    set_aside: str = ""
    #: Why it skips itself, where it does.
    skips: str = ""

    @property
    def rejected(self) -> int:
        """How many trials the reference refused."""
        return self.rejections.total()

    @property
    def skipped(self) -> int:
        """How many trials ended before a call that is set aside."""
        return self.avoided.total()

    @property
    def over(self) -> bool:
        return bool(self.broken or self.set_aside or self.skips)

    def add(self, result: Explored) -> None:
        """Take in what some of its trials came to."""
        self.tried += result.done
        self.pace = result.seconds / result.done if result.done else self.pace
        self.accepted += result.accepted
        self.rejections += result.rejections
        self.avoided += result.avoided
        self.places = {**result.places, **self.places}
        self.expected += result.expected
        self.operators += result.operators
        self.forgotten += result.forgotten
        for item, times in result.arguments.items():
            # Sizes and bounds can take any value; the first ones show what is drawn.
            if item in self.arguments or len(self.arguments) < ARGUMENTS_KEPT:
                self.arguments[item] += times
        self.changed = True
        self.compared += result.compared
        self.seconds += result.seconds
        self.broken = result.broken
        self.skips = self.skips or result.skips
        seen: set[object] = {suspect.identity for suspect in result.suspects}
        seen |= set(result.operators) | set(result.rejections)
        self.unrewarded = 0 if seen - self.known else self.unrewarded + 1
        self.known |= seen


TestProgress.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for a test


@dataclasses.dataclass(slots=True)
class CampaignProgress:
    """How far a campaign has come."""

    base_seed: int
    tests: list[TestProgress]
    #: Distinct findings, in the order of their discovery.
    found: dict[Identity, Found] = dataclasses.field(default_factory=dict)
    #: How many trials showed each of them, the ones that are not kept yet among them.
    seen: collections.Counter[Identity] = dataclasses.field(default_factory=collections.Counter)
    #: Where a failure was seen that did not happen again.
    vanished: list[tuple[Where, int]] = dataclasses.field(default_factory=list)
    expected: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    cleared: int = 0
    #: How many worker processes were lost, and in how many trials, by test and call.
    workers_lost: int = 0
    deaths: collections.Counter[tuple[str, str]] = dataclasses.field(default_factory=collections.Counter)
    #: With what arguments a call killed, as far as that was told, by test and call.
    fatal_arguments: dict[tuple[str, str], set[str]] = dataclasses.field(default_factory=dict)
    #: How many of them the ledger expects, by its entries' keys; `expected` counts them, too.
    known_deaths: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Tests that cannot be explored, and files that cannot be imported.
    left_out: list[LeftOut] = dataclasses.field(default_factory=list)
    files_broken: list[LeftOut] = dataclasses.field(default_factory=list)
    #: Calls that are not tried any more because they kill, for people to read.
    set_aside: set[str] = dataclasses.field(default_factory=set)
    #: What operators were given, in the trials of this run in which that was counted.
    covered: Coverage = dataclasses.field(default_factory=dict)
    seconds: float = 0.0
    #: How many workers explore at the moment.
    workers: int = 0
    #: What there is to say of the machines of a cluster, a line each.
    machines: list[str] = dataclasses.field(default_factory=list)
    #: What the same campaign came to on each group of machines, by name, where it ran on each; this is the sum then.
    groups: dict[str, CampaignProgress] = dataclasses.field(default_factory=dict)
    #: Why the history lacks what happened last, if it does.
    unwritten: str = ""
    #: Why it ended before its time, in words, if it did; and whether that was Ctrl-C.
    stopped: str = ""
    interrupted: bool = False

    @property
    def trials(self) -> int:
        return self.accepted + self.rejected + sum(test.died for test in self.tests)

    @property
    def accepted(self) -> int:
        return sum(test.accepted for test in self.tests)

    @property
    def rejected(self) -> int:
        return sum(test.rejected for test in self.tests)

    def seen_on(self, identity: Identity) -> dict[str, int]:
        """How often each group of machines showed a finding; nothing of those that did not."""
        return {name: times for name, group in self.groups.items() if (times := group.seen[identity])}

    @property
    def forgetful(self) -> list[TestProgress]:
        """The tests that compare no gradient where they could."""
        return [test for test in self.tests if test.forgotten]

    @property
    def unexplored(self) -> list[LeftOut]:
        """Tests that cannot be explored, and those that skip themselves."""
        skipping = [LeftOut(test.where.test, f"skips itself: {test.skips}") for test in self.tests if test.skips]
        return [*self.left_out, *skipping]

    @property
    def broken(self) -> list[TestProgress]:
        return [test for test in self.tests if test.broken]
