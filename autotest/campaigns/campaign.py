"""Divides time among tests, and has every distinct failure stored and then diagnosed."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Generator, Iterator

from autotest.base.errors import StoreUnwritable
from autotest.campaigns.deadly_calls import DeadlyCalls
from autotest.campaigns.diagnosis_queue import DiagnosisQueue
from autotest.campaigns.executor import Executor, Observer, SaveProgress
from autotest.campaigns.next_trials import NextTrials
from autotest.campaigns.plan import Plan
from autotest.campaigns.running_tasks import RunningTasks
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
    FindingRecord,
    Result,
    Task,
    Undiagnosed,
    Where,
    fatal_call,
)
from autotest.running.whole_test import must_graph
from autotest.sources.collection import Collection

#: Assumed seconds to diagnose one finding, until some diagnoses were measured.
DIAGNOSIS_SECONDS = 8.0
#: Assumed seconds to replace a worker.
RESTART_SECONDS = 0.5
#: After the time is over, findings are diagnosed for this share of the plan's time, but at most the second number of
#: seconds. Tasks that still run after the third number of seconds are given up.
OVERTIME, LONGEST_OVERTIME, LATEST = 0.1, 8.0, 14.0
#: Least time between two saves of the progress: in seconds, and as a multiple of the time the last save took.
RECORD_SECONDS, RECORD_SHARE = 3.0, 9.0


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
        """Continue from `progress`; `save` is called with it from time to time and whenever there is a new finding."""
        self.plan = plan
        self.progress = progress
        self._save = save
        self._next_record = 0.0
        self._resumed = progress.seconds
        self._executor = executor
        self._observer = observer
        self._running = RunningTasks()
        self._queue = DiagnosisQueue()
        self._diagnosed: list[float] = []
        self._begin = 0.0
        self._deadly = DeadlyCalls(progress, plan.deaths)
        self._trials = NextTrials(progress, plan, self._deadly, lambda: executor.slots)
        #: The results of tracing deaths, which finds call and side better than the breadcrumb file: by the identity
        #: that the file gave, another identity, or the key of a ledger entry.
        self._replaced_identities: dict[Identity, Identity | str] = {}
        for found in progress.found.values():
            self._queue.add_resumed(found)

    def run(self) -> CampaignProgress:
        """Run until the plan is finished. Ctrl-C ends the campaign early without losing any finding."""
        for _ in self.steps():
            pass
        return self.progress

    def steps(self) -> Generator[None, None, None]:
        """Run like `run`, but yield after each query of the executor, so that other campaigns can run in between."""
        self._begin = time.monotonic()
        try:
            yield from self._loop()
        except KeyboardInterrupt:
            self.progress.stopped, self.progress.interrupted = "interrupted", True
        except Exception as error:
            self.progress.stopped = f"ended by {type(error).__name__}"
            raise
        finally:  # also after an error, as of an output that nobody reads any more: --resume then repeats nothing
            self.progress.seconds = self._resumed + time.monotonic() - self._begin
            self._save_progress()

    def _loop(self) -> Iterator[None]:
        while True:
            while len(self._running) < self._capacity:
                task = self._next()
                if task is None:
                    break
                self._running.started(task, time.monotonic())
                self._executor.start(task)
            if not self._running:
                return
            for task, result in self._executor.wait(0.1):
                # Until its result is taken, a task counts as running, so that Ctrl-C in between loses no trial.
                self._take(task, result, time.monotonic() - self._running.start(task))
                self._running.ended(task)
                if isinstance(task, Explore):
                    self._trials.ended(task)
            self.progress.seconds = self._resumed + time.monotonic() - self._begin
            self.progress.workers = self._executor.slots
            self._observer.changed(self.progress)
            if time.monotonic() >= self._next_record:
                self._save_progress()
            if self._seconds_left < -LATEST:
                return  # stored findings can be diagnosed later, and running trials are saved as unfinished
            yield

    def _save_progress(self) -> None:
        begun = time.monotonic()
        try:
            self._save(self.progress, self._running.unfinished(self._queue.unstored))
            self.progress.unwritten = ""
        except StoreUnwritable as error:
            self.progress.unwritten = str(error)  # a full disk does not end the campaign
        # Saving thousands of tests takes a second, in which no worker gets a new task.
        self._next_record = time.monotonic() + max(RECORD_SECONDS, RECORD_SHARE * (time.monotonic() - begun))

    # -- what to do next --------------------------------------------------------------------------------

    def _next(self) -> Task | None:
        urgent = self._queue.next_unstored()
        if urgent is not None:
            return urgent
        diagnosing = len(self._running.diagnosing)
        if diagnosing < self._executor.diagnosis_slots and self._seconds_left > 0:
            task = self._queue.next()
            if task is not None:
                return task
        full = len(self._running.exploring) >= self._executor.slots
        if full and diagnosing >= self._executor.diagnosis_slots:
            return None
        exploring = None if full or self._must_stop_exploring else self._trials.next_task()
        if exploring is not None or self._seconds_left < -self._overtime:
            return exploring
        return self._queue.next() if self._seconds_left > 0 else self._queue.next_unshrunk()

    @property
    def _capacity(self) -> int:
        return self._executor.slots + self._executor.diagnosis_slots

    @property
    def _seconds_left(self) -> float:
        """Seconds left of the plan's time."""
        return float("inf") if self.plan.seconds is None else self.plan.seconds - (time.monotonic() - self._begin)

    @property
    def _overtime(self) -> float:
        return 0.0 if self.plan.seconds is None else min(OVERTIME * self.plan.seconds, LONGEST_OVERTIME)

    @property
    def _must_stop_exploring(self) -> bool:
        """Whether exploring must stop, so that the findings can still be diagnosed within the time."""
        if self.plan.fail_fast and self.progress.seen:
            self.progress.stopped = self.progress.stopped or "at the first finding"
            return True
        if self.plan.seconds is None:
            return False
        each = sum(self._diagnosed) / len(self._diagnosed) if self._diagnosed else DIAGNOSIS_SECONDS
        # On a busy machine, running diagnoses tell more than earlier measurements or the assumed duration.
        each = max([each, *(time.monotonic() - self._running.start(task) for task in self._running.diagnosing)])
        waiting = len(self._queue)
        needed = (waiting + len(self._running.diagnosing)) * each
        if not waiting or needed <= self._seconds_left * self._executor.diagnosis_slots:
            return self._seconds_left <= 0  # the diagnosis slots alone have enough time for all findings
        return self._seconds_left <= min(needed / self._capacity, self.plan.seconds / 2)

    # -- results ----------------------------------------------------------------------------------------

    def _take(self, task: Task, result: Result, seconds: float) -> None:
        if isinstance(result, Explored):
            assert isinstance(task, Explore)
            self._explored(task, result)
        elif isinstance(result, ExpectedDeath):
            assert not isinstance(task, Explore)
            assert task.identity is not None
            self._replace_identity(task.where, task.identity, result.key)
        elif isinstance(result, FindingRecord):
            assert not isinstance(task, Explore)
            before = task.identity
            if before is not None and result.identity != before and result.identity.symptom in DEADLY:
                self._replace_identity(task.where, before, result.identity)
            self._record_finding(result)
            self._diagnosed += [seconds] if task.thorough else []
            self._queue.add_next(task, result)
        elif isinstance(result, Death):
            self._died(task, result, seconds)
        elif isinstance(result, Undiagnosed):
            assert not isinstance(task, Explore)
            self._diagnosis_failed(task, result.why)
        elif result.rejection:
            self._rejected(task.where, result.rejection)
        elif not isinstance(task, Explore) and not task.thorough:
            self.progress.vanished.append((task.where, task.index))

    def _rejected(self, where: Where, reason: str) -> None:
        """Count a trial as rejected that was accepted before the reference disagreed with itself."""
        for test in self.progress.tests:
            if (test.where.file, test.where.test) == (where.file, where.test):  # a pinned trial has its own base seed
                test.accepted -= 1
                test.rejections[reason] += 1
                test.changed = True

    def _explored(self, task: Explore, result: Explored) -> None:
        test = self._trials.take(task, result)
        self.progress.expected += result.expected
        self.progress.cleared += result.cleared
        # With `fail_fast`, findings after the first one of a task are left to the next run, which may resume this one.
        kept = 1 if self.plan.fail_fast else len(result.suspects)
        if task.where == test.where:
            test.returned += [range(suspect.trial, suspect.trial + 1) for suspect in result.suspects[kept:]]
        for suspect in result.suspects[:kept]:
            settled = self._replaced_identities.get(suspect.identity, suspect.identity)
            if isinstance(settled, str):
                self._expected_death(task.where, settled, 1)
                continue
            self.progress.seen[settled] += 1
            if self.progress.seen[settled] == 1:
                grad = task.all_require_grad
                self._queue.add_failure(Diagnose(task.where, suspect.trial, thorough=False, all_require_grad=grad))

    def _died(self, task: Task, death: Death, seconds: float) -> None:
        """Record that a worker died in `task`."""
        self.progress.workers_lost += 1
        if not isinstance(task, Explore):
            self._diagnosis_died(task, death)
            return
        test = self._trials.test_of(task)
        test.changed = True
        if death.index is None or death.index not in task.indices or not death.symptom:
            # The worker died in the set-up, the import of the file, or the pool itself. Once is no reason to give up.
            test.mishaps += 1
            if test.mishaps > 2:
                test.broken = f"the worker died outside of any trial ({death.how}) {death.last_words}"
            self._trials.requeue(task, task.indices)
        else:
            at = task.indices.index(death.index)
            test.returned += [part for part in (task.indices[:at], task.indices[at + 1 :]) if len(part)]
            test.tried += 1
            test.died += 1
            # Starting a new worker takes seconds that other tests could have used.
            test.seconds += seconds + RESTART_SECONDS
            self._fatal(task.where, death)

    def _fatal(self, where: Where, death: Death) -> None:
        """Record a trial that killed its process as a finding, or as a death that the ledger expects."""
        assert death.index is not None
        assert death.symptom is not None
        operator = death.operator or "tensor"
        name = fatal_call(operator, death.refused, backward=death.stage == "backward")
        self._deadly.killed(where.test, name, death.signature)
        call = FatalCall(operator, death.symptom, death.stage, death.side)
        identity = death_of(call, death.how, death.last_words, self.plan.candidate)
        if death.stage == "backward":
            # Only tracing tells which operator died; until then, backwards of two tests may die of different ones.
            identity = identity._replace(shapes=where.test)
        entry = ledger.find(where.file, self.plan.candidate, common=self.plan.ledger).expects(
            where.test, death.mismatch, operator
        )
        settled = self._replaced_identities.get(identity, identity)
        if entry is not None or isinstance(settled, str):
            self._expected_death(where, entry.key if entry is not None else str(settled), 1)
            return
        self.progress.seen[settled] += 1
        if self.progress.seen[settled] == 1:
            about = where, death.index, settled, death.mismatch.message
            self._queue.add_failure(DiagnoseDeath(*about, thorough=False, back=death.back, before=death.before))

    def _replace_identity(self, where: Where, before: Identity, after: Identity | str) -> None:
        """Replace the identity that the breadcrumb file gave a death by the one from tracing, or by a ledger key."""
        self._replaced_identities[before] = after
        times = self.progress.seen.pop(before, 1)
        kept = self.progress.found.pop(before, None)
        if kept is not None:
            self._observer.renamed(kept.key, after.key if isinstance(after, Identity) else after)
        if isinstance(after, Identity):
            self.progress.seen[after] += times
        else:
            self._expected_death(where, after, times)

    def _expected_death(self, where: Where, key: str, times: int) -> None:
        test = self._trials.find(where)
        if test is not None:
            test.known_deaths[key] += times
            test.changed = True
        self.progress.expected[key] += times
        self.progress.known_deaths[key] += times

    def _diagnosis_died(self, task: Diagnose | DiagnoseDeath, death: Death) -> None:
        """Plan the next attempt after a diagnosis killed its worker."""
        shrinks = task.thorough and task.shrink
        if isinstance(task, Diagnose) and death.index == task.index and death.symptom and not shrinks:
            self._fatal(task.where, death)  # when it was run again, the failed trial killed the process
        else:
            self._diagnosis_failed(task, f"a worker process died in it ({death.how}) {death.last_words}".strip())

    def _diagnosis_failed(self, task: Diagnose | DiagnoseDeath, why: str) -> None:
        """Plan the next attempt after a diagnosis failed, and record why if its failure is not even stored."""
        if isinstance(task, Diagnose) and task.thorough and task.shrink:
            self._queue.requeue(dataclasses.replace(task, shrink=False, trouble=why))
        elif not task.thorough:
            self.progress.undiagnosed.append((task.where, task.index, why))

    def _record_finding(self, found: FindingRecord) -> None:
        first = found.identity not in self.progress.found
        self.progress.found[found.identity] = found
        self.progress.seen[found.identity] = max(1, self.progress.seen[found.identity])
        if first:
            self._observer.found(found)
            self._save_progress()


def progress_of(collected: Collection, base_seed: int, graph_mode: str = "") -> CampaignProgress:
    """Return the progress of a new campaign against a candidate with this graph mode; "" if it has none."""
    tests = [
        TestProgress(
            Where(item.file, item.id, base_seed),
            pinned=item.settings.pinned,
            graph_mode=graph_mode if must_graph(item.settings) else "",
        )
        for item in collected.tests
    ]
    tests += [TestProgress(Where(item.file, item.id, base_seed), broken=why) for item, why in collected.mistaken]
    return CampaignProgress(base_seed, tests, left_out=collected.left_out, files_broken=collected.broken)


__all__ = ["Campaign", "Plan", "progress_of"]
