"""What is asked of whatever runs the agents of a cluster: to start them, to carry bytes, and to tell who is gone."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol

from autotest.base.errors import AutotestError


class ClusterUnreachable(AutotestError):
    """There is no cluster at that address, or nobody who may use it."""


class Machine(NamedTuple):
    """A machine of the cluster."""

    #: What no other one is ever called, a later one in its place among them.
    id: str
    #: What people call it.
    name: str
    processors: int


class Lost(NamedTuple):
    """An agent that does not answer any more, and why."""

    why: str


class Engine(Protocol):
    """Runs agents (`autotest.clusters.agent.Agent`) on the machines of a cluster.

    An agent is known by what `start` returned. It is sent one message at a time, which it answers once; any of its
    machine's processes may die at any moment.
    """

    def connect(self) -> None:
        """Reach the cluster, or start it; raises `ClusterUnreachable` in one sentence."""

    def machines(self) -> Sequence[Machine]:
        """The machines that are there now."""

    def start(self, machine: Machine, slots: int) -> Hashable:
        """Have an agent started that takes `slots` processors of `machine`, without waiting for it."""

    def send(self, agent: Hashable, message: bytes) -> None:
        """Give `message` to an agent that owes no answer, without waiting for it."""

    def answers(self, seconds: float) -> Sequence[tuple[Hashable, bytes | Lost]]:
        """What came since, waiting for the first one no longer than `seconds`."""

    def end(self, agent: Hashable) -> None:
        """End an agent and all its processes, at once."""

    def close(self) -> None:
        """Let go of the cluster; end it, if it was started by `connect`."""
