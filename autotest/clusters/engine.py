"""The interface to the software that runs a cluster: it starts agents, carries messages, and reports lost agents."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol

from autotest.base.errors import AutotestError


class ClusterUnreachable(AutotestError):
    """There is no cluster at that address, or this process may not use it."""


class Machine(NamedTuple):
    """A machine of the cluster."""

    #: Its unique id, which is never used for another machine, not even for its replacement.
    id: str
    #: Its name for display.
    name: str
    processors: int


class Lost(NamedTuple):
    """The reason why an agent no longer answers."""

    why: str


class Engine(Protocol):
    """Interface for running agents (`autotest.clusters.agent.Agent`) on the machines of a cluster.

    An agent is identified by the return value of `start`. It receives one message at a time and answers it once. Any
    process on its machine may die at any moment.
    """

    def connect(self) -> None:
        """Connect to the cluster, or start it. Raises `ClusterUnreachable` with a message of one sentence."""

    def machines(self) -> Sequence[Machine]:
        """Return the machines that are there now."""

    def start(self, machine: Machine, slots: int) -> Hashable:
        """Start an agent that uses `slots` processors of `machine`, without waiting for it. Returns its identifier."""

    def send(self, agent: Hashable, message: bytes) -> None:
        """Send `message` to an agent that owes no answer, without waiting for it."""

    def answers(self, seconds: float) -> Sequence[tuple[Hashable, bytes | Lost]]:
        """Return the answers since the last call; wait at most `seconds` for the first one."""

    def end(self, agent: Hashable) -> None:
        """Kill an agent and all its processes, at once."""

    def close(self) -> None:
        """Disconnect from the cluster; shut it down if `connect` started it."""
