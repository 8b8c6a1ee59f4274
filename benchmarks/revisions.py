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
from benchmarks.interleave import Timed
from benchmarks.results import Row
from benchmarks.revision_worker import OPEN

ROOT = Path(__file__).parent.parent
THIS, OTHER = "this checkout", "the other one"
#: Trials of one run: as many as a test has by default.
TRIALS = 20
#: Runs of a test in one turn. Their median counts, so that one interruption of the machine does not.
RUNS = 5
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
                timed = _in_turns(workers, case.name + ending, rounds)
                seconds = {name: statistics.median(times) for name, times in timed.seconds.items()}
                about = f"this checkout / the other one, small, {section}"
                yield Row(about, case.name, timed.ratio(THIS, OTHER), "x", goal, True, seconds)


def _in_turns(workers: dict[str, subprocess.Popen[str]], name: str, rounds: int) -> Timed:
    seconds: dict[str, list[float]] = {who: [] for who in workers}
    order = list(workers)
    for who in order:
        _turn(workers[who], name)  # imports, and fills caches
    for _ in range(rounds):
        for who in order:
            seconds[who].append(_turn(workers[who], name))
        order.reverse()
    return Timed(seconds)


def _turn(worker: subprocess.Popen[str], name: str) -> float:
    assert worker.stdin is not None
    assert worker.stdout is not None
    times = []
    for _ in range(RUNS):
        worker.stdin.write(f"{name} {TRIALS}\n")
        worker.stdin.flush()
        times.append(float(worker.stdout.readline()))
    return statistics.median(times)


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
