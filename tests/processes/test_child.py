"""How a forked child ends, and how its parent ends in the same way."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from autotest.processes.child import end_like, run_to_end


def exit_code(function: Callable[[], object]) -> int:
    """Return the exit status of a fork of this process that calls `function`."""
    pid = os.fork()
    if not pid:
        run_to_end(function)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def raises() -> None:
    raise ValueError("planted")


def test_a_child_that_raises_does_not_end_as_one_that_is_done(capfd: pytest.CaptureFixture[str]) -> None:
    assert exit_code(lambda: None) == 0
    assert exit_code(raises) == 1
    assert "ValueError: planted" in capfd.readouterr().err


@pytest.mark.parametrize("status", [-signal.SIGABRT, -signal.SIGKILL, -signal.SIGTERM, 3])
def test_the_end_of_a_child_is_passed_on_with_its_signal(status: int) -> None:
    assert exit_code(lambda: end_like(status)) == status


def test_a_child_that_ended_too_early_counts_as_failed() -> None:
    assert exit_code(lambda: end_like(0)) == 1
