"""Runs reproducers in forks of a process that has imported torch, and OneFlow except for its threads.

``python -m tests.support.reproducing FILE...`` prints a line of JSON for each file: its name, exit status and output.
With a separate interpreter for each of 150 scripts, and for the children that some of them start, the imports alone
would take half an hour.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.support.ending import status_of
from tests.support.stand_in import StandIn, starts_interpreters


def run_all(files: Sequence[Path], timeout: float) -> dict[str, tuple[int, str]]:
    """Run `files` in a new process, and return the exit status and output of each by its name."""
    done = subprocess.run(
        [sys.executable, "-m", __name__, *map(str, files)],
        stdout=subprocess.PIPE,
        text=True,
        timeout=timeout,
        check=False,
    )
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {item["name"]: (item["status"], item["output"]) for item in found}


def main(files: Sequence[Path]) -> None:
    """Run `files`, two at a time, and print the result of each."""
    gc.disable()  # imported objects stay alive, here and in the children
    import torch  # noqa: F401 - the children have it, then

    from autotest.frameworks.oneflow import OneFlowFramework

    # No core dumps: writing one takes seconds.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    arguments: list[str] = []
    interpreters: list[StandIn] = []

    def fork() -> None:
        file, folder = _forked(files)
        interpreters.append(StandIn(folder))
        arguments.extend((starts_interpreters(file) and interpreters[0].start()) or [str(file)])

    # A fork has no threads of its parent: OneFlow's import stops before it starts threads, and continues in each child.
    OneFlowFramework().import_around(fork)
    gc.freeze()
    gc.enable()
    sys.argv = [*arguments]
    status = status_of(lambda: runpy.run_path(arguments[0], run_name="__main__"))
    interpreters[0].close()
    os._exit(status)


def _forked(files: Sequence[Path]) -> tuple[Path, Path]:
    """Fork a child for each of `files`; return the file and a new folder in the child.

    The parent prints the results, and then exits instead of returning.
    """
    waiting, running = list(files), {}
    while waiting or running:
        while waiting and len(running) < 2:
            file, folder = waiting.pop(0), Path(tempfile.mkdtemp())
            descriptor = os.open(folder / "output", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            pid = os.fork()
            if not pid:
                os.dup2(descriptor, 1)
                os.dup2(descriptor, 2)
                return file, folder
            os.close(descriptor)
            running[pid] = (file, folder)
        pid, status = os.wait()
        file, folder = running.pop(pid)
        said = (folder / "output").read_text(encoding="utf-8", errors="replace")
        shutil.rmtree(folder)
        told = {"name": file.name, "status": os.waitstatus_to_exitcode(status), "output": said}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
