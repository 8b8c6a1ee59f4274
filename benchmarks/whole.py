"""Measures what requires fresh processes: import times, memory after many trials, and the gain from more workers.

Each function starts its own interpreters and yields rows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

from benchmarks.interleave import Spread
from benchmarks.results import Row

ROOT = Path(__file__).parent.parent

_GENERATORS = """
    import sys, time
    import numpy
    begin = time.perf_counter()
    import generators
    generators.random, generators.random_array
    print(time.perf_counter() - begin)
    assert "torch" not in sys.modules
"""
_AUTOTEST = """
    import time
    from autotest.frameworks.oneflow_import import import_oneflow
    import torch
    import_oneflow()
    begin = time.perf_counter()
    import autotest
    autotest.autotest, autotest.torch, autotest.random_tensor, autotest.random
    print(time.perf_counter() - begin)
"""
_MEMORY = """
    import os, resource
    import autotest
    def body():
        x = autotest.random_tensor(ndim=2, dim0=autotest.random(1, 6), dim1=autotest.random(1, 6))
        return autotest.torch.relu(x)
    def peak(trials, seed):
        os.environ["AUTOTEST_SEED"] = str(seed)
        autotest.autotest(n=trials)(body)()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    few = peak({few}, 1)
    print(peak({rest}, 2) / few)
"""
_TESTS = """
    from autotest import autotest, random_tensor, torch

    @autotest(n=1)
    def test_relu():
        return torch.relu(random_tensor(ndim=2))

    @autotest(n=1)
    def test_chain():
        x = random_tensor(ndim=2)
        return torch.sigmoid(torch.tanh(x) * x + x)
"""


def importing(times: int) -> Iterator[Row]:
    """Yield the seconds that imports take, each in fresh interpreters."""
    for name, code, goal in (
        ("import generators (NumPy imported before)", _GENERATORS, 0.15),
        ("import autotest, beside both frameworks", _AUTOTEST, 0.2),
    ):
        yield Row("imports", name, Spread.of([_number(code) for _ in range(times)]), "s", goal)


def memory(trials: int) -> Iterator[Row]:
    """Yield the ratio of the peak memory after `trials` relu trials to that after a tenth of them."""
    grown = _number(_MEMORY.replace("{few}", str(trials // 10)).replace("{rest}", str(trials - trials // 10)))
    name = f"peak after {trials:,} trials / after {trials // 10:,}"
    yield Row("memory", name, Spread.of([grown]), "x", 1.05)


def workers(seconds: float, times: int) -> Iterator[Row]:
    """Yield the trials of two and of four workers / of one worker, in alternating campaigns of `seconds` seconds."""
    goals = {jobs: goal for jobs, goal in ((2, 1.8), (4, 3.4)) if jobs <= max(2, len(os.sched_getaffinity(0)))}
    ratios: dict[int, list[float]] = {jobs: [] for jobs in goals}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "test_timed.py"
        file.write_text(textwrap.dedent(_TESTS), encoding="utf-8")
        for seed in range(1, times + 1):
            one = _campaign(file, 1, seconds, seed)
            for jobs, known in ratios.items():
                known.append(_campaign(file, jobs, seconds, seed) / one)
    for jobs, goal in goals.items():
        name = f"trials of {jobs} workers / of one, {seconds:g} s each"
        yield Row("workers", name, Spread.of(ratios[jobs]), "x", goal, at_most=False)


def isolation(few: int, many: int, times: int) -> Iterator[Row]:
    """Yield the time of one more trial in a worker process / in the campaign's own process, in alternation.

    Each time is the difference of two campaigns with `few` and `many` trials per test, so that the cost of starting
    cancels out.
    """
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "test_timed.py"
        file.write_text(textwrap.dedent(_TESTS), encoding="utf-8")
        for seed in range(1, times + 1):
            here, apart = (_marginal(file, jobs, few, many, seed) for jobs in (0, 1))
            ratios.append(apart / here)
    yield Row("workers", "a trial in a worker / in the same process", Spread.of(ratios), "x", 1.02)


def _marginal(file: Path, jobs: int, few: int, many: int, seed: int) -> float:
    trials, seconds = zip(
        *(
            run_and_count(file, f"--trials {count} --jobs {jobs} --seed {seed} --no-error-parity")
            for count in (few, many)
        ),
        strict=True,
    )
    return float((seconds[1] - seconds[0]) / (trials[1] - trials[0]))


def _campaign(file: Path, jobs: int, seconds: float, seed: int) -> float:
    """Return the trials per second of one campaign."""
    trials, took = run_and_count(file, f"--time {seconds}s --jobs {jobs} --seed {seed}")
    return trials / took


def run_and_count(file: Path, options: str) -> tuple[int, float]:
    """Run one campaign with these options, and return the number of its trials and its seconds."""
    report = file.parent / "summary.json"
    report.unlink(missing_ok=True)
    # The exit status reports findings, which do not matter here.
    subprocess.run(
        [sys.executable, "-m", "autotest", "fuzz", str(file), *options.split(), "--json", str(report)],
        env=environment(),
        cwd=file.parent,
        capture_output=True,
        check=False,
    )
    summary = json.loads(report.read_text(encoding="utf-8"))
    return int(summary["trials"]), float(summary["seconds"])


def _number(code: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            env=environment(),
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"a process that was to be timed failed:\n{done.stderr}")
    return float(done.stdout.split()[-1])


def environment() -> dict[str, str]:
    """Return the environment variables for a process that imports the library and benchmarks of this checkout."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
