"""Processes that may die are forked from a server that has imported the frameworks, and none of them remains."""

from __future__ import annotations

import concurrent.futures
import contextlib
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from autotest.processes import server as process_server
from autotest.processes.client import Server, ServerLost
from tests.support import tasks_of_children as tasks
from tests.support.descriptors import many_open, open_now
from tests.support.tasks_of_children import alive


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, importable_elsewhere: None) -> Iterator[Server]:
    """A server without frameworks: it starts at once, and forks as usual."""
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.no_such_module:framework")
    monkeypatch.setenv("AUTOTEST_REFERENCE", "tests.support.no_such_module:framework")
    made = Server()
    yield made
    made.close()


def all_end(pids: list[int]) -> bool:
    """Return whether these processes end within some seconds."""
    end = time.monotonic() + 20
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(map(alive, pids))


def test_a_child_does_what_it_was_asked_for_where_the_asker_is(server, tmp_path, monkeypatch):
    first = server.process(tasks.tell, 1)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TESTS_TOLD", "later")
    second = server.process(tasks.tell, {"two": 2})
    (one, before, _), (two, after, _) = first.connection.recv(), second.connection.recv()
    assert (one, two) == (1, {"two": 2})
    assert before["told"] is None
    assert (after["told"], after["folder"]) == ("later", str(tmp_path))
    assert before["pid"] == first.pid() != second.pid()
    assert before["parent"] == after["parent"] != os.getpid()
    assert (first.status(10), second.status(10)) == (0, 0)


def test_a_child_imports_what_lies_beside_an_adapter_that_the_server_found_in_its_folder(server, tmp_path, monkeypatch):
    (tmp_path / "adapter_beside.py").write_text("def factory():\n    raise ImportError('planted')\n")
    (tmp_path / "framework_beside.py").touch()
    monkeypatch.setenv("AUTOTEST_REFERENCE", "adapter_beside:factory")
    monkeypatch.setattr("sys.path", [place for place in sys.path if place])  # as that of a console script
    monkeypatch.chdir(tmp_path)
    child = server.process(tasks.import_module, "framework_beside")
    assert child.connection.recv() == str(tmp_path / "framework_beside.py")


def test_a_child_imports_nothing_more_of_torch_for_its_first_backward_pass(monkeypatch, importable_elsewhere):
    with contextlib.closing(Server(frameworks=("torch", "torch"))) as server:
        assert server.process(tasks.backward).connection.recv() == []


def test_garbage_is_looked_for_in_a_child_but_not_among_what_the_server_has_imported(server):
    enabled, frozen = server.process(tasks.garbage).connection.recv()
    assert enabled
    assert frozen > 10_000


def test_a_child_looks_for_garbage_only_after_it_has_imported_the_rest_of_the_frameworks(monkeypatch):
    looks = []

    class Forking:
        """A server that immediately continues as its own child."""

        def __init__(self, owner):
            looks.append(gc.isenabled())

        def serve(self):
            return "request"

    def import_around(pair, fork):
        fork()
        looks.append(gc.isenabled())

    monkeypatch.setattr(process_server, "ForkServer", Forking)
    monkeypatch.setattr(process_server, "chosen_pair", lambda: None)
    monkeypatch.setattr(process_server, "_import_around", import_around)
    monkeypatch.setattr(process_server.child, "run_request", lambda request: looks.append(gc.isenabled()))
    process_server.import_and_serve(None, (), ahead=True)
    assert looks == [True, False, True]


def test_a_child_that_dies_is_told_with_its_signal_and_its_last_words(server, tmp_path):
    process = server.process(tasks.abort, log=tmp_path / "log")
    with pytest.raises(EOFError):
        process.connection.recv()
    assert process.status(10) == -signal.SIGABRT
    assert "Check failed: planted" in (tmp_path / "log").read_text()


def test_a_child_is_asked_for_and_dies_where_a_thousand_files_are_open(server):
    with many_open():
        one, two = server.process(tasks.tell, 1), server.process(tasks.abort)
        assert one.connection.recv()[0] == 1
        assert one.pid() != two.pid(20)
        assert (one.status(20), two.status(20)) == (0, -signal.SIGABRT)


def test_a_server_holds_nothing_of_children_that_have_ended(server):
    _, known, _ = server.process(tasks.tell, 0).connection.recv()
    descriptors = Path(f"/proc/{known['parent']}/fd")
    for value in range(40):
        process = server.process(tasks.tell if value % 2 else tasks.abort, value)
        assert process.status(20) is not None
        process.close()
    patience = time.monotonic() + 20
    # The last process shows that the others were released.
    while len(list(descriptors.iterdir())) > 8 and time.monotonic() < patience:
        time.sleep(0.02)
    assert len(list(descriptors.iterdir())) <= 8, "its input and outputs, its owner, and two to be woken by"


def test_a_process_that_is_forgotten_holds_no_descriptor(server):
    server.process(tasks.tell, 0).connection.recv()
    before = open_now("pipe:"), open_now("socket:")
    for value in range(10):
        assert server.process(tasks.tell, value).connection.recv()[0] == value
    assert (open_now("pipe:"), open_now("socket:")) == before


def test_a_child_whose_log_cannot_be_written_does_its_work_all_the_same(server, tmp_path):
    process = server.process(tasks.tell, "quiet", log=tmp_path / "no such folder" / "log")
    assert process.connection.recv()[0] == "quiet"
    assert process.status(20) == 0


def test_a_child_that_raises_ends_with_status_1_and_a_traceback_in_its_log(server, tmp_path):
    process = server.process(tasks.fail, log=tmp_path / "log")
    assert process.status(20) == 1
    assert "ValueError: planted" in (tmp_path / "log").read_text()


def test_a_child_that_is_given_up_is_killed_with_the_children_that_it_asked_for(server):
    process = server.process(tasks.sleep_twice)
    below = process.connection.recv()
    assert all(map(alive, [process.pid(), *below]))
    process.close()
    assert all_end([process.pid(), *below])


@pytest.mark.parametrize("end", ["child", "close", "server"])
def test_what_a_child_has_started_ends_with_the_child(server, end):
    process = server.process(tasks.start_a_process)
    pids = process.connection.recv()
    if end == "child":
        os.kill(pids[0], signal.SIGKILL)
    elif end == "close":
        process.close()
    elif end == "server":
        os.kill(server._started.pid, signal.SIGTERM)
    else:
        server.close()
    assert all_end(pids)


def test_what_a_child_has_started_ends_with_the_group_of_the_process_that_owns_the_server(importable_elsewhere):
    code = "import sys, time; from tests.processes.test_server import own_a_started_process; own_a_started_process()"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as owner:
        assert owner.stdout is not None
        pids = [int(pid) for pid in owner.stdout.readline().split()]
        os.killpg(owner.pid, signal.SIGKILL)
    assert all_end(pids)


def own_a_started_process() -> None:
    """Print the ids of a child and of a process that it has started, and sleep."""
    nothing = "tests.support.no_such_module:framework"
    process = Server(frameworks=(nothing, nothing)).process(tasks.start_a_process)
    sys.stdout.write("{} {}\n".format(*process.connection.recv()))
    sys.stdout.flush()
    time.sleep(600)


def test_a_signal_to_the_process_group_of_a_child_reaches_no_other_process(server):
    other = server.process(tasks.sleep)
    assert server.process(tasks.end_the_group).status(20) == -signal.SIGTERM
    assert alive(other.pid())
    assert alive(server._started.pid)


def test_a_client_that_ends_does_not_end_another_clients_child_with_the_id_of_one_of_its_own(monkeypatch):
    given, ended, killed, groups = iter([11, 12, 12]), [], [], []
    monkeypatch.setattr(os, "fork", lambda: next(given))
    monkeypatch.setattr(os, "setpgid", lambda *_: None)
    monkeypatch.setattr(os, "waitid", lambda *_: types.SimpleNamespace(si_pid=ended[0][0]) if ended else None)
    monkeypatch.setattr(os, "waitpid", lambda *_: ended.pop())
    monkeypatch.setattr(os, "kill", lambda pid, _: killed.append(pid))
    monkeypatch.setattr(os, "killpg", lambda pid, _: groups.append(pid))
    owner, ours = socket.socketpair()
    serving = process_server.ForkServer(owner)

    def fork(client: socket.socket) -> socket.socket:
        serving._fork(client, os.open(os.devnull, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY))
        return list(serving._clients)[-1]

    asker = fork(owner)
    fork(asker)
    ended.append((12, 0))
    serving._reap()
    fork(owner)
    serving._drop_client(asker)
    assert (killed, groups) == ([], [12])  # what the one that ended has started
    for held in (ours, *serving._clients):
        held.close()
    for descriptor in (*serving._wakeup, *serving._pipes.values()):
        os.close(descriptor)


def test_nobody_outlives_a_server_that_is_killed_and_the_next_process_is_another_servers(server):
    processes = [server.process(tasks.sleep_twice) for _ in range(2)]
    below = [pid for process in processes for pid in process.connection.recv()]
    _, known, _ = server.process(tasks.tell, 1).connection.recv()
    os.kill(known["parent"], signal.SIGKILL)
    assert all_end([process.pid() for process in processes] + below)
    for process in processes:
        with pytest.raises(ServerLost):
            process.status(10)
    server.close()
    assert server.process(tasks.tell, 2).connection.recv()[0] == 2


def test_nobody_outlives_a_process_that_is_killed_and_had_a_server(server):
    owner = server.process(tasks.own_a_server)
    below = [pid for pids in owner.connection.recv() for pid in pids]
    assert len(below) == 4
    os.kill(owner.pid(), signal.SIGKILL)
    assert all_end(below)
    assert owner.status(10) == -signal.SIGKILL


def test_nobody_outlives_a_server_that_is_closed(server):
    below = server.process(tasks.sleep_twice).connection.recv()
    server.close()
    assert all_end(below)


def test_who_lost_a_server_does_not_close_the_next_one_that_another_thread_has_started(server):
    lost = [server.process(tasks.sleep_twice) for _ in range(2)]
    assert all(process.connection.recv() for process in lost)
    os.kill(server._started.pid, signal.SIGKILL)
    assert all(process.connection.poll(10) for process in lost)
    second = server.retried(lambda: server.process(tasks.sleep_twice) if lost[0].lost else lost[0].status(10))
    assert server.retried(lambda: lost[1].lost or lost[1].status(10)) is True
    assert second.status(1) is None


def test_threads_that_lose_a_server_together_all_get_a_process(server):
    assert server.process(tasks.tell, 0).connection.recv()[0] == 0
    for turn in range(5):
        server._started.kill()
        server._started.wait()
        together = threading.Barrier(6)

        def ask(number, together=together):
            together.wait(10)
            return server.process(tasks.tell, number).connection.recv()[0]

        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            assert sorted(pool.map(ask, range(6))) == [*range(6)], turn


def test_a_server_may_be_a_fork_of_this_process():
    forked = Server(fork=True)
    process = forked.process(tasks.tell, "here")
    value, known, _ = process.connection.recv()
    assert value == "here"
    assert known["pid"] == process.pid() != os.getpid()
    assert process.status(10) == 0
    again = forked.process(tasks.abort)
    assert again.status(10) == -signal.SIGABRT
    forked.close()
    assert not alive(known["parent"])


def test_what_could_not_be_imported_is_the_childs_to_tell(server):
    assert server.process(tasks.tell, 1).connection.recv()[2] is False


@pytest.mark.slow
@pytest.mark.oneflow
def test_a_child_has_all_of_oneflow_as_any_other_process(monkeypatch, importable_elsewhere):
    pytest.importorskip("oneflow", exc_type=ImportError)
    monkeypatch.delenv("AUTOTEST_CANDIDATE", raising=False)
    server = Server()
    for _ in range(2):
        process = server.process(tasks.use_oneflow)
        assert process.connection.recv() == ([2.0] * 3, (3,), [1.0] * 2)
        assert process.connection.recv() > 8, "without threads of its own a graph would wait for ever"
        assert process.status(10) == 0
    server.close()
