"""A process that has imported NumPy, and runs each script in a fork of itself, as a new interpreter would run it.

A script imports everything else itself, and its death ends no other process. A new interpreter for each of a
hundred scripts would import NumPy a hundred times.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from multiprocessing.connection import wait
from pathlib import Path

_PROGRAM = """
import json, os, runpy, sys
import numpy

while True:
    asked = sys.stdin.readline()
    if not asked:
        sys.exit()
    pid = os.fork()
    if not pid:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)

path, *files = json.loads(asked)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
for descriptor, file in enumerate(files, 1):
    os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
sys.stdin = open(0)
sys.argv[:] = [path]
sys.path[0] = os.path.dirname(path)
runpy.run_path(path, run_name="__main__")
"""


class Template:
    """Runs scripts. The process is started for the first script."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, script: Path, seconds: float = 100.0) -> tuple[int, str, str]:
        """Return exit status, output and errors of `script`. Raises `TimeoutError` if it does not end."""
        files = [script.with_suffix(f".{name}") for name in ("output", "errors")]
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([str(script), *map(str, files)]) + "\n")
        process.stdin.flush()
        if not wait([process.stdout.fileno()], seconds):
            self.close()
            raise TimeoutError(f"{script} has not ended within {seconds:g} s")
        status = int(process.stdout.readline())
        output, errors = (file.read_text(encoding="utf-8") for file in files)
        return status, output, errors

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        return self._process

    def close(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            os.killpg(process.pid, signal.SIGKILL)  # and a script that has not ended
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                with contextlib.suppress(OSError):
                    pipe.close()
            process.wait()


__all__ = ["Template"]
