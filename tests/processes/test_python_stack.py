"""The Python stack of a process that does not answer, as another process reads it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autotest.processes.child import run_to_end
from autotest.processes.python_stack import answering_requests, recording_death, stack_at_death, stack_of


@pytest.fixture
def forked() -> Iterator[Callable[[Callable[[], object]], int]]:
    """Return a function that calls its argument in a fork and returns the process id; forks are killed at the end."""
    started: list[int] = []

    def start(function: Callable[[], object]) -> int:
        pid = os.fork()
        if not pid:
            run_to_end(function)
        started.append(pid)
        return pid

    yield start
    for pid in started:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def waits(file: Path, ready: Path, how: Callable[[], object]) -> None:
    with answering_requests(file):
        ready.touch()
        how()


def sleep_long() -> None:
    time.sleep(600)


def loop_forever() -> None:
    while True:
        pass


@pytest.mark.parametrize("how", [sleep_long, loop_forever])
def test_each_request_is_answered_with_the_line_that_runs(
    forked: Callable[..., int], tmp_path: Path, how: Callable[[], object]
) -> None:
    file, ready = tmp_path / "stack.txt", tmp_path / "ready"
    pid = forked(lambda: waits(file, ready, how))
    while not ready.exists():
        time.sleep(0.01)
    for _ in range(2):
        frames = stack_of(pid, file)
        functions = [frame.function for frame in frames]
        assert functions[functions.index(how.__name__) + 1] == "waits"
        assert frames[functions.index(how.__name__)].file == Path(__file__)


def test_a_process_that_cannot_answer_is_not_ended_by_the_request(forked: Callable[..., int], tmp_path: Path) -> None:
    pid = forked(sleep_long)
    assert stack_of(pid, tmp_path / "stack.txt") == []
    assert os.waitpid(pid, os.WNOHANG) == (0, 0)


def test_a_process_that_has_ended_has_no_stack(tmp_path: Path) -> None:
    pid = os.fork()
    if not pid:
        run_to_end(lambda: None)
    os.waitpid(pid, 0)
    file = tmp_path / "stack.txt"
    file.touch()
    assert stack_of(pid, file) == []


def abort() -> None:
    os.abort()


def leave() -> None:
    os._exit(3)


def be_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dies(file: Path, how: Callable[[], object]) -> None:
    with recording_death(file):
        how()


@pytest.mark.parametrize(
    ("how", "functions"), [(abort, ["abort", "dies"]), (leave, ["leave", "dies"]), (be_killed, [])]
)
def test_a_process_that_dies_leaves_the_lines_that_ran(
    tmp_path: Path, how: Callable[[], object], functions: list[str]
) -> None:
    file = tmp_path / "stack.txt"
    pid = os.fork()
    if not pid:
        run_to_end(lambda: dies(file, how))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0
    assert [frame.function for frame in stack_at_death(file)][:2] == functions


def test_the_end_of_a_fork_is_no_death_of_the_process_that_started_it(tmp_path: Path) -> None:
    file = tmp_path / "stack.txt"
    with recording_death(file):
        pid = os.fork()
        if not pid:
            os._exit(3)
        os.waitpid(pid, 0)
    assert stack_at_death(file) == []
