"""How the end of a process is described, and how long a process that may hang is waited for."""

from __future__ import annotations

import resource
import signal

import pytest

from autotest.base.signals import signal_name
from autotest.processes import endings
from autotest.processes.endings import (
    ProcessDeath,
    TimeoutEstimate,
    death_from_status,
    killed_for_memory,
    room_to_judge,
)


@pytest.mark.parametrize(
    ("took", "expected", "patience"),
    [
        ((), 0.0, TimeoutEstimate.LEAST),
        ((), 0.1, 0.1 * TimeoutEstimate.TIMES),
        ((0.2,), 0.1, 0.2 * TimeoutEstimate.TIMES),
        ((0.2, 0.1), 0.0, 0.2 * TimeoutEstimate.TIMES),
        ((9.0,), 0.0, 20.0),
    ],
    ids=[
        "some seconds at least",
        "by what it should take",
        "by what another took",
        "the longest",
        "the deadline at most",
    ],
)
def test_what_hangs_is_known_by_how_long_others_take(took, expected, patience):
    timeouts = TimeoutEstimate()
    for seconds in took:
        timeouts.record(seconds)
    assert timeouts.timeout(expected, most=20.0) == patience


@pytest.mark.parametrize(
    ("status", "killed", "death"),
    [
        (-signal.SIGSEGV, 7, ProcessDeath("crash", "SIGSEGV")),
        (3, 7, ProcessDeath("crash", "status 3")),
        (-signal.SIGKILL, 7, ProcessDeath("crash", "SIGKILL: out of memory, or somebody's kill -9")),
        (-signal.SIGKILL, 8, ProcessDeath("out of memory", "SIGKILL")),
    ],
    ids=["a signal", "an exit", "killed by anybody", "killed while the kernel killed"],
)
def test_who_killed_a_process_is_said_only_where_it_is_known(monkeypatch, status, killed, death):
    monkeypatch.setattr(endings, "killed_for_memory", lambda: killed)
    assert death_from_status(status, 7) == death


@pytest.mark.parametrize(
    ("text", "killed"),
    [("pgfault 12\noom_kill 3\nunevictable 0\n", 3), ("pgfault 12\n", 0), ("in words\n\n", 0), (None, 0)],
    ids=["counted", "not counted", "of another kind", "not there"],
)
def test_the_kernel_counts_whom_it_kills_for_memory(tmp_path, text, killed):
    file = tmp_path / "vmstat"
    if text is not None:
        file.write_text(text)
    assert killed_for_memory(file) == killed


@pytest.fixture
def limited():
    """Limit the address space of this process to 64 GiB, and restore the limit afterwards."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (64 << 30, before[1]))
    yield 64 << 30
    resource.setrlimit(resource.RLIMIT_AS, before)


def test_judging_has_more_memory_than_a_trial_and_the_next_trial_as_much_as_before(limited):
    with room_to_judge(1 << 30):
        assert resource.getrlimit(resource.RLIMIT_AS)[0] > limited + (1 << 30)
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == limited


def test_an_error_while_a_trial_is_judged_leaves_the_limit_as_it_was(limited):
    with pytest.raises(MemoryError), room_to_judge(1 << 30):
        raise MemoryError
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == limited


def test_where_no_memory_was_set_none_is(limited):
    with room_to_judge(None):
        assert resource.getrlimit(resource.RLIMIT_AS)[0] == limited


def test_a_signal_is_told_by_its_name_if_it_has_one() -> None:
    assert signal_name(6) == "SIGABRT"
    assert signal_name(45) is None
