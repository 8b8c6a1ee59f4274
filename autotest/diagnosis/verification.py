"""Runs a reproducer in a fresh interpreter, before anybody is told of it."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

#: Seconds: importing two frameworks takes ten on a loaded machine, and a hang is shown by a child process.
DEADLINE = 180.0
VERIFIED = "verified in a fresh interpreter"
MISSED = "DOES NOT REPRODUCE in a fresh interpreter"
#: What scripts say of a program that is run in several processes.
_RUNS = re.compile(r"\b(?:dies in \d+ of|survives) \d+ runs\b")
_TRACEBACK = "Traceback (most recent call last):\n"


def verify(script: str, deadline: float = DEADLINE) -> str:
    """`VERIFIED`, or why it does not count as reproduced; with how many of its runs died, where it makes several."""
    status, output = run_script(script, deadline)
    told = _RUNS.search(output)
    runs = f": {told[0]}" if told else ""
    if status == 1:
        return VERIFIED + runs
    if status == 0:
        return MISSED + runs
    if status is None:
        return f"not verified: {output}"
    return f"not verified: the script ended with status {status}: {_last_line(output)}"


def in_some_runs(verified: str) -> bool:
    """Whether that says of a death that it did not happen in the first run."""
    return verified.startswith(VERIFIED) and _RUNS.search(verified) is not None


def run_script(script: str, deadline: float = DEADLINE) -> tuple[int | None, str]:
    """Exit status of a reproducer and all that it printed.

    The status is None, and the text says why, when it did not come to its end: then 1 means nothing, which is
    also what an interpreter ends with that met an error in the script itself.
    """
    with tempfile.TemporaryDirectory(prefix="autotest-") as folder:
        path = Path(folder) / "repro.py"
        path.write_text(script, encoding="utf-8")
        try:
            done = subprocess.run(
                [sys.executable, str(path)],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=deadline,
                text=True,
                errors="replace",
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, f"the script did not end within {deadline:.0f} s"
    if done.returncode == 1 and _TRACEBACK in done.stdout:
        return None, f"the script itself failed: {_last_line(done.stdout)}"
    return done.returncode, done.stdout


def _last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no output"
