"""Runs a reproducer in a fresh interpreter, before anybody is told of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar

from autotest.emission.script_output import differences, runs_that_died
from autotest.processes.endings import describe
from autotest.processes.fresh import FreshInterpreter
from autotest.report.activity import doing
from autotest.results.verification import State, Verification

#: Seconds: importing two frameworks takes ten on a loaded machine, and a hang is shown by a child process.
DEADLINE = 180.0
_TRACEBACK = "Traceback (most recent call last):\n"
_waiting: ContextVar[list[FreshInterpreter] | None] = ContextVar("autotest_waiting_interpreters", default=None)


def verify(script: str, deadline: float = DEADLINE) -> Verification:
    """What running `script` in a fresh interpreter says; with how many of its runs died, where it makes several."""
    with doing("verifying the reproducer"):
        status, output = run_script(script, deadline)
    runs = runs_that_died(output)
    if status == 1:
        return Verification(State.VERIFIED, runs)
    if status == 0:
        return Verification(State.MISSED, runs)
    if status is None:
        return Verification(State.UNCLEAR, output)
    if status < 0 and any(differences(output)):
        # Frameworks may die of letting go of what they have; by then all is said.
        return Verification(State.VERIFIED, f"it then dies at its exit ({describe(status)})")
    state = State.DIED if status < 0 else State.UNCLEAR
    return Verification(state, f"the script ended with status {status}: {_last_line(output)}")


def run_script(script: str, deadline: float = DEADLINE) -> tuple[int | None, str]:
    """Exit status of a reproducer and all that it printed.

    The status is None, and the text says why, when it did not come to its end: then 1 means nothing, which is
    also what an interpreter ends with that met an error in the script itself.
    """
    waiting = _waiting.get()
    with contextlib.closing(waiting.pop() if waiting else FreshInterpreter()) as interpreter:
        status, output = interpreter.run(script, deadline)
    if status is None:
        return None, f"the script did not end within {deadline:.0f} s"
    if status == 1 and _TRACEBACK in output:
        return None, f"the script itself failed: {_last_line(output)}"
    return status, output


@contextlib.contextmanager
def expecting_a_script(lines: Sequence[str]) -> Iterator[None]:
    """Start an interpreter now, which carries out the imports among `lines`, for the first script that is run inside.

    For whoever knows how a script will begin, and has to find out yet how it goes on.
    """
    waiting = [FreshInterpreter(lines)]
    token = _waiting.set(waiting)
    try:
        yield
    finally:
        _waiting.reset(token)
        for interpreter in waiting:
            interpreter.close()


def _last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no output"
