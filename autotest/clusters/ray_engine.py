"""Runs the agents of a cluster as actors of Ray: https://docs.ray.io."""

from __future__ import annotations

import contextlib
import functools
import re
import secrets
import shutil
import signal
import socket
import tempfile
import threading
import time
import warnings
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

from autotest.base.environment import variables
from autotest.base.errors import UsageError
from autotest.base.temporary_folders import STALE, is_running, remove_old
from autotest.clusters.agent import Agent
from autotest.clusters.engine import ClusterUnreachable, Lost, Machine

#: Seconds for a cluster to accept a connection.
REACHED = 5.0
#: How many times a connection to a cluster, or the start of one, is tried.
ATTEMPTS = 3
#: Bytes of shared memory for a cluster started here: only findings go through it.
_OBJECTS = 100 << 20
#: Settings of a cluster started here: it listens on this machine only, requires a token, and sends no usage statistics.
_ALONE = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # this uses the loopback address, on Linux too
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    # Its workers have the same priority as those of the local executor; Ray's default is lower.
    "RAY_worker_niceness": "0",
    # Only agents run in it, so no workers need to be started in advance for tasks.
    "RAY_prestart_worker_first_driver": "0",
}
#: Messages of a machine that lacks this library or has another version of it, and the advice to the user.
_MISSING = re.compile("No module named '(autotest|generators|numpy)|[Vv]ersion mismatch")
_INSTALL = "install the same Python, Ray, dual-autotest[ray] and frameworks on every machine of the cluster"
#: Ray's messages if the address is not that of a client server, and if the client server is of another version.
_NOT_TAKEN, _FAILS_THERE = "ray client connection timeout", "Initialization failure from server"
_CLIENT_SERVER = (
    "expected the client server of a Ray cluster, which `ray start --head` opens on port 10001 (6379 and 8265 are its "
    "other services), and the same RAY_AUTH_MODE and RAY_AUTH_TOKEN as there"
)
#: Entries of the working directory that are not copied, in addition to those that .gitignore names.
_STAYS = (".autotest", ".git", ".venv", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache")


class RayEngine:
    """A cluster of Ray: one that is started on this machine, or one that is already running."""

    def __init__(self, address: str = "", processors: int | None = None, agent: type = Agent) -> None:
        """Prepare for a cluster; `connect` connects to it or starts it.

        Args:
            address: ``HOST:PORT`` of a cluster's client server, or ``auto`` for the cluster that this machine belongs
                to. If empty, a cluster is started on this machine.
            processors: the number of processors of a cluster that is started here.
            agent: the class that runs on each machine.

        Raises:
            UsageError: if the address is not valid.
        """
        if address not in ("", "auto"):
            _split(address)
        self._address, self._processors, self._agent = address, processors, agent
        self._ray: Any = None
        self._folder: str | None = None
        self._actors: dict[Hashable, Any] = {}
        self._due: dict[Any, Hashable] = {}
        #: Agents to which no message could be sent, or that could not be started.
        self._gone: dict[Hashable, Lost] = {}
        self._numbers = 0

    @property
    def brings_files(self) -> bool:
        """Whether agents run in a copy of the working directory instead of in the directory itself."""
        return bool(self._address)

    def connect(self) -> None:
        if self._address not in ("", "auto"):
            _reach(self._address)
        with _handlers_kept():
            if self._address:
                self._join()
            else:
                self._begin()

    def _begin(self) -> None:
        """Start a cluster on this machine, which ends with this process."""
        remove_old(_of_dead_drivers(Path(tempfile.gettempdir())), STALE)
        for attempt in range(ATTEMPTS):
            self._folder = tempfile.mkdtemp(prefix="autotest-")
            # The temporary files of all its processes are removed with this folder.
            with variables({**_ALONE, "RAY_AUTH_TOKEN": _token(), "TMPDIR": self._folder}):
                self._ray = _ray()
                try:
                    self._ray.init(
                        address="local",
                        num_cpus=self._processors,
                        include_dashboard=False,
                        log_to_driver=False,
                        logging_level="error",
                        object_store_memory=_OBJECTS,
                        _temp_dir=self._folder,
                    )
                except Exception as error:  # Ray gives up after 30 s, which is too short on a busy machine
                    self.close()
                    if attempt + 1 == ATTEMPTS:
                        raise ClusterUnreachable(
                            f"--executor ray: Ray does not start here: {_summary(error)}"
                        ) from error
                else:
                    return

    def _join(self) -> None:
        self._ray = _ray()
        given = {"working_dir": str(Path.cwd()), "excludes": list(_STAYS)}
        address = "auto" if self._address == "auto" else f"ray://{self._address}"
        quiet = {"log_to_driver": False} if address == "auto" else {}
        for attempt in range(ATTEMPTS):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # Ray also raises what it warns of
                    self._ray.init(address, runtime_env=given, logging_level="error", **quiet)
            except Exception as error:  # noqa: PERF203 - Ray raises the errors of its transport
                # A busy head node may need longer to start the server for this process than Ray waits for it.
                if attempt + 1 == ATTEMPTS or not isinstance(error, ConnectionError):
                    raise ClusterUnreachable(f"--executor ray://{self._address}: {_summary(error)}") from error
            else:
                return

    def machines(self) -> Sequence[Machine]:
        try:
            nodes = [node for node in self._ray.nodes() if node["Alive"]]
        except Exception:  # noqa: BLE001 - a cluster that cannot be queried has no machines for now
            nodes = []
        if not nodes and not self._address:
            self._again()
        return [
            Machine(node["NodeID"], node["NodeManagerAddress"], int(node["Resources"].get("CPU", 0)))
            for node in nodes
            if node["Resources"].get("CPU", 0) >= 1
        ]

    def _again(self) -> None:
        """Start the local cluster again, because its main process was killed."""
        self.close()
        self.connect()

    def start(self, machine: Machine, slots: int) -> Hashable:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._numbers += 1
        made = self._ray.remote(self._agent).options(
            num_cpus=slots,
            max_restarts=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(machine.id, soft=False),
        )
        try:
            self._actors[self._numbers] = made.remote()
        except ImportError as error:  # the class is imported in the client server
            raise ClusterUnreachable(f"--executor ray://{self._address}: {_summary(error)}") from error
        except Exception as error:  # noqa: BLE001 - reported by `answers`
            self._gone[self._numbers] = self._lost(error)
        return self._numbers

    def send(self, agent: Hashable, message: bytes) -> None:
        try:
            self._due[self._actors[agent].answer.remote(message)] = agent
        except Exception as error:  # noqa: BLE001 - Ray raises the errors of its transport
            self._gone.setdefault(agent, self._lost(error))

    def answers(self, seconds: float) -> Sequence[tuple[Hashable, bytes | Lost]]:
        gone, self._gone = list(self._gone.items()), {}
        if not self._due:
            time.sleep(0.0 if gone else seconds)
            return gone
        try:
            ready, rest = self._ray.wait(list(self._due), num_returns=1, timeout=0 if gone else seconds)
            if ready and rest:
                ready += self._ray.wait(rest, num_returns=len(rest), timeout=0)[0]
        except Exception as error:  # noqa: BLE001 - the state of every agent is unknown now
            lost, agents, self._due = self._lost(error), list(self._due.values()), {}
            return [*gone, *((agent, lost) for agent in agents)]
        return [*gone, *((self._due.pop(one), self._answer(one)) for one in ready)]

    def _lost(self, error: Exception) -> Lost:
        """Return the loss of an agent if Ray itself fails on a cluster started here.

        Raises `ClusterUnreachable` if the cluster was not started here.
        """
        if not self._address:
            return Lost(_summary(error))  # another cluster is started
        raise ClusterUnreachable(
            f"--executor ray://{self._address}: the connection to the cluster is lost ({_summary(error)}); when it is "
            "available again, --resume continues"
        ) from error

    def _answer(self, reference: Any) -> bytes | Lost:
        try:
            answer: bytes = self._ray.get(reference)
        except Exception as error:  # noqa: BLE001 - Ray has many exceptions for an actor that died
            return Lost(_summary(error))
        return answer

    def end(self, agent: Hashable) -> None:
        actor = self._actors.pop(agent, None)
        self._gone.pop(agent, None)
        self._due = {reference: other for reference, other in self._due.items() if other != agent}
        with contextlib.suppress(Exception):
            self._ray.kill(actor)

    def close(self) -> None:
        if self._ray is not None:
            with contextlib.suppress(Exception):
                self._ray.shutdown()
        self._actors.clear()
        self._due.clear()
        self._gone.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _of_dead_drivers(folder: Path) -> Iterator[Path]:
    """Yield the folders of local clusters whose drivers have no process on this machine.

    The names of the folders do not contain the drivers' numbers, since the paths of Ray's sockets must be short. But
    those of its sessions do.
    """
    for session in folder.glob("autotest-*/session_latest"):
        with contextlib.suppress(OSError):
            if not is_running(session.readlink().name.rpartition("_")[2]):
                yield session.parent


@functools.cache
def _token() -> str:
    """Return the token with which the processes of a local cluster authenticate. Ray reads it once in a process."""
    return secrets.token_hex(32)


def _ray() -> Any:
    try:
        # Under `uv run`, Ray would read every file of the working directory and start all workers by uv. Reading an
        # open SQLite file makes it lose its locks. Ray reads this variable when it is imported.
        with variables({"RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}):
            import ray
    except ImportError as error:
        raise UsageError(
            f"--executor ray: Ray cannot be imported here ({error}); install dual-autotest[ray], here and on every "
            "machine of the cluster"
        ) from error
    return ray


def _split(address: str) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``; raise `UsageError` if it is not of this form."""
    host, _, port = address.rpartition(":")
    if not host or re.search(r"[/@\s]", host) or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise UsageError(f"--executor ray://{address}: expected ray://HOST:PORT, such as ray://10.0.0.1:10001")
    return host.strip("[]"), int(port)


def _reach(address: str) -> None:
    """Raise `ClusterUnreachable` within seconds if nothing listens at `address`; Ray itself needs half a minute."""
    try:
        socket.create_connection(_split(address), REACHED).close()
    except OSError as error:
        raise ClusterUnreachable(
            f"--executor ray://{address}: no server answers at this address ({error}); expected the client server of "
            "a Ray cluster, which `ray start --head` opens on port 10001"
        ) from error


def _summary(error: Exception) -> str:
    """Return the most informative line of an error message of Ray, with advice if there is any."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "Error" in line and "ray::" not in line]
    if lines and lines[0].startswith("Could not find any running Ray instance"):
        return (
            "no Ray cluster runs on this machine; `ray start --head` starts one, `ray start --address=HOST:PORT` joins"
        )
    if lines and lines[0] == _NOT_TAKEN:
        return f"the cluster does not accept this process ({lines[0]}); {_CLIENT_SERVER}"
    if lines and lines[0].startswith(_FAILS_THERE):  # usually the versions differ
        return f"{lines[0]} {lines[-1]}"[:300] + f"; {_INSTALL}"
    if lines and lines[0].endswith(":"):  # the lines below list the versions that differ
        telling = [" ".join(lines)]
    said = (telling[-1:] or lines[:1] or [type(error).__name__])[0][:300]
    return f"{said}; {_INSTALL}" if _MISSING.search(said) else said


@contextlib.contextmanager
def _handlers_kept() -> Iterator[None]:
    """Restore signal handlers at exit: Ray replaces that of SIGTERM, by which a campaign saves its progress."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
