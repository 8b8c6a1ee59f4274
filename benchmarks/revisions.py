"""Times trials of this checkout and of another one, in turns of two processes of one run."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.cases import CASES
from benchmarks.interleave import Trials, interleaved
from benchmarks.results import Row
from benchmarks.revision_worker import OPEN

ROOT = Path(__file__).parent.parent
THIS, OTHER = "this checkout", "the other one"
#: Trials of one turn, which is a run of one test: a request to a process costs a hundredth of them.
TRIALS = 60
#: How many times as long as in the other checkout a trial may take.
GOAL = 1.03


def revisions(other: Path, rounds: int, only: str, this: Path = ROOT) -> Iterator[Row]:
    """How many times as long a trial takes in the checkout `this` as in `other`, for each case of `benchmarks.cases`.

    Both run the bodies of this benchmark, once with everything said (which earlier revisions drew without being told)
    and once with dtype, contents and layout left open, which each revision draws as it does.
    """
    with contextlib.ExitStack() as stack:
        workers = {name: stack.enter_context(_worker(root)) for name, root in ((THIS, this), (OTHER, other))}
        for ending, section, goal in (("", "all said", GOAL), (OPEN, "left open", None)):
            for case in CASES:
                if only not in case.name:
                    continue
                contenders = {name: _trials(worker, case.name + ending) for name, worker in workers.items()}
                timed = interleaved(contenders, rounds, count=TRIALS)
                seconds = {name: statistics.median(times) for name, times in timed.seconds.items()}
                about = f"this checkout / the other one, small, {section}"
                yield Row(about, case.name, timed.ratio(THIS, OTHER), "x", goal, True, seconds)


def _trials(worker: subprocess.Popen[str], name: str) -> Trials:
    def trials(count: int) -> None:
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(f"{name} {count}\n")
        worker.stdin.flush()
        worker.stdout.readline()

    return trials


@contextlib.contextmanager
def _worker(root: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that runs the library of the checkout `root` with the benchmarks of this one.

    Python looks in the working folder first, so links in an empty folder choose the packages.
    """
    with tempfile.TemporaryDirectory() as folder:
        for package, where in (("autotest", root), ("generators", root), ("benchmarks", ROOT)):
            Path(folder, package).symlink_to(where.absolute() / package)
        command = [sys.executable, "-m", "benchmarks.revision_worker"]
        environment = os.environ | {"AUTOTEST_DIR": str(Path(folder, "store"))}
        with subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                yield process
            finally:
                process.kill()
