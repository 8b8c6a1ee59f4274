"""Runs reproducers in processes that are forked where torch is imported, and OneFlow but for its threads.

``python -m tests.support.reproducing FILE...`` prints a line of JSON for each: its name, its exit status, and what it
printed. An interpreter of its own for each of 150 scripts would take half an hour for imports alone.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path


def run_all(files: Sequence[Path], timeout: float) -> dict[str, tuple[int, str]]:
    """Exit status and output of each of `files`, by name; in a process of their own."""
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
    """Run `files`, two at a time, and print what came of each."""
    import torch  # noqa: F401 - the children have it, then

    from autotest.frameworks.oneflow import OneFlowFramework

    mine: list[Path] = []
    # OneFlow's threads are not forked, so its import is stopped before it starts them, and goes on in each child.
    OneFlowFramework().import_around(lambda: mine.extend(_forked(files)))
    os._exit(_status(mine[0]))


def _forked(files: Sequence[Path]) -> list[Path]:
    """Fork a child for each of `files`, which gets its file; returns in children alone."""
    waiting, running = list(files), {}
    while waiting or running:
        while waiting and len(running) < 2:
            file = waiting.pop(0)
            descriptor, output = tempfile.mkstemp()
            pid = os.fork()
            if not pid:
                os.dup2(descriptor, 1)
                os.dup2(descriptor, 2)
                return [file]
            os.close(descriptor)
            running[pid] = (file, output)
        pid, status = os.wait()
        file, written = running.pop(pid)
        said = Path(written).read_text(encoding="utf-8", errors="replace")
        Path(written).unlink()
        told = {"name": file.name, "status": os.waitstatus_to_exitcode(status), "output": said}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
    os._exit(0)


def _status(file: Path) -> int:
    sys.argv = [str(file)]
    try:
        runpy.run_path(str(file), run_name="__main__")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001 - as an interpreter does
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def parts(files: Sequence[Path], size: int) -> Iterator[Sequence[Path]]:
    """`files` in parts of at most `size`."""
    yield from (files[start : start + size] for start in range(0, len(files), size))


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
