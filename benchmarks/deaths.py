"""Seconds from a death or a difference to its report, and what replacing a worker takes beside a fresh interpreter.

Leave rows. What importing the frameworks takes is measured by the same test where it passes, and left out.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

from autotest.frameworks import chosen
from autotest.processes.client import Server
from benchmarks.interleave import Spread
from benchmarks.results import Row

ROOT = Path(__file__).parent.parent

_FRESH = """
    from autotest.frameworks import chosen
    for side in (chosen().reference, chosen().candidate):
        side.version
"""
#: OneFlow 0.9.0 dies of a vector by matrices, has no gradient of lgamma, and is right about relu.
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


def replacing(times: int) -> Iterator[Row]:
    """A process that has both frameworks: forked by the server, and as a fresh interpreter, in turns."""
    forked, fresh = [], []
    with contextlib.closing(Server()) as server:
        _forked(server)  # the server imports, too
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
    pair = chosen()
    connection.send([side.version for side in (pair.reference, pair.candidate)])


def reporting(times: int) -> Iterator[Row]:
    """Seconds of a failing test beyond those of one that passes, under pytest."""
    isolated = "--autotest-isolate"
    for name, test, options, verify, goal in (
        ("a crash at trial 0, isolated, with a verified script", "test_dies", [isolated], "1", 8.0),
        ("a difference, with a verified script", "test_differs", [], "1", 8.0),
        ("a difference, without verification", "test_differs", [], "0", 1.5),
    ):
        beyond = []
        for _ in range(times):
            failing, passing = (_session(one, options, verify) for one in (test, "test_passes"))
            beyond.append(failing - passing)
        yield Row("deaths", name, Spread.of(beyond), "s", goal)


def _session(test: str, options: list[str], verify: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "test_timed.py"
        file.write_text(textwrap.dedent(_TESTS), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", test, *options, str(file)]
        return _timed(command, Path(folder), AUTOTEST_VERIFY=verify, AUTOTEST_DIR=str(Path(folder) / "kept"))


def campaign(seconds: float) -> Iterator[Row]:
    """Trials of a campaign over this library's own tests of OneFlow, and the deaths that it looks into a minute."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "summary.json"
        options = ["--time", f"{seconds:g}s", "--seed", "1", "--json", str(told)]
        command = [sys.executable, "-m", "autotest", "fuzz", str(ROOT / "tests" / "alignment"), *options]
        wall = _timed(command, Path(folder), AUTOTEST_DIR=str(Path(folder) / "kept"))
        summary = json.loads(told.read_text(encoding="utf-8"))
    per_minute = 60.0 / seconds
    name = f"trials of `autotest fuzz tests/alignment`, {seconds:g} s"
    yield Row("deaths", name, Spread.of([summary["trials"]]), "", 500.0 * seconds, at_most=False)
    yield Row(
        "deaths", "workers lost and replaced meanwhile, a minute", Spread.of([summary["workers_lost"] * per_minute]), ""
    )
    yield Row("deaths", "seconds that it takes beyond its time, with its start", Spread.of([wall - seconds]), "s", 25.0)


def _timed(command: list[str], folder: Path, **environment: str) -> float:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    begin = time.perf_counter()
    subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment},
        cwd=folder,
        capture_output=True,
        check=False,
    )
    return time.perf_counter() - begin
