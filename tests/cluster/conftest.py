"""Starts a real Ray cluster on this machine, and looks at its processes."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.campaigns import Campaign
from tests.conftest import ROOT
from tests.fuzz.conftest import (
    command,  # noqa: F401 - the same fixture
    without_settings,
)

#: Maximum number of attempts to start a node. Ray gives up after 30 s, which is too short on a busy machine.
ATTEMPTS = 10
SUITE = ROOT / "tests" / "fuzz" / "suites" / "twenty_six.py"


class Node:
    """A node of the cluster: the process `ray start`, and all processes that it started."""

    def __init__(self, *options: str, environment: dict[str, str], folder: Path) -> None:
        # Without the processes that copy logs and start machines, which these tests do not need.
        without = ("--disable-usage-stats", "--include-log-monitor=false")
        started = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=2", *without, *options]
        self.log = folder / f"node-{secrets.token_hex(2)}.log"
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [*started, f"--object-store-memory={100 << 20}"],
                cwd=folder,
                env={**environment, "PYTHONUNBUFFERED": "1"},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def runs(self) -> bool:
        return self._process.poll() is None

    def has_started(self) -> bool:
        """Wait until the node has joined the cluster; return False if Ray gives up, as it does after 30 s."""
        while "Ray runtime started" not in self.log.read_text():
            if not self.runs():
                return False
            time.sleep(0.2)
        return True

    def kill(self) -> None:
        """Kill the node and all its processes at once, as a power failure does."""
        for pid in in_session(self._process.pid):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()


def in_session(session: int) -> list[int]:
    """Return the ids of the running processes of one session."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, its = stat.read_text().rpartition(")")[2].split()[:4]
            if int(its) == session and state != "Z":
                found.append(int(stat.parent.name))
    return found


def free_port() -> int:
    """Return a free TCP port."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    return False


class RayCluster:
    """A cluster of two nodes. Its client server listens at `address`."""

    def __init__(self, folder: Path) -> None:
        self.environment = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "PYTHONPATH": str(ROOT),
            "TMPDIR": str(folder),
            "RAY_prestart_worker_first_driver": "0",  # as the library starts one
        }
        self._port, self._client = free_port(), free_port()
        self.address, self.folder = f"127.0.0.1:{self._client}", folder
        self.nodes: list[Node] = []

    def start(self, **second: str) -> None:
        """Start both nodes; the second one has the environment variables `second` in addition."""
        if " " in sys.prefix:
            pytest.skip("Ray starts its client server by a shell, which splits the path of this environment at spaces")
        port, client, folder = self._port, self._client, self.folder
        head = ("--head", f"--port={port}", f"--ray-client-server-port={client}", f"--temp-dir={folder}")
        self._add(self.environment, *head, "--include-dashboard=false", "--no-monitor")
        while not _listens(client):
            assert self.nodes[0].runs(), self.nodes[0].log.read_text()
            time.sleep(0.2)
        self._add({**self.environment, **second}, f"--address=127.0.0.1:{port}")

    def _add(self, environment: dict[str, str], *options: str) -> None:
        for _ in range(ATTEMPTS):
            node = Node(*options, environment=environment, folder=self.folder)
            self.nodes.append(node)
            if node.has_started():
                return
            self.nodes.pop().kill()
        raise TimeoutError(node.log.read_text())

    def close(self) -> None:
        for node in reversed(self.nodes):
            node.kill()


@pytest.fixture
def cluster(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[RayCluster]:
    """Start two nodes with two processors each. The fixture's parameter is variables of the second node."""
    import tempfile

    # Not in pytest's folder, because the path of a socket has at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        one = RayCluster(Path(folder))
        for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
            monkeypatch.setenv(name, one.environment[name])
        try:
            one.start(**getattr(request, "param", {}))
            yield one
        finally:
            one.close()


@pytest.fixture
def own_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set a temporary folder of its own for commands that are killed and cannot remove their files."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="killed-", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield


@pytest.fixture
def fuzz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Campaign]]:
    """Return a function that starts `autotest fuzz` in its own folder, for a faulty candidate; kill all of it later."""
    without_settings(monkeypatch)
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object, folder: str = "here", candidate: str = "mixed", **environment: str) -> Campaign:
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        asked = [sys.executable, "-m", "autotest", "fuzz", *map(str, arguments), "--json", "out.json"]
        known = {"AUTOTEST_CANDIDATE": f"tests.support.deadly:{candidate}", "AUTOTEST_SHRINK": "0"}
        process = subprocess.Popen(
            asked,
            cwd=place,
            env={**os.environ, **known, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return Campaign(process, place)

    yield start
    for process in started:
        for pid in in_session(process.pid):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
