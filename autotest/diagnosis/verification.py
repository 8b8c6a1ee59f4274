"""Runs a reproducer in a fresh interpreter, before it is reported."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import NamedTuple

from autotest.emission.script_output import differs, raised_instead, runs_that_died
from autotest.processes.endings import describe
from autotest.processes.prepared import ScriptInterpreter, prepared_interpreter
from autotest.report.activity import doing
from autotest.results.finding import Finding
from autotest.results.verification import State, Verification

#: The time limit of a reproducer in seconds. To import two frameworks takes ten seconds on a loaded machine, and the
#: reproducer of a hang runs the program in a child process with a deadline of its own.
DEADLINE = 180.0
_TRACEBACK = "Traceback (most recent call last):\n"
_prepared: ContextVar[_Prepared | None] = ContextVar("autotest_prepared_interpreters", default=None)


class _Prepared(NamedTuple):
    """The interpreters for the scripts of one finding."""

    #: Those that were started early.
    started: list[ScriptInterpreter]
    #: The lines that all interpreters share.
    ahead: Sequence[str]

    def next(self) -> ScriptInterpreter:
        return self.started.pop() if self.started else prepared_interpreter(self.ahead)


def verify(
    script: str, deadline: float = DEADLINE, finding: Finding | None = None, ahead: Sequence[str] = ()
) -> Verification:
    """Run `script` in a fresh interpreter, and return whether it shows its finding.

    If the script runs a program several times, the verification says how many of the runs crashed.

    Args:
        script: the text of the reproducer.
        deadline: the time limit in seconds.
        finding: the finding that it must show; None if any difference will do.
        ahead: lines of which scripts of this process share the imports; see `prepared_interpreter`.
    """
    return judged(*tried(script, deadline, ahead), finding)


def tried(script: str, deadline: float = DEADLINE, ahead: Sequence[str] = ()) -> tuple[int | None, str]:
    """Return what `run_script` does, and show meanwhile what is done."""
    with doing("verifying the reproducer"):
        return run_script(script, deadline, ahead)


def judged(status: int | None, output: str, finding: Finding | None) -> Verification:
    """Return whether a script that has ended shows its finding.

    Args:
        status: its exit status, negative for a signal; None if the script failed.
        output: what it printed, or why it failed.
        finding: the finding that it must show; None if any difference will do.
    """
    if status is None:
        return Verification(State.UNCLEAR, output)
    runs = runs_that_died(output)
    if status == 0:
        return Verification(State.MISSED, runs)
    # A script also exits with 1 if the candidate raises where the finding is another difference.
    other = raised_instead(output, finding) if status == 1 and finding is not None else ""
    if other:
        return Verification(State.MISSED, f"the script shows something else: {other[:200]}")
    # A framework may end the process with status 1, too, but does not print a difference then.
    if status == 1 and differs(output):
        return Verification(State.VERIFIED, runs)
    if status < 0 and differs(output):
        # A framework may crash when it frees its resources at exit; the script has printed its result by then.
        return Verification(State.VERIFIED, f"the script then crashes at exit ({describe(status)})")
    state = State.DIED if status < 0 else State.UNCLEAR
    return Verification(state, f"the script ended with status {status}: {_last_line(output)}")


def run_script(script: str, deadline: float = DEADLINE, ahead: Sequence[str] = ()) -> tuple[int | None, str]:
    """Run a reproducer in a fresh interpreter.

    Args:
        script: the text of the reproducer.
        deadline: the time limit in seconds.
        ahead: lines of which scripts of this process share the imports; see `prepared_interpreter`. It is not needed
            inside of `interpreter_started_early`.

    Returns:
        The exit status and the output. If the script timed out, or failed with a traceback, which also gives exit
        status 1, the status is None and the text is the reason.
    """
    prepared = _prepared.get() or _Prepared([], [line for line in ahead if line in script])
    with contextlib.closing(prepared.next()) as interpreter:
        status, output = interpreter.run(script, deadline)
    if status is None:
        return None, f"the script did not end within {deadline:.0f} s"
    if status == 1 and _TRACEBACK in output:
        return None, f"the script itself failed: {_last_line(output)}"
    return status, output


@contextlib.contextmanager
def interpreter_started_early(lines: Sequence[str], ahead: Sequence[str] = ()) -> Iterator[None]:
    """Start an interpreter early for the first script that runs inside the block.

    This saves the time of the imports while the rest of the script is not known yet.

    Args:
        lines: the first lines of the script; the interpreter runs the imports among them.
        ahead: those of them whose imports all scripts of this process share; see `prepared_interpreter`.
    """
    prepared = _Prepared([prepared_interpreter(ahead, lines)], ahead)
    token = _prepared.set(prepared)
    try:
        yield
    finally:
        _prepared.reset(token)
        for interpreter in prepared.started:
            interpreter.close()


def _last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no output"
