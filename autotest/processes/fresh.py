"""A fresh interpreter for one script, which imports the script's modules while the script is still being written."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from autotest.base.temporary_folders import SCRIPTS, own_folder

#: Source of `end_with(parent, end)`, which has `end` called at a signal that ends a job, and when the process `parent`
#: ends in any way (0: nobody's end matters).
END_WITH = """
import ctypes, os, signal

ENDING = signal.SIGTERM, signal.SIGHUP, signal.SIGINT

def end_with(parent, end):
    for number in ENDING:
        signal.signal(number, end)
    if parent:
        ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            end()
"""
#: A parent process of the interpreter, which ends when the process that started it ends in any way. It then kills the
#: interpreter, which may hang, and the processes that the script has started: all are one process group. It also
#: removes the folder that it runs in, since a process that was killed cannot, in any case: a signal to all processes of
#: a job ends the interpreter and the process that started it at once.
_WATCH = (
    END_WITH
    + """
import shutil, subprocess, sys

def end(*_):
    shutil.rmtree(os.getcwd(), ignore_errors=True)
    os.killpg(0, signal.SIGKILL)

parent, program = int(sys.argv[1]), sys.argv[2]
end_with(parent, end)
status = subprocess.call([sys.executable, "-c", program])
shutil.rmtree(os.getcwd(), ignore_errors=True)
if status < 0:
    if -status != signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
sys.exit(status)
"""
)
#: The interpreter. The garbage collector is off during the imports, because imported objects stay alive. The script
#: runs in the caller's working directory, as it will when the user runs it, because a project's own framework may be
#: there; but no core dump is written there.
RUN = """
import gc, json, os, resource, sys

gc.disable()
for line in json.loads(sys.stdin.readline()):
    try:
        exec(line, {})
    except Exception:
        pass
gc.freeze()
gc.enable()
path, home = json.loads(sys.stdin.readline() or '["", ""]')
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
if path:
    import runpy

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    os.chdir(home)
    sys.argv[:] = [path]
    sys.path[0] = os.path.dirname(path)
    runpy.run_path(path, run_name="__main__")
"""


class FreshInterpreter:
    """An interpreter that has been started and is ready for a script."""

    def __init__(self, lines: Sequence[str] = ()) -> None:
        """Start the interpreter, and let it run the import statements among `lines`, which the script contains too."""
        self._folder = own_folder(SCRIPTS)
        # It dies with the thread that started it, and only the main thread lives as long as the process.
        parent = os.getpid() if threading.current_thread() is threading.main_thread() else 0
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WATCH, str(parent), RUN],
            cwd=self._folder,
            env=with_absolute_paths(os.environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._tell(json.dumps(imports_among(lines)))

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def run(self, script: str, deadline: float) -> tuple[int | None, str]:
        """Return the exit status of `script` and its output; (None, "") if it did not end within `deadline` s."""
        path = self._folder / "repro.py"
        path.write_text(script, encoding="utf-8")
        self._tell(json.dumps([str(path), str(Path.cwd())]))
        try:
            output, _ = self._process.communicate(timeout=deadline)
        except subprocess.TimeoutExpired:
            return None, ""
        return self._process.returncode, output

    def close(self) -> None:
        """Kill the interpreter, and every process that its script has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def imports_among(lines: Sequence[str]) -> list[str]:
    """Return the import statements among `lines`."""
    return [line for line in lines if line.startswith(("import ", "from "))]


def with_absolute_paths(environment: Mapping[str, str]) -> dict[str, str]:
    """Return `environment` with a ``PYTHONPATH`` that means the same folders in any working directory."""
    paths = environment.get("PYTHONPATH")
    if not paths:
        return {**environment}
    absolute = [os.path.abspath(path) for path in paths.split(os.pathsep)]  # noqa: PTH100 - an empty one is this folder
    return {**environment, "PYTHONPATH": os.pathsep.join(absolute)}
