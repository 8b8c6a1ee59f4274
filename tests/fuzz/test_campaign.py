"""How a campaign distributes trials and collects results, with an executor that runs no trials."""

from __future__ import annotations

import collections
import signal
from pathlib import Path

import pytest

from autotest.base.errors import StoreUnwritable
from autotest.base.settings import Settings
from autotest.campaigns import campaign
from autotest.campaigns.campaign import Campaign, Plan, progress_of
from autotest.campaigns.diagnosis_queue import DiagnosisQueue
from autotest.campaigns.executor import NullObserver
from autotest.campaigns.plan import DEATHS_ALLOWED
from autotest.report.campaign import summary
from autotest.report.campaign_troubles import mistakes
from autotest.results.combined import combined
from autotest.results.identity import Identity
from autotest.results.tasks import (
    Death,
    Diagnose,
    DiagnoseDeath,
    ExpectedDeath,
    Explore,
    Explored,
    FindingRecord,
    Suspect,
    Undiagnosed,
    Vanished,
    Where,
    fatal_call,
)
from autotest.results.verification import State, Verification
from autotest.sources.collected import Collected
from autotest.sources.collection import Collection

VALUE = Identity("relu", "value", "forward", "candidate", "not close", "ordinary")


class Pretending:
    """Answers every task with the results that the test's script prescribes for the trials."""

    def __init__(self, script, slots=2):
        self.script = script
        self.slots, self.diagnosis_slots = (slots + 1) // 2, slots // 2
        self.waiting = []
        self.tried = collections.defaultdict(list)
        self.log = []

    def start(self, task):
        self.waiting.append(task)

    def wait(self, seconds):
        task = self.waiting.pop(0)
        self.log.append(task)
        return [(task, self.answer(task))]

    def answer(self, task):
        if isinstance(task, Diagnose):
            (suspect,) = [said for said in [self.script(task.where.test, task.index)] if isinstance(said, Suspect)]
            return found(task, suspect.identity)
        if isinstance(task, DiagnoseDeath):
            return found(task, task.identity)
        result, done = Explored(), []
        for index in task.indices:
            said = self.script(task.where.test, index)
            if isinstance(said, Death) and said.operator in task.set_aside:
                result.avoided[said.operator] += 1
            elif isinstance(said, Death):
                return said
            else:
                done.append(index)
                result.accepted += 1
                result.suspects += [said] if said else []
            result.done += 1
        tried = self.tried[task.where.test]
        assert not set(tried) & set(done), "a trial was run twice"
        tried += done
        result.seconds = 0.04 * len(done)
        return result


def found(task, identity):
    verified = Verification(State.VERIFIED if task.thorough else State.UNTRIED)
    return FindingRecord("key", identity, task.where, task.index, "place", verified, "", "message", "report")


class Silent(NullObserver):
    def __init__(self):
        self.announced = []
        self.told = []

    def found(self, found):
        self.announced.append(found)

    def renamed(self, key, other):
        self.told.append((key, other))


def run(script, plan, tests=("a", "b", "c"), slots=2, progress=None):
    collected = Collection([Collected(name, Path("t.py"), Settings(), print) for name in tests])
    executor = Pretending(script, slots)
    observer = Silent()
    progress = progress or progress_of(collected, plan.base_seed)
    Campaign(progress, plan, executor, observer).run()
    return progress, executor, observer


def healthy(test, index):
    return None


def test_every_test_gets_its_trials_and_none_twice():
    progress, executor, _ = run(healthy, Plan(0, trials=50))
    assert {name: sorted(indices) for name, indices in executor.tried.items()} == {key: [*range(50)] for key in "abc"}
    assert (progress.trials, progress.accepted) == (150, 150)


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_shards_share_the_trials_without_overlap(parts):
    tried = collections.Counter()
    for part in range(1, parts + 1):
        _, executor, _ = run(healthy, Plan(0, trials=20, shard=(part, parts)))
        tried.update((name, index) for name, indices in executor.tried.items() for index in indices)
    assert tried == {(name, index): 1 for name in "abc" for index in range(20)}


def pinning(*trials, shard=(1, 1), script=None):
    """Return the pinned trials that a campaign of one test runs, and all of its findings."""
    collected = Collection([Collected("a", Path("t.py"), Settings(pinned=trials), print)])
    plan = Plan(0, trials=5, shard=shard)
    executor, progress = Pretending(script or healthy), progress_of(collected, 0)
    Campaign(progress, plan, executor, Silent()).run()
    explored = [task for task in executor.log if isinstance(task, Explore)]
    count = sum(task.where.base_seed != 0 for task in explored)
    first = [(task.where.base_seed, *task.indices) for task in explored[:count]]
    return first, progress


def test_pinned_trials_are_run_first_under_their_own_seeds_and_then_the_campaigns():
    first, progress = pinning((7, 12), (3, 40))
    assert first == [(7, 12), (3, 40)]
    assert progress.accepted == 7


def test_a_failure_of_a_pinned_trial_is_looked_into_under_its_own_seed():
    _, progress = pinning((7, 12), script=lambda test, index: Suspect(index, VALUE) if index == 12 else None)
    found = progress.found[VALUE]
    assert (found.where.base_seed, found.index) == (7, 12)


def test_shards_share_pinned_trials():
    parts = [pinning((7, 10), (8, 11), (9, 12), shard=(part, 2))[0] for part in (1, 2)]
    assert parts == [[(7, 10), (9, 12)], [(8, 11)]]


def test_a_pinned_trial_that_came_back_untried_is_run_after_all():
    outside = Death("crash", "SIGSEGV", "")
    said = iter([outside])
    first, progress = pinning((7, 12), script=lambda test, index: next(said, None) if index == 12 else None)
    assert first == [(7, 12), (7, 12)]
    assert not progress.broken


def test_a_pinned_trial_for_which_there_was_no_time_keeps_its_own_seed():
    class Busy(Pretending):
        """Returns the first task without having run any of its trials."""

        def answer(self, task):
            return Explored() if len(self.log) == 1 else super().answer(task)

    collected = Collection([Collected("a", Path("t.py"), Settings(pinned=((7, 12),)), print)])
    executor = Busy(healthy)
    Campaign(progress_of(collected, 0), Plan(0, trials=5), executor, Silent()).run()
    tried = [(task.where.base_seed, index) for task in executor.log[1:] for index in task.indices]
    assert sorted(tried) == [*((0, index) for index in range(5)), (7, 12)]


def test_a_failure_is_kept_once_then_understood_however_often_it_is_seen():
    def script(test, index):
        return Suspect(index, VALUE) if index % 3 == 2 else None

    progress, executor, observer = run(script, Plan(0, trials=30))
    assert [type(task).__name__ for task in executor.log if not isinstance(task, Explore)] == ["Diagnose"] * 2
    assert [task.thorough for task in executor.log if isinstance(task, Diagnose)] == [False, True]
    assert progress.seen[VALUE] == 30
    assert len(observer.announced) == 1
    assert progress.found[VALUE].verified.holds


def test_what_differs_in_any_part_of_its_identity_is_another_finding():
    others = [VALUE, *(VALUE._replace(**{name: "other"}) for name in Identity._fields)]
    progress, _, _ = run(lambda test, index: Suspect(index, others[index % len(others)]), Plan(0, trials=30))
    assert set(progress.found) == set(others)


def test_a_death_costs_one_trial_and_the_others_of_its_task_are_run_after_all():
    death = Death("crash", "SIGABRT", "Check failed", 7, "relu", "forward")
    progress, executor, _ = run(lambda test, index: death if (test, index) == ("a", 7) else None, Plan(0, trials=30))
    assert sorted(executor.tried["a"]) == [index for index in range(30) if index != 7]
    assert sorted(executor.tried["b"]) == [*range(30)]
    (identity,) = progress.found
    assert (identity.operator, identity.symptom, identity.message) == ("relu", "crash", "SIGABRT")
    assert (progress.trials, progress.workers_lost) == (90, 1)


def test_an_operator_that_keeps_killing_is_set_aside_and_other_tests_go_on():
    def script(test, index):
        return Death("crash", "SIGSEGV", "", index, "relu", "forward") if test == "a" else None

    progress, executor, _ = run(script, Plan(0, trials=30), slots=1)
    assert progress.workers_lost == DEATHS_ALLOWED
    assert progress.set_aside == {"relu in a"}
    assert executor.tried["a"] == []
    assert sorted(executor.tried["b"]) == sorted(executor.tried["c"]) == [*range(30)]


def test_an_operator_that_kills_in_two_tests_and_never_returns_is_set_aside_everywhere():
    def script(test, index):
        return Death("crash", "SIGSEGV", "", index, "relu", "forward")

    progress, _, _ = run(script, Plan(0, trials=30), tests="abcdefgh", slots=1)
    assert "relu" in progress.set_aside
    assert progress.workers_lost < DEATHS_ALLOWED * 8


def test_an_operator_that_also_returns_is_set_aside_only_where_it_kills():
    class Calling(Pretending):
        def answer(self, task):
            result = super().answer(task)
            if isinstance(result, Explored):
                result.operators["relu"] += result.accepted
            return result

    def script(test, index):
        return Death("crash", "SIGSEGV", "", index, "relu", "forward") if test in "ab" else None

    collected = Collection([Collected(name, Path("t.py"), Settings(), print) for name in "cab"])
    progress = progress_of(collected, 0)
    executor = Calling(script, 1)
    Campaign(progress, Plan(0, trials=30), executor, Silent()).run()
    assert progress.set_aside == {"relu in a", "relu in b"}
    assert sorted(executor.tried["c"]) == [*range(30)]


def test_calls_that_the_reference_refuses_are_set_aside_apart_from_those_it_makes():
    asked = []

    class Asking(Pretending):
        def start(self, task):
            if isinstance(task, Explore):
                asked.append(task.set_aside)
            super().start(task)

        def answer(self, task):
            if isinstance(task, Explore) and not task.set_aside:
                return Death("crash", "SIGABRT", "", task.indices[0], "gather", "forward", refused=True)
            return super().answer(task)

    progress = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0)
    Campaign(progress, Plan(0, trials=30), Asking(healthy, 1), Silent()).run()
    assert asked[-1] == {fatal_call("gather", refused=True)}
    assert "gather" not in asked[-1]
    assert progress.workers_lost == DEATHS_ALLOWED


def test_a_death_that_tracing_lays_to_another_call_is_found_and_counted_as_that_one():
    actual = Identity("matmul", "crash", "forward", "candidate", "SIGABRT", "")

    class Tracing(Pretending):
        def answer(self, task):
            thorough = isinstance(task, DiagnoseDeath) and task.thorough
            return found(task, actual) if thorough else super().answer(task)

    def script(test, index):
        return Death("crash", "SIGABRT", "", index, "sum", "forward", "reference") if index in (3, 20) else None

    progress = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0)
    observer = Silent()
    Campaign(progress, Plan(0, trials=30), Tracing(script, 1), observer).run()
    assert progress.found.keys() == progress.seen.keys() == {actual}
    assert observer.told == [("key", actual.key)], "what was announced is not just gone"
    assert progress.seen[actual] == 2


def test_a_death_that_tracing_shows_to_be_known_is_expected_and_no_finding():
    class Tracing(Pretending):
        def answer(self, task):
            thorough = isinstance(task, DiagnoseDeath) and task.thorough
            return ExpectedDeath("entry") if thorough else super().answer(task)

    def script(test, index):
        return Death("crash", "SIGABRT", "", index, "sum", "forward") if index in (3, 20) else None

    progress = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0)
    observer = Silent()
    Campaign(progress, Plan(0, trials=30), Tracing(script, 1), observer).run()
    assert observer.told == [("key", "entry")]
    assert not progress.found
    assert not progress.seen
    assert progress.expected == progress.known_deaths == {"entry": 2}
    assert sum((test.known_deaths for test in progress.tests), collections.Counter()) == {"entry": 2}, "is not saved"


def test_a_worker_that_dies_outside_of_trials_is_tried_again_and_then_blamed_on_the_test():
    nowhere = Death("crash", "status 1", "no module")
    progress, executor, _ = run(lambda test, index: nowhere if test == "b" else None, Plan(0, trials=5))
    assert [test.where.test for test in progress.broken] == ["b"]
    assert "outside of any trial" in progress.broken[0].broken
    assert executor.tried["a"] == [*range(5)]
    assert not progress.found


def test_fail_fast_stops_exploring_but_keeps_and_understands_what_was_found():
    progress, _, _ = run(lambda test, index: Suspect(index, VALUE), Plan(0, trials=1000, fail_fast=True), slots=1)
    assert progress.stopped == "at the first finding"
    assert progress.trials < 100
    assert progress.found[VALUE].verified.holds


def test_what_fail_fast_leaves_to_the_next_run_is_still_to_be_run_if_that_resumes_it():
    progress, executor, _ = run(lambda test, index: Suspect(index, VALUE), Plan(0, trials=9, fail_fast=True), "a", 1)
    (test,) = progress.tests
    assert [index for part in test.returned for index in part] == executor.tried["a"][1:]


def test_ctrl_c_ends_it_with_what_is_known():
    def script(test, index):
        if index == 20:
            raise KeyboardInterrupt
        return Suspect(index, VALUE) if index == 0 else None

    progress, _, _ = run(script, Plan(0, trials=1000), slots=1)
    assert progress.stopped == "interrupted"
    assert VALUE in progress.found


@pytest.mark.parametrize("failure", [Suspect(3, VALUE), Death("crash", "SIGSEGV", "", 3, "relu", "forward")])
def test_a_trial_whose_failure_is_not_stored_yet_when_it_is_interrupted_is_still_to_be_run(failure):
    class Interrupted(Pretending):
        def answer(self, task):
            if not isinstance(task, Explore):
                raise KeyboardInterrupt
            return super().answer(task)

    saved = []

    def save(progress, waiting):
        (test,) = progress.tests
        parts = (*test.returned, *waiting.get(test.where, ()))
        saved[:] = [index for part in parts for index in part]

    progress = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0)
    executor = Interrupted(lambda test, index: failure if index == 3 else None, 1)
    Campaign(progress, Plan(0, trials=6), executor, Silent(), save).run()
    assert progress.interrupted
    assert 3 in saved


def test_results_that_are_being_taken_when_it_is_interrupted_are_still_to_be_computed(monkeypatch):
    saved = []
    progress = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0)
    campaign_of_one = Campaign(
        progress, Plan(0, trials=6), Pretending(healthy, 1), Silent(), lambda _, waiting: saved.append(dict(waiting))
    )
    monkeypatch.setattr(campaign_of_one, "_take", lambda *_: signal.raise_signal(signal.SIGINT))
    campaign_of_one.run()
    ((indices,),) = saved[-1].values()
    assert indices[0] == 0


def test_trials_of_a_broken_test_wait_for_its_repair():
    class Breaking(Pretending):
        """Runs one trial of each task, and then meets a mistake in the test."""

        def answer(self, task):
            return Explored(done=1, accepted=1, broken="NameError")

    progress = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0)
    progress.tests[0].pace = 0.001
    Campaign(progress, Plan(0, trials=6), Breaking(healthy, 1), Silent()).run()
    (test,) = progress.tests
    assert (test.broken, test.returned) == ("NameError", [range(1, 6)])


def test_a_test_stays_broken_when_another_of_its_tasks_ends_well():
    (test,) = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0).tests
    test.add(Explored(broken="NameError"))
    test.add(Explored(done=3, accepted=3))
    assert test.broken == "NameError"


def test_a_diagnosis_of_a_resumed_finding_may_die_although_its_test_is_not_selected_any_more():
    class Dying(Pretending):
        def answer(self, task):
            return Death("crash", "SIGSEGV", "") if isinstance(task, Diagnose) else super().answer(task)

    progress = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0)
    elsewhere = Diagnose(Where(Path("t.py"), "b", 0), 3, thorough=False)
    progress.found[VALUE] = found(elsewhere, VALUE)
    Campaign(progress, Plan(0, trials=6), Dying(healthy), Silent()).run()
    assert progress.trials == 6


def test_a_failure_that_does_not_happen_again_is_said_and_is_no_finding():
    class Forgetful(Pretending):
        def answer(self, task):
            return Vanished() if isinstance(task, Diagnose) else super().answer(task)

    collected = Collection([Collected("a", Path("t.py"), Settings(), print)])
    progress = progress_of(collected, 0)
    script = Forgetful(lambda test, index: Suspect(index, VALUE) if index == 3 else None)
    Campaign(progress, Plan(0, trials=10), script, Silent()).run()
    assert not progress.found
    assert [(where.test, index) for where, index in progress.vanished] == [("a", 3)]


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (Undiagnosed("OSError: the disk is full"), "OSError: the disk is full"),
        (Death("hang", "no answer in 20 s", ""), "a worker process died in it (no answer in 20 s)"),
    ],
    ids=["raises", "kills its worker"],
)
def test_a_failure_whose_diagnosis_fails_is_told_with_the_reason_and_does_not_pass(result, why):
    class Failing(Pretending):
        def answer(self, task):
            return result if isinstance(task, Diagnose) else super().answer(task)

    progress = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0)
    script = Failing(lambda test, index: Suspect(index, VALUE) if index == 3 else None)
    Campaign(progress, Plan(0, trials=10), script, Silent()).run()
    assert not progress.found
    assert not progress.vanished
    assert [(where.test, index, said) for where, index, said in progress.undiagnosed] == [("a", 3, why)]
    assert why in summary(progress)
    assert mistakes(progress) == ["the diagnosis of 1 failure failed"]
    assert combined({"one": progress, "other": progress}).undiagnosed == 2 * progress.undiagnosed


@pytest.mark.parametrize("failing", [3, 12])  # an ordinary trial, and the pinned one
def test_a_failure_in_which_the_reference_disagrees_with_itself_when_it_is_run_again_counts_as_rejected(failing):
    class Varying(Pretending):
        def answer(self, task):
            if isinstance(task, Diagnose):
                return Vanished("relu: NotRepeatable: torch gives a different result")
            return super().answer(task)

    collected = Collection([Collected("a", Path("t.py"), Settings(pinned=((7, 12),)), print)])
    progress, accepted = progress_of(collected, 0), progress_of(collected, 0)
    Campaign(accepted, Plan(0, trials=10), Pretending(lambda test, index: None), Silent()).run()
    script = Varying(lambda test, index: Suspect(index, VALUE) if index == failing else None)
    Campaign(progress, Plan(0, trials=10), script, Silent()).run()
    assert not progress.found
    assert not progress.vanished
    assert progress.tests[0].rejections == {"relu: NotRepeatable: torch gives a different result": 1}
    assert progress.tests[0].accepted == accepted.tests[0].accepted - 1


def test_a_failure_that_kills_when_it_is_run_again_is_found_as_a_death():
    class Dying(Pretending):
        def answer(self, task):
            if isinstance(task, Diagnose):
                return Death("crash", "SIGSEGV", "", task.index, "relu", "forward")
            return super().answer(task)

    progress = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0)
    executor = Dying(lambda test, index: Suspect(index, VALUE) if index == 3 else None, 1)
    Campaign(progress, Plan(0, trials=10), executor, Silent()).run()
    assert not progress.vanished
    ((identity, kept),) = progress.found.items()
    assert (identity.operator, identity.symptom, kept.index) == ("relu", "crash", 3)


def test_a_death_among_trials_that_were_run_together_may_be_any_of_theirs():
    def script(test, index):
        return Death("crash", "SIGABRT", "", index, "nn.Graph", "replay", back=4) if index == 6 else None

    _, executor, _ = run(script, Plan(0, trials=10), tests="a", slots=1)
    looked = [task for task in executor.log if isinstance(task, DiagnoseDeath)]
    assert [(task.index, task.back) for task in looked] == [(6, 4)] * 3


DIED = Identity("relu", "crash", "forward", "candidate", "SIGABRT", "")


@pytest.mark.parametrize("known", [False, True])
def test_what_turns_out_to_be_a_death_is_one_finding_and_not_looked_into_again(known):
    class Elsewhere(Pretending):
        def answer(self, task):
            if isinstance(task, Diagnose) and task.thorough:
                assert task.identity == VALUE
                return ExpectedDeath("known") if known else found(task, DIED)
            return super().answer(task)

    progress = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0)
    executor = Elsewhere(lambda test, index: Suspect(index, VALUE))
    Campaign(progress, Plan(0, trials=500), executor, Silent()).run()
    assert [*progress.found] == [*progress.seen] == ([] if known else [DIED])
    assert (progress.expected["known"] if known else progress.seen[DIED]) > 100
    assert sum(isinstance(task, Diagnose) for task in executor.log) == 2


def test_shrinking_that_costs_a_worker_is_left_out_the_second_time():
    class Fragile(Pretending):
        def answer(self, task):
            if isinstance(task, Diagnose) and task.thorough and task.shrink:
                return Death("crash", "SIGSEGV", "")
            return super().answer(task)

    collected = Collection([Collected("a", Path("t.py"), Settings(), print)])
    progress, fragile = progress_of(collected, 0), Fragile(lambda test, index: Suspect(index, VALUE))
    Campaign(progress, Plan(0, trials=10), fragile, Silent()).run()
    assert progress.found[VALUE].verified.holds
    troubles = [task.trouble for task in fragile.log if isinstance(task, Diagnose)]
    assert troubles == ["", "", "a worker process died in it (SIGSEGV)"]


def test_a_test_that_still_finds_something_gets_more_time_and_no_test_gets_none():
    def script(test, index):
        return Suspect(index, VALUE._replace(message=str(index))) if test == "a" and index % 5 == 0 else None

    _, executor, _ = run(script, Plan(0, trials=300), slots=1)
    first = [task.where.test for task in executor.log if isinstance(task, Explore)][:40]
    assert set(first) == set("abc")
    assert first.count("a") > first.count("b")


class Clock:
    """A clock that advances by the time that tasks are declared to take."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


@pytest.mark.parametrize(("seconds", "understood"), [(30.0, 1), (100.0, 2), (1000.0, 2)])
def test_what_was_found_is_looked_into_for_a_while_when_the_time_is_over(monkeypatch, seconds, understood):
    clock = Clock()
    monkeypatch.setattr(campaign, "time", clock)

    class Slow(Pretending):
        def wait(self, seconds):
            task = self.waiting[0]
            thorough = not isinstance(task, Explore) and task.thorough
            clock.now += 5.0 if thorough else self.exploring
            return super().wait(seconds)

    # All trials are one task, which takes nearly all of the time and has ten findings.
    others = [VALUE._replace(message=str(number)) for number in range(10)]
    progress = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0)
    executor = Slow(lambda test, index: Suspect(index, others[index]), 1)
    executor.exploring = (seconds - 1.0) / 11
    Campaign(progress, Plan(0, seconds=seconds, trials=10), executor, Silent()).run()
    assert sum(found.verified.holds for found in progress.found.values()) == understood
    late = [task for task in executor.log if isinstance(task, Diagnose) and task.thorough and not task.shrink]
    assert len(late) == understood - 1


def test_the_time_is_explored_to_its_end_while_what_was_found_has_somebody_to_look_into_it(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(campaign, "time", clock)

    class SideBySide(Pretending):
        """Exploring takes a second, and the diagnosis of a finding forty."""

        def __init__(self):
            super().__init__(lambda test, index: Suspect(index, VALUE) if index == 0 else None)
            self.ends = {}

        def start(self, task):
            super().start(task)
            thorough = not isinstance(task, Explore) and task.thorough
            self.ends[id(task)] = clock.now + (40.0 if thorough else 1.0)

        def wait(self, seconds):
            clock.now += 1.0
            ended = [task for task in self.waiting if self.ends[id(task)] <= clock.now]
            self.waiting = [task for task in self.waiting if self.ends[id(task)] > clock.now]
            return [(task, self.answer(task)) for task in ended]

    executor, explored = SideBySide(), []
    executor.start = lambda task: (SideBySide.start(executor, task), explored.append((clock.now, type(task))))
    progress = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0)
    Campaign(progress, Plan(0, seconds=60.0), executor, Silent()).run()
    assert progress.found[VALUE].verified.holds
    assert [moment for moment, kind in explored if kind is Explore] == [float(second) for second in range(60)]


def test_what_ends_a_campaign_by_mistake_is_noted_and_raised():
    class Failing(Pretending):
        def wait(self, seconds):
            if len(self.log) > 3:
                raise RuntimeError("a mistake of the tool")
            return super().wait(seconds)

    progress = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0)
    with pytest.raises(RuntimeError, match="a mistake"):
        Campaign(progress, Plan(0, trials=1000), Failing(healthy, 1), Silent()).run()
    assert progress.stopped == "ended by RuntimeError"
    assert progress.trials > 0


def test_a_death_gets_a_script_before_others_are_made_smaller():
    identities = [VALUE._replace(symptom="crash", message=str(number)) for number in range(3)]
    tasks = [DiagnoseDeath(Where(Path("t.py"), "a", 0), 1, identity, "", thorough=False) for identity in identities]
    queue = DiagnosisQueue()
    for task in tasks:
        queue.add_failure(task)
    done = []
    while (task := queue.next_unstored() or queue.next()) is not None:
        done.append((identities.index(task.identity), task.thorough, task.shrink if task.thorough else False))
        queue.add_next(task, found(task, task.identity))
    assert [step[1:] for step in done] == [(False, False)] * 3 + [(True, False)] * 3 + [(True, True)] * 3
    assert [step[0] for step in done] == [0, 1, 2] * 3
    assert not queue


def test_a_hang_is_looked_into_before_other_deaths_since_that_takes_long():
    queue = DiagnosisQueue()
    for operator, symptom in (("sinh", "crash"), ("cosh", "crash"), ("atan", "hang")):
        identity = Identity(operator, symptom, "forward", "candidate", "", "")
        task = DiagnoseDeath(Where(Path("t.py"), operator, 0), 1, identity, "", thorough=False)
        queue.add_next(task, found(task, identity))
    assert [queue.next().identity.operator for _ in range(3)] == ["atan", "sinh", "cosh"]


def test_a_resumed_finding_of_special_values_is_no_death():
    queue = DiagnosisQueue()
    for symptom in ("special values", "crash"):
        identity = Identity("log", symptom, "forward", "candidate", "", "")
        task = DiagnoseDeath(Where(Path("t.py"), "a", 0), 1, identity, "", thorough=False)
        queue.add_resumed(found(task, identity))
    assert [type(queue.next()) for _ in range(2)] == [Diagnose, DiagnoseDeath]


def test_a_history_that_cannot_be_written_any_more_is_told_and_ends_nothing():
    def record(progress, waiting):
        raise StoreUnwritable("the disk is full")

    progress = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0)
    Campaign(progress, Plan(0, trials=30), Pretending(healthy), Silent(), record).run()
    assert progress.accepted == 30
    assert "the disk is full" in summary(progress)


def test_the_first_tests_to_be_tried_are_not_those_of_the_first_file():
    names = [f"{letter}{number:02}" for letter in "abc" for number in range(20)]
    _, executor, _ = run(healthy, Plan(5, trials=20), tests=names, slots=1)
    first = [task.where.test for task in executor.log][:20]
    assert {name[0] for name in first} == set("abc")
    _, again, _ = run(healthy, Plan(5, trials=20), tests=names, slots=1)
    assert [task.where.test for task in again.log][:20] == first


def test_what_keeps_killing_is_set_aside_with_the_arguments_that_matter_and_goes_on_with_others():
    class Knowing(Pretending):
        """Every third trial gives the operator an empty tensor, which kills the process."""

        def answer(self, task):
            if not isinstance(task, Explore):
                return super().answer(task)
            deadly = "relu(float32 empty)"
            result = Explored()
            for index in task.indices:
                if index % 3 == 2 and deadly not in task.set_aside:
                    told = deadly if "relu" in task.watched else ""
                    return Death("crash", "SIGSEGV", "", index, "relu", "forward", signature=told)
                result.done += 1
                if index % 3 == 2:
                    result.avoided["relu"] += 1
                else:
                    result.accepted += 1
            return result

    progress = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0)
    Campaign(progress, Plan(0, trials=60), Knowing(healthy, 1), Silent()).run()
    assert progress.workers_lost == 2, "the first shows which call kills, the second with what"
    assert progress.set_aside == {"relu(float32 empty) in a"}
    assert progress.accepted == 40


def test_a_backward_that_kills_is_set_aside_only_in_its_tests_and_not_the_operator_before_it():
    class Knowing(Pretending):
        """In two tests, the backward after `sum` kills; all tests call `sum` with the same arguments."""

        def answer(self, task):
            if not isinstance(task, Explore) or task.where.test == "c":
                return super().answer(task)
            if not task.set_aside & {"sum (backward)", "sum(float32 2-d) (backward)"}:
                told = "sum(float32 2-d) (backward)" if "sum (backward)" in task.watched else ""
                return Death("crash", "SIGSEGV", "", task.indices[0], "sum", "backward", signature=told)
            return Explored(done=len(task.indices), avoided=collections.Counter({"sum (backward)": len(task.indices)}))

    progress = progress_of(Collection([Collected(name, Path("t.py"), Settings(), print) for name in "abc"]), 0)
    executor = Knowing(healthy, 1)
    Campaign(progress, Plan(0, trials=30), executor, Silent()).run()
    assert {name.partition(" in ")[2] for name in progress.set_aside} == {"a", "b"}
    assert not set().union(*(task.set_aside for task in executor.log if task.where.test == "c"))
    assert sorted(executor.tried["c"]) == [*range(30)]


def test_deaths_in_the_backwards_of_two_tests_are_traced_each_since_different_operators_may_kill():
    class Tracing(Pretending):
        def answer(self, task):
            thorough = isinstance(task, DiagnoseDeath) and task.thorough
            killed = Identity(
                {"a": "cos", "b": "sin"}[task.where.test], "crash", "backward", "candidate", "SIGABRT", ""
            )
            return found(task, killed) if thorough else super().answer(task)

    def script(test, index):
        return Death("crash", "SIGABRT", "", index, "sum", "backward") if index == 3 else None

    progress = progress_of(Collection([Collected(name, Path("t.py"), Settings(), print) for name in "ab"]), 0)
    Campaign(progress, Plan(0, trials=30), Tracing(script, 1), Silent()).run()
    assert sorted(identity.operator for identity in progress.found) == ["cos", "sin"]
