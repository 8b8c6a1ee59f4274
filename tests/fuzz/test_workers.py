"""The workers of a campaign: their working folder and their time limits."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import tempfile
import types

import pytest

from autotest.base.errors import AutotestError
from autotest.base.temporary_folders import remove_old
from autotest.campaigns import workers as workers_module
from autotest.campaigns.worker_breadcrumbs import breadcrumb_at
from autotest.campaigns.workers import (
    _LOST,
    _LOST_AT_START,
    _LOST_WITH_TASK,
    _STALE,
    _UNREADY,
    DIAGNOSIS,
    Workers,
    _append_trials,
    _Worker,
)
from autotest.processes.breadcrumb import Breadcrumb
from autotest.processes.client import Server, ServerLost
from autotest.processes.endings import death_from_status
from autotest.results.identity import Identity
from autotest.results.tasks import Conditions, Death, DiagnoseDeath, Explore, RanTrials, Where


@pytest.mark.slow
@pytest.mark.usefixtures("importable_elsewhere")
@pytest.mark.parametrize("times", [_LOST_AT_START - 1, math.inf])
def test_workers_start_although_their_server_is_killed_meanwhile_but_not_for_ever(tmp_path, monkeypatch, times):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    killed = []
    plain = Server._run

    def run(server, theirs):
        started: subprocess.Popen[bytes] = plain(server, theirs)
        if len(killed) < times:
            os.kill(started.pid, signal.SIGKILL)
            killed.append(started.pid)
        return started

    monkeypatch.setattr(Server, "_run", run)
    workers = Workers(Conditions(tmp_path / "kept", ("torch", "torch")), 1)
    try:
        if times < _LOST_AT_START:
            workers.prepare()
            assert workers._workers[0].ready
        else:
            with pytest.raises(AutotestError, match="worker processes do not start: "):
                workers.prepare()
    finally:
        workers.close()
    # A server may have ended before a request; then another one is started at once.
    assert len(killed) >= min(times, _LOST_AT_START)


class _AlwaysGone(Server):
    """A server that has ended before each request."""

    def _requested(self):
        raise BrokenPipeError


def test_a_server_that_is_gone_before_it_is_asked_is_lost(tmp_path, monkeypatch):
    server = _AlwaysGone()
    monkeypatch.setattr(server, "start", lambda: None)
    with pytest.raises(ServerLost, match="the process server ended"):
        server.process(print)
    pool = Workers(Conditions(tmp_path), 1, server)
    with pytest.raises(AutotestError, match=f"the process server ended {_LOST} times"):
        pool.start(Explore(Where(tmp_path / "test_relu.py", "test_relu", 0), range(1), 0.1))


def test_a_death_is_told_although_the_server_ends_before_another_worker_is_asked_for(tmp_path, monkeypatch):
    server = _AlwaysGone()
    monkeypatch.setattr(server, "start", lambda: None)
    pool = Workers(Conditions(tmp_path), 1, server)
    worker = pool._workers[0] = _Worker(types.SimpleNamespace(close=lambda: None), tmp_path / "log")
    worker.task = Explore(Where(tmp_path / "test_relu.py", "test_relu", 0), range(1), 0.1)
    assert pool._replace_dead_worker(0, death_from_status(-signal.SIGSEGV)).how == "SIGSEGV"
    assert pool._workers == {}


def test_what_a_killed_campaign_left_is_removed_in_the_end_and_nothing_of_others(tmp_path):
    for name, age in (("campaign-1", 2 * _STALE), ("campaign-2", 0), ("7.trail", 2 * _STALE)):
        place = tmp_path / name
        place.mkdir() if name.startswith("campaign") else place.write_bytes(b"")
        at = place.stat().st_mtime - age
        os.utime(place, (at, at))
    remove_old(tmp_path.glob("campaign-*"), _STALE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["7.trail", "campaign-2"]


def test_a_campaign_that_has_its_files_in_the_temporary_folder_removes_nothing_of_the_users_there(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    users = tmp_path / "campaign-of-a-user"
    users.mkdir()
    os.utime(users, (0, 0))
    (tmp_path / "no folder").touch()
    server = _AlwaysGone()
    monkeypatch.setattr(server, "start", lambda: None)
    pool = Workers(Conditions(tmp_path / "no folder"), 1, server)
    with pytest.raises(AutotestError, match="worker processes do not start"):
        pool.prepare()
    pool.close()
    assert users.exists()


def test_workers_start_with_their_files_elsewhere_if_the_store_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "kept").write_text("a file where the store's folder should be")
    pool = Workers(Conditions(tmp_path / "kept", ("torch", "torch")), 1)
    monkeypatch.setattr(pool, "_first_ready", lambda: _Worker(Silent(), tmp_path / "log", ready=True))
    pool.prepare()
    crumb = breadcrumb_at(pool._crumb_path(0))
    assert crumb is not None
    assert [path.name for path in tmp_path.glob("*/*")] == ["0.crumb"]
    pool.close()
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


class Silent:
    """A process that sends no messages."""

    close = staticmethod(lambda: None)

    class connection:
        send = staticmethod(lambda message: None)


@pytest.mark.parametrize(("in_turn", "slots"), [(False, [2, 3, 2, 2]), (True, [2, 2, 2, 2])])
def test_another_worker_goes_on_while_one_seems_to_hang(tmp_path, monkeypatch, in_turn, slots):
    now = [1000.0]
    monkeypatch.setattr(workers_module, "time", types.SimpleNamespace(monotonic=lambda: now[0]))
    pool = Workers(Conditions(tmp_path / "kept", ("torch", "torch")), 2, in_turn=in_turn)
    for slot in range(2):
        pool._workers[slot] = _Worker(Silent(), tmp_path / "log", ready=True)
    seen = [pool.slots]
    pool.start(Explore(Where(tmp_path / "t.py", "t", 0), range(5), 0.4))
    now[0] += 5.0
    seen.append(pool.slots)
    pool._longest = 30.0  # short enough for this test
    seen.append(pool.slots)
    pool._workers[0].task = None
    pool.start(DiagnoseDeath(Where(tmp_path / "t.py", "t", 0), 1, Identity(*"abcdef"), "", thorough=True))
    now[0] += 500.0
    seen.append(pool.slots)
    assert seen == slots


@pytest.fixture
def losing(tmp_path, monkeypatch):
    """Return a pool whose workers never send messages, and the list of their tasks."""
    pool = Workers(Conditions(tmp_path / "kept", ("torch", "torch")), 2)
    monkeypatch.setattr(pool, "_new", lambda: _Worker(Silent(), tmp_path / "log"))
    tasks = [Explore(Where(tmp_path / "t.py", name, 0), range(5), 0.4) for name in "abcd"]
    for task in tasks:
        pool.start(task)
    return pool, tasks


def lose(pool, *, after_a_start=True):
    if after_a_start:
        pool._has_started(pool._workers[0], "")
    return list(pool._restart_all(ServerLost("killed")))


def test_what_was_being_done_is_done_again_when_the_server_is_lost_however_much_that_was(losing):
    pool, tasks = losing
    assert lose(pool) == []
    assert [worker.task for worker in pool._workers.values()] == tasks


def test_a_campaign_goes_on_however_often_its_server_is_lost_if_its_workers_start_in_between(losing):
    pool, _ = losing
    for _ in range(2 * _LOST):
        pool._lost_with.clear()  # tasks differ each time
        lose(pool)


def test_a_campaign_ends_whose_servers_are_lost_before_any_worker_starts(losing):
    pool, _ = losing
    for _ in range(_LOST - 1):
        pool._lost_with.clear()
        lose(pool, after_a_start=False)
    with pytest.raises(AutotestError, match=f"the process server ended {_LOST} times"):
        lose(pool, after_a_start=False)


def test_a_task_that_many_servers_are_lost_with_is_given_up(losing):
    pool, tasks = losing
    for _ in range(_LOST_WITH_TASK - 1):
        assert lose(pool) == []
    given_up = lose(pool)
    assert [task for task, _ in given_up] == tasks
    assert {(death.symptom, death.index) for _, death in given_up} == {(None, None)}


def killed_while_it_starts(pool, slot):
    class Killed(Silent):
        def status(self, seconds):
            return -signal.SIGKILL

        class connection(Silent.connection):
            @staticmethod
            def recv():
                raise EOFError

    pool._workers[slot].process = Killed()
    return list(pool._handle_message(slot))


def test_the_task_of_a_worker_that_is_killed_while_it_starts_is_given_to_another_one(losing):
    pool, tasks = losing
    for _ in range(2 * _UNREADY):
        assert killed_while_it_starts(pool, 1) == []
        assert pool._workers[1].task is tasks[1]
        pool._has_started(pool._workers[0], "")


def test_a_campaign_ends_none_of_whose_workers_starts(losing):
    pool, _ = losing
    for slot in range(_UNREADY - 1):
        assert killed_while_it_starts(pool, slot) == []
    with pytest.raises(AutotestError, match="worker processes do not start"):
        killed_while_it_starts(pool, 0)


class Listening:
    """A process that sends no messages and accepts some."""

    def __init__(self):
        self.sent = []
        self.connection = self

    def send(self, what):
        self.sent.append(what)

    def close(self):
        pass


@pytest.fixture
def waiting(tmp_path):
    """Return workers of which one explores `test` in a process that does not answer."""

    class Pool(Workers):
        def _new(self):
            return _Worker(Listening(), tmp_path / "log", ready=True)

    def begin(test: str) -> tuple[Workers, _Worker]:
        pool = Pool(Conditions(tmp_path, deadline=20.0, deadlines={"quick": 2.0, "slow": 90.0}), 1, server=None)
        pool.start(Explore(Where(tmp_path / "t.py", test, 0), range(3), 0.5))
        return pool, pool._workers[0]

    return begin


@pytest.mark.parametrize(("test", "seconds"), [("quick", 2.0), ("slow", 90.0), ("plain", 20.0)])
def test_a_test_has_its_own_deadline(waiting, test, seconds):
    _, worker = waiting(test)
    ((_, conditions, _),) = worker.process.sent
    assert (conditions.deadline, worker.seconds) == (seconds, seconds + 0.5)


def test_what_is_no_trial_has_the_time_that_any_test_has(waiting):
    pool, worker = waiting("quick")
    assert list(pool._handle_timeout(0)) == []  # it imports the test file, or runs its set-up
    assert worker.seconds == 20.5
    ((_, death),) = pool._handle_timeout(0)
    assert (death.symptom, death.index) == ("hang", None)


def test_a_trial_that_takes_longer_than_its_test_allows_hangs(waiting, tmp_path):
    pool, _ = waiting("quick")
    crumb = Breadcrumb(pool._crumb_path(0))
    crumb.test(tmp_path / "t.py", "quick", 0)
    crumb.trial(1)
    ((_, death),) = pool._handle_timeout(0)
    assert (death.symptom, death.index) == ("hang", 1)
    assert "2 s" in death.how
    crumb.close()


def test_a_trial_whose_calls_have_returned_is_judged_as_long_as_that_takes(waiting, tmp_path):
    pool, worker = waiting("plain")
    crumb = Breadcrumb(pool._crumb_path(0))
    crumb.test(tmp_path / "t.py", "plain", 0)
    crumb.trial(1)
    crumb.judging()
    assert list(pool._handle_timeout(0)) == []
    assert worker.seconds == 20.5 + DIAGNOSIS
    ((_, death),) = pool._handle_timeout(0)  # with a limit, because it may hang in a replay
    assert (death.symptom, death.index) == ("hang", 1)
    crumb.close()


def test_the_next_trial_has_the_time_of_its_own_again(waiting, tmp_path):
    pool, _ = waiting("plain")
    crumb = Breadcrumb(pool._crumb_path(0))
    crumb.test(tmp_path / "t.py", "plain", 0)
    crumb.trial(1)
    crumb.judging()
    crumb.trial(2)
    ((_, death),) = pool._handle_timeout(0)
    assert (death.symptom, death.index) == ("hang", 2)
    crumb.close()


def test_a_death_is_told_with_what_its_worker_had_run_before_of_whatever_tests(tmp_path):
    def ran(name, start, stop):
        return RanTrials(Where(tmp_path / "t.py", name, 0), range(start, stop))

    pool = Workers(Conditions(tmp_path / "kept", ("torch", "torch")), 1)
    worker = _Worker(Silent(), tmp_path / "log", ready=True)
    for name, aside, done in (("a", (), 3), ("b", (), 0), ("b", ("relu",), 5), ("a", (), 2)):
        task = Explore(Where(tmp_path / "t.py", name, 0), range(10, 20), 0.4, set_aside=frozenset(aside))
        worker.ran = _append_trials(worker.ran, task, done)
    assert worker.ran == (ran("a", 10, 13), ran("a", 10, 12)), "not what left out calls that kill"
    pool._new = lambda: worker
    pool._workers[0] = worker
    worker.task = Explore(Where(tmp_path / "t.py", "b", 0), range(10, 20), 0.4)
    pool._folder.mkdir(parents=True)
    crumb = breadcrumb_at(pool._crumb_path(0))
    crumb.test(tmp_path / "t.py", "b", 0)
    crumb.trial(14)
    death = pool._replace_dead_worker(0, death_from_status(-signal.SIGABRT))
    assert death.index == 14
    assert death.before == (ran("a", 10, 13), ran("a", 10, 12), ran("b", 10, 14))


def test_a_death_in_a_fork_of_a_worker_is_its_answer(tmp_path):
    died = Death("crash", "SIGABRT", "", 1, "relu", "forward")

    class Answering(Silent):
        class connection(Silent.connection):
            recv = staticmethod(lambda: died)

    pool = Workers(Conditions(tmp_path / "kept", ("torch", "torch")), 1)
    pool._workers[0] = _Worker(Answering(), tmp_path / "log", ready=True)
    task = Explore(Where(tmp_path / "t.py", "t", 0), range(3), 0.4)
    pool.start(task)
    assert list(pool._handle_message(0)) == [(task, died)]
    assert pool._workers[0].ran == ()


def test_a_hang_that_is_looked_into_keeps_nobody_from_looking_into_something_else(losing, tmp_path):
    pool, _ = losing
    alone = pool.diagnosis_slots
    for symptom, more in (("crash", 0), ("hang", 1), ("hang", 2), ("hang", 2)):
        identity = Identity("atan", symptom, "forward", "candidate", "", "")
        pool.start(DiagnoseDeath(Where(tmp_path / "t.py", "t", 0), 1, identity, "", thorough=True))
        assert pool.diagnosis_slots == alone + more
