"""Measures the time from a crash or mismatch to its report, and to replace a worker against a fresh interpreter.

The functions yield rows. The time of importing the frameworks is measured with a passing test, and subtracted.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from autotest.emission import compact
from autotest.emission.checker import Runs
from autotest.emission.script_subject import ScriptSubject
from autotest.frameworks import chosen_pair
from autotest.processes.client import Server
from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.results.verification import State, Verification
from benchmarks.interleave import Spread
from benchmarks.results import Row

ROOT = Path(__file__).parent.parent

_FRESH = """
    from autotest.frameworks import chosen_pair
    for side in (chosen_pair().reference, chosen_pair().candidate):
        side.version
"""
#: OneFlow 0.9.0 crashes in a product of a vector and matrices, has no gradient of lgamma, and computes relu correctly.
_TESTS = """
    from autotest import autotest, random, random_tensor, torch

    @autotest(n=3)
    def test_dies():
        return torch.matmul(random_tensor(ndim=1, dim0=3), random_tensor(shape=(2, 3, 4)))

    @autotest(n=3)
    def test_differs():
        x = random_tensor(ndim=3, dim0=random(2, 6), dim1=random(2, 6), low=1, high=5)
        return torch.lgamma(torch.exp(x * 0.1) + torch.relu(x))

    @autotest(n=3)
    def test_passes():
        return torch.relu(random_tensor(ndim=2))
"""

#: Name, test, options, value of ``AUTOTEST_VERIFY`` (whether the script is run), and maximum seconds.
_REPORTS = (
    ("a crash at trial 0, isolated, with a verified script", "test_dies", ["--autotest-isolate"], "1", 8.0),
    ("a difference, with a verified script", "test_differs", [], "1", 8.0),
    ("a difference, without verification", "test_differs", [], "0", 1.5),
)


def replacing(times: int) -> Iterator[Row]:
    """Yield the time to get a process with both frameworks, forked by the server or, in turns, freshly started."""
    forked, fresh = [], []
    with contextlib.closing(Server()) as server:
        _forked(server)  # not timed, because the server imports the frameworks now
        for _ in range(times):
            forked.append(_forked(server))
            fresh.append(_timed([sys.executable, "-c", textwrap.dedent(_FRESH)], ROOT))
    seconds = {"forked": Spread.of(forked).median, "fresh": Spread.of(fresh).median}
    yield Row("deaths", "replacing a dead worker", Spread.of(forked), "s", 0.3, seconds=seconds)


def _forked(server: Server) -> float:
    begin = time.perf_counter()
    with contextlib.closing(server.process(_ready)) as process:
        process.connection.recv()
        return time.perf_counter() - begin


def _ready(connection: Connection, server: socket.socket) -> None:
    pair = chosen_pair()
    connection.send([side.version for side in (pair.reference, pair.candidate)])


def script_seconds(times: int) -> Iterator[Row]:
    """Yield the time to run the script of a crash: one that crashes in a fork, and one in another interpreter."""
    taken: dict[bool, list[float]] = {True: [], False: []}
    data = [Array(np.zeros(shape, "float32"), "float32") for shape in ((1,), (1, 1, 1))]
    tensors = [tensor_call(slot, slot, array, requires_grad=False) for slot, array in enumerate(data)]
    program = Program((*tensors, Call("function", "matmul", (Ref(0), Ref(1)), {}, 2)), tuple(data))
    sides = chosen_pair().scripts(program)
    with tempfile.TemporaryDirectory() as folder:
        for _, (forked, seconds) in itertools.product(range(times), taken.items()):
            text = compact.dying_candidate(ScriptSubject(program, sides, "matmul", []), Runs(forked=forked))
            assert text is not None
            script = Path(folder) / "repro.py"
            script.write_text(text, encoding="utf-8")
            seconds.append(_timed([sys.executable, str(script)], Path(folder)))
    told = {"forked": Spread.of(taken[True]).median, "two interpreters": Spread.of(taken[False]).median}
    yield Row("deaths", "running the script of a crash", Spread.of(taken[True]), "s", seconds=told)


def reporting(times: int, root: Path = ROOT) -> Iterator[Row]:
    """Yield the additional seconds of failing tests against a passing one, under pytest, with the library in `root`."""
    beyond: dict[str, list[float]] = {}
    for _ in range(times):
        for options in (["--autotest-isolate"], []):
            passing = _session("test_passes", options, "1", root)
            for name, test, wanted, verify, _ in _REPORTS:
                if wanted == options:
                    beyond.setdefault(name, []).append(_session(test, options, verify, root) - passing)
    for name, *_, goal in _REPORTS:
        yield _row(root, name, Spread.of(beyond[name]), "s", goal)


def _session(test: str, options: list[str], verify: str, root: Path) -> float:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "test_timed.py"
        file.write_text(textwrap.dedent(_TESTS), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", test, *options, str(file)]
        kept = str(Path(folder) / "kept")
        return _timed(command, Path(folder), root, AUTOTEST_VERIFY=verify, AUTOTEST_DIR=kept)


def campaign(seconds: float, root: Path = ROOT) -> Iterator[Row]:
    """Yield the trials of a campaign over the OneFlow tests in `root`. Its ledger expects most of their crashes."""
    summary, wall = _campaign(root / "tests" / "alignment", seconds, root)
    name = f"trials of `autotest fuzz tests/alignment`, {seconds:g} s"
    yield _row(root, name, Spread.of([summary["trials"]]), "", 500.0 * seconds, at_most=False)
    yield _row(root, "processes lost meanwhile", Spread.of([summary["workers_lost"]]), "")
    beyond = Spread.of([wall - seconds])
    yield _row(root, "seconds that it takes beyond its time, with its start", beyond, "s", 25.0)


def diagnosis_rate(seconds: float, root: Path = ROOT) -> Iterator[Row]:
    """Yield the crashes that a campaign diagnoses per minute. About forty of its tests crash, none is in a ledger."""
    with tempfile.TemporaryDirectory() as folder:
        edges = Path(folder) / "test_edges.py"
        shutil.copy(root / "tests" / "alignment" / edges.name, edges)
        summary, _ = _campaign(edges, seconds, root)
    dead = [found for found in summary["findings"] if found["symptom"] == "crash"]
    traced = [found for found in dead if found["verified"] != str(Verification(State.WAITING))]
    for name, many, goal in (
        ("deaths looked into, a minute of campaign", len(traced), 30.0),
        ("those of them with a script that dies", _proved(dead), None),
    ):
        yield _row(root, name, Spread.of([many * 60.0 / seconds]), "", goal, at_most=False)


def six(seconds: float, root: Path = ROOT) -> Iterator[Row]:
    """Yield the scripts for six of 26 operators that end differently: a hang, no memory, an exit, three signals."""
    suite = root / "tests" / "fuzz" / "suites" / "twenty_six.py"
    summary, _ = _campaign(suite, seconds, root, AUTOTEST_CANDIDATE="tests.support.deadly:six")
    name = f"scripts that die, of six kinds of death, in {seconds:g} s"
    yield _row(root, name, Spread.of([_proved(summary["findings"])]), "", 6.0, at_most=False)


def _proved(findings: list[dict[str, Any]]) -> int:
    return sum(found["verified"].startswith(str(Verification(State.VERIFIED))) for found in findings)


def _row(root: Path, name: str, spread: Spread, unit: str, goal: float | None = None, *, at_most: bool = True) -> Row:
    """Return a row; the goal applies only to the library of this checkout."""
    if root == ROOT:
        return Row("deaths", name, spread, unit, goal, at_most)
    return Row("deaths", f"{name} ({root.name})", spread, unit)


def _campaign(tests: Path, seconds: float, root: Path, **environment: str) -> tuple[dict[str, Any], float]:
    """Return the JSON summary of a campaign, and its wall-clock seconds."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "summary.json"
        options = ["--time", f"{seconds:g}s", "--seed", "1", "--json", str(told)]
        command = [sys.executable, "-m", "autotest", "fuzz", str(tests), *options]
        kept = str(Path(folder) / "kept")
        wall = _timed(command, Path(folder), root, AUTOTEST_DIR=kept, **environment)
        return json.loads(told.read_text(encoding="utf-8")), wall


def _timed(command: list[str], folder: Path, root: Path = ROOT, **environment: str) -> float:
    paths = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
    begin = time.perf_counter()
    subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment},
        cwd=folder,
        capture_output=True,
        check=False,
    )
    return time.perf_counter() - begin
