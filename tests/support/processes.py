"""An engine of the standard library: each agent is a process of this machine, at the other end of a pipe."""

from __future__ import annotations

import contextlib
import multiprocessing
import time
from collections.abc import Hashable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from autotest.clusters.engine import Lost, Machine


class Processes:
    """One machine with so many processors."""

    def __init__(self, processors: int, agent: type[Any]) -> None:
        self._processors, self._agent = processors, agent
        self._agents: dict[Hashable, tuple[SpawnProcess, Connection]] = {}
        self._owing: dict[Any, Hashable] = {}
        self._numbers = 0

    def connect(self) -> None:
        pass

    def machines(self) -> Sequence[Machine]:
        return [Machine("here", "here", self._processors)]

    def start(self, machine: Machine, slots: int) -> Hashable:
        context = multiprocessing.get_context("spawn")
        own, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._agent), daemon=True)
        process.start()
        theirs.close()
        self._numbers += 1
        self._agents[self._numbers] = process, own
        return self._numbers

    def send(self, agent: Hashable, message: bytes) -> None:
        pipe = self._agents[agent][1]
        self._owing[pipe] = agent
        with contextlib.suppress(OSError):  # that it has died is found where its answer is looked for
            pipe.send_bytes(message)

    def answers(self, seconds: float) -> Sequence[tuple[Hashable, bytes | Lost]]:
        if not self._owing:
            time.sleep(seconds)
            return []
        return [(self._owing.pop(pipe), _received(pipe)) for pipe in wait(list(self._owing), seconds)]

    def end(self, agent: Hashable) -> None:
        process, pipe = self._agents.pop(agent)
        self._owing.pop(pipe, None)
        process.kill()
        process.join()
        pipe.close()

    def close(self) -> None:
        for agent in list(self._agents):
            self.end(agent)


def _received(pipe: Any) -> bytes | Lost:
    try:
        said: bytes | Lost = pipe.recv()
    except (EOFError, OSError) as error:
        return Lost(f"its process ended ({type(error).__name__})")
    return said


def _serve(pipe: Connection, agent: type[Any]) -> None:
    """In the process: answer until the other end is closed, or something fails."""
    serving = agent()
    try:
        while True:
            pipe.send(serving.answer(pipe.recv_bytes()))
    except EOFError:
        return
    except Exception as error:  # noqa: BLE001 - any end of an agent is one
        pipe.send(Lost(str(error)))
