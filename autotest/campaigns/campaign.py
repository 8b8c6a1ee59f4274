"""Shares out time among tests, and sees to it that every distinct failure is kept and then understood."""

from __future__ import annotations

import collections
import dataclasses
import sys
import time
from collections.abc import Generator, Iterator

from autotest.base.errors import StoreUnwritable
from autotest.campaigns.agenda import Agenda, Diagnosis
from autotest.campaigns.deadly_calls import DeadlyCalls
from autotest.campaigns.executor import Executor, Observer, SaveProgress
from autotest.campaigns.gaps import COUNTED, WINDOW, Gaps, taken
from autotest.campaigns.pinned import PinnedTrials
from autotest.campaigns.plan import Plan
from autotest.campaigns.turns import Turns
from autotest.results import ledger
from autotest.results.identity import DEADLY, FatalCall, Identity, death_of
from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.tasks import (
    Death,
    Diagnose,
    DiagnoseDeath,
    ExpectedDeath,
    Explore,
    Explored,
    Found,
    Result,
    Task,
    Where,
    fatal_call,
)
from autotest.sources.collection import Collection

#: Seconds of trials in one task: long enough to make handing it over cheap, short enough to stop soon.
TASK_SECONDS = 0.4
#: Trials in one task, at most.
TASK_TRIALS = 1000
#: Tasks that are dealt out in a second, at most: with more workers than can be served so, tasks become longer.
TASKS_A_SECOND = 400
#: Seconds that diagnosing one finding is taken to need until some were measured.
DIAGNOSIS_SECONDS = 8.0
#: Seconds that replacing a worker is taken to need.
RESTART_SECONDS = 0.5
#: When the time is over, what was found is still looked into for this part of the plan's time, and so many seconds at
#: most; what is under way after the last number of seconds is given up.
OVERTIME, LONGEST_OVERTIME, LATEST = 0.1, 8.0, 14.0
#: Between two notes of where it stands: seconds, and times that the note before took.
RECORD_SECONDS, RECORD_SHARE = 3.0, 9.0
#: A test is over when everything it did was set aside in this many trials running.
IDLE_TRIALS = 10


class Campaign:
    """One run of `autotest fuzz`."""

    def __init__(
        self,
        progress: CampaignProgress,
        plan: Plan,
        executor: Executor,
        observer: Observer,
        save: SaveProgress = lambda *_: None,
    ) -> None:
        """Go on from `progress`; `save` is called with it from time to time and whenever something was found."""
        self.plan = plan
        self.progress = progress
        self._save = save
        self._next_record = 0.0
        self._resumed = progress.seconds
        self._executor = executor
        self._observer = observer
        self._pinned = PinnedTrials(progress.tests, plan)
        self._by_where = self._pinned.by_where | {test.where: test for test in progress.tests}
        self._gaps = Gaps(progress.covered)
        self._turns = Turns(progress.tests, plan.base_seed, self._has_more)
        #: What is being carried out, and since when, by the task object's own identity: trials, and all else.
        self._exploring: dict[int, tuple[Explore, float]] = {}
        self._diagnosing: dict[int, tuple[Diagnosis, float]] = {}
        self._agenda = Agenda()
        self._diagnosed: list[float] = []
        self._begin = 0.0
        self._deadly = DeadlyCalls(progress, plan.deaths)
        #: What tracing made of deaths: another identity than their trail gave them, or an entry of the ledger.
        self._settled: dict[Identity, Identity | str] = {}
        for found in progress.found.values():
            self._agenda.resumed(found)

    def run(self) -> CampaignProgress:
        """Go on until the plan is carried out; Ctrl-C ends it early, and nothing that was found is lost."""
        for _ in self.steps():
            pass
        return self.progress

    def steps(self) -> Generator[None, None, None]:
        """The same in steps of one look at the executor each, between which others may have their turn."""
        self._begin = time.monotonic()
        try:
            yield from self._loop()
        except KeyboardInterrupt:
            self.progress.stopped, self.progress.interrupted = "interrupted", True
        except Exception as error:
            self.progress.stopped = f"ended by {type(error).__name__}"
            raise
        finally:
            self.progress.seconds = self._resumed + time.monotonic() - self._begin
        self._write_down()

    def _loop(self) -> Iterator[None]:
        while True:
            while len(self._exploring) + len(self._diagnosing) < self._capacity:
                task = self._next()
                if task is None:
                    break
                if isinstance(task, Explore):
                    self._exploring[id(task)] = task, time.monotonic()
                else:
                    self._diagnosing[id(task)] = task, time.monotonic()
                self._executor.start(task)
            if not self._exploring and not self._diagnosing:
                return
            for task, result in self._executor.wait(0.1):
                if isinstance(task, Explore):
                    _, started = self._exploring.pop(id(task))
                else:
                    _, started = self._diagnosing.pop(id(task))
                self._take(task, result, time.monotonic() - started)
                if isinstance(task, Explore):
                    self._turns.ended(self._by_where[task.where].where)
            self.progress.seconds = self._resumed + time.monotonic() - self._begin
            self.progress.workers = self._executor.slots
            self._observer.changed(self.progress)
            if time.monotonic() >= self._next_record:
                self._write_down()
            if self._left < -LATEST:
                return  # what is kept already can be looked into later, and what is explored is noted as under way
            yield

    def _write_down(self) -> None:
        begun = time.monotonic()
        waiting: dict[Where, list[range]] = collections.defaultdict(list)
        for task, _ in self._exploring.values():
            waiting[task.where].append(task.indices)
        try:
            self._save(self.progress, waiting)
            self.progress.unwritten = ""
        except StoreUnwritable as error:
            self.progress.unwritten = str(error)  # a full disk is no reason to stop looking
        # Thousands of tests take a second to write down, in which no worker gets anything to do.
        self._next_record = time.monotonic() + max(RECORD_SECONDS, RECORD_SHARE * (time.monotonic() - begun))

    # -- what to do next --------------------------------------------------------------------------------

    def _next(self) -> Task | None:
        urgent = self._agenda.at_once()
        if urgent is not None:
            return urgent
        diagnosing = len(self._diagnosing)
        if diagnosing < self._executor.diagnosis_slots and self._left > 0:
            task = self._agenda.next()
            if task is not None:
                return task
        full = len(self._exploring) >= self._executor.slots
        if full and diagnosing >= self._executor.diagnosis_slots:
            return None
        exploring = None if full or self._enough else self._explore()
        if exploring is not None or self._left < -self._overtime:
            return exploring
        return self._agenda.next() if self._left > 0 else self._agenda.in_a_hurry()

    @property
    def _capacity(self) -> int:
        return self._executor.slots + self._executor.diagnosis_slots

    @property
    def _left(self) -> float:
        """Seconds left of the plan's."""
        return float("inf") if self.plan.seconds is None else self.plan.seconds - (time.monotonic() - self._begin)

    @property
    def _overtime(self) -> float:
        return 0.0 if self.plan.seconds is None else min(OVERTIME * self.plan.seconds, LONGEST_OVERTIME)

    @property
    def _enough(self) -> bool:
        """Whether exploring is over, so that what was found can still be looked into within the time."""
        if self.plan.fail_fast and self.progress.seen:
            self.progress.stopped = self.progress.stopped or "at the first finding"
            return True
        if self.plan.seconds is None:
            return False
        each = sum(self._diagnosed) / len(self._diagnosed) if self._diagnosed else DIAGNOSIS_SECONDS
        # On a busy machine what is under way tells more than what was measured, or assumed, before.
        each = max([each, *(time.monotonic() - started for _, started in self._diagnosing.values())])
        waiting = len(self._agenda)
        needed = (waiting + len(self._diagnosing)) * each
        if not waiting or needed <= self._left * self._executor.diagnosis_slots:
            return self._left <= 0  # whoever looks into findings anyway has the time for them
        return self._left <= min(needed / self._capacity, self.plan.seconds / 2)

    def _explore(self) -> Explore | None:
        """A trial that is pinned, or else trials of the test that had least of what it is due."""
        pinned = self._pinned.next()
        if pinned is not None:
            where, indices = pinned
            self._turns.begun(self._by_where[where].where)
        else:
            chosen = self._turns.next()
            if chosen is None:
                return None
            where, indices = chosen.where, self._indices(chosen)
        aside, watched = self._deadly.set_aside(where.test), self._deadly.watched()
        return Explore(where, indices, self._length * TASK_SECONDS, aside, watched, self._counts(where))

    @property
    def _goes_for_gaps(self) -> bool:
        """Where trials are counted, all of them are run, in their order."""
        return self.plan.trials is None

    def _counts(self, where: Where) -> bool:
        return self.plan.coverage or (self._goes_for_gaps and self._by_where[where].tried < COUNTED)

    @property
    def _length(self) -> float:
        """How many times as long as usual a task is to be, so that many workers ask seldom enough."""
        return max(1.0, self._executor.slots / (TASKS_A_SECOND * TASK_SECONDS))

    def _indices(self, test: TestProgress) -> range:
        """The next trials of `test`: one that may close a gap, what an earlier task could not do, or as many new ones
        as fit into one."""
        upcoming = self._range(range(test.next, test.next + WINDOW))
        place = self._gaps.closed_by(test.where, [*test.returned, upcoming]) if self._goes_for_gaps else None
        if place is not None:
            new = max(0, place + 1 - sum(map(len, test.returned)))
            test.returned += [upcoming[:new]] if new else []
            test.next += new
            return taken(test.returned, place)
        if test.returned:
            return test.returned.pop()
        pace, length = TASK_SECONDS / 10 if test.pace is None else test.pace, self._length
        fitting = int(length * TASK_SECONDS / max(pace, 1e-6))
        count = max(1, min(int(length * TASK_TRIALS), self._remaining(test), fitting))
        test.next += count
        return self._range(range(test.next - count, test.next))

    def _range(self, positions: range) -> range:
        """The indices of the trials at these `positions` of this shard."""
        return range(self.plan.index(positions.start), self.plan.index(positions.stop), self.plan.shard[1])

    def _has_more(self, test: TestProgress) -> bool:
        return not test.over and bool(test.returned or self._remaining(test) > 0)

    def _remaining(self, test: TestProgress) -> int:
        return sys.maxsize if self.plan.trials is None else self._own(self.plan.trials) - test.next

    def _own(self, trials: int) -> int:
        """How many of the first `trials` indices are this shard's."""
        return len(range(self.plan.shard[0] - 1, trials, self.plan.shard[1]))

    # -- what came back ---------------------------------------------------------------------------------

    def _take(self, task: Task, result: Result, seconds: float) -> None:
        if isinstance(result, Explored):
            assert isinstance(task, Explore)
            self._explored(task, result)
        elif isinstance(result, ExpectedDeath):
            assert not isinstance(task, Explore)
            assert task.identity is not None
            self._settle(task.identity, result.key)
        elif isinstance(result, Found):
            assert not isinstance(task, Explore)
            before = task.identity
            if before is not None and result.identity != before and result.identity.symptom in DEADLY:
                self._settle(before, result.identity)
            self._keep(result)
            self._diagnosed += [seconds] if task.thorough else []
            self._agenda.kept(task, result)
        elif isinstance(result, Death):
            self._died(task, result, seconds)
        elif not isinstance(task, Explore) and not task.thorough:
            self.progress.vanished.append((result.where, result.index))

    def _explored(self, task: Explore, result: Explored) -> None:
        test = self._by_where[task.where]
        test.add(result)
        self._gaps.take(test, result.covered)
        test.idle = test.idle + result.done if result.done and _all_set_aside(result) else 0
        # Where trials are counted, all of them are run: which ones had run before this would depend on the workers.
        if test.idle >= IDLE_TRIALS and self.plan.trials is None:
            test.set_aside = "all it does was set aside"
        if result.done < len(task.indices) and not (result.broken or result.skips):
            test.returned.append(task.indices[result.done :])
        self.progress.expected += result.expected
        self.progress.cleared += result.cleared
        # As when it stops at the first finding, what comes after it in the same task is left to the next run.
        for suspect in result.suspects[: 1 if self.plan.fail_fast else None]:
            settled = self._settled.get(suspect.identity, suspect.identity)
            if isinstance(settled, str):
                self._expected_death(settled, 1)
                continue
            self.progress.seen[settled] += 1
            if self.progress.seen[settled] == 1:
                self._agenda.seen(Diagnose(task.where, suspect.trial, thorough=False))

    def _died(self, task: Task, death: Death, seconds: float) -> None:
        """A worker did not come back from `task`."""
        self.progress.workers_lost += 1
        test = self._by_where[task.where]
        if not isinstance(task, Explore):
            self._diagnosis_died(task, death)
        elif death.index is None or death.index not in task.indices or not death.symptom:
            # Not in a trial: its set-up, the import of its file, or the pool itself. Once is no reason to give up.
            test.mishaps += 1
            if test.mishaps > 2:
                test.broken = f"the worker died outside of any trial ({death.how}) {death.last_words}"
            elif task.where == test.where:
                test.returned.append(task.indices)
            else:
                self._pinned.again(task.where, task.indices)
        else:
            at = task.indices.index(death.index)
            test.returned += [part for part in (task.indices[:at], task.indices[at + 1 :]) if len(part)]
            test.tried += 1
            test.died += 1
            # A new worker takes seconds that others could have used.
            test.seconds += seconds + RESTART_SECONDS
            self._fatal(task.where, death)

    def _fatal(self, where: Where, death: Death) -> None:
        """A trial that kills the process is a finding."""
        assert death.index is not None
        assert death.symptom is not None
        operator = death.operator or "tensor"
        self._deadly.killed(where.test, fatal_call(operator, death.refused), death.signature)
        call = FatalCall(operator, death.symptom, death.stage, death.side)
        identity = death_of(call, death.how, death.last_words, self.plan.candidate)
        entry = ledger.find(where.file, self.plan.candidate, common=self.plan.ledger).expects(
            where.test, death.mismatch, operator
        )
        settled = self._settled.get(identity, identity)
        if entry is not None or isinstance(settled, str):
            self._expected_death(entry.key if entry is not None else str(settled), 1)
            return
        self.progress.seen[settled] += 1
        if self.progress.seen[settled] == 1:
            about = where, death.index, settled, death.mismatch.message
            self._agenda.seen(DiagnoseDeath(*about, thorough=False, back=death.back, before=death.before))

    def _settle(self, before: Identity, after: Identity | str) -> None:
        """Tracing a death tells better than its trail which call it was, and whose; that may be known already."""
        self._settled[before] = after
        times = self.progress.seen.pop(before, 1)
        kept = self.progress.found.pop(before, None)
        if kept is not None:
            self._observer.renamed(kept.key, after.key if isinstance(after, Identity) else after)
        if isinstance(after, Identity):
            self.progress.seen[after] += times
        else:
            self._expected_death(after, times)

    def _expected_death(self, key: str, times: int) -> None:
        self.progress.expected[key] += times
        self.progress.known_deaths[key] += times

    def _diagnosis_died(self, task: Diagnose | DiagnoseDeath, death: Death) -> None:
        """The finding is on disk already; what cost the worker is left out of the next attempt."""
        if isinstance(task, Diagnose) and task.thorough and task.shrink:
            self._agenda.again(dataclasses.replace(task, shrink=False))
        elif isinstance(task, Diagnose) and death.index == task.index and death.symptom:
            self._fatal(task.where, death)  # run again, the trial that had failed killed the process
        elif not task.thorough:
            self.progress.vanished.append((task.where, task.index))

    def _keep(self, found: Found) -> None:
        first = found.identity not in self.progress.found
        self.progress.found[found.identity] = found
        self.progress.seen[found.identity] = max(1, self.progress.seen[found.identity])
        if first:
            self._observer.found(found)
            self._write_down()


def progress_of(collected: Collection, base_seed: int) -> CampaignProgress:
    """Where a new campaign stands."""
    tests = [
        TestProgress(Where(item.file, item.id, base_seed), pinned=item.settings.pinned) for item in collected.tests
    ]
    return CampaignProgress(base_seed, tests, left_out=collected.left_out, files_broken=collected.broken)


def _all_set_aside(result: Explored) -> bool:
    return result.avoided.total() == result.done


__all__ = ["Campaign", "Plan", "progress_of"]
