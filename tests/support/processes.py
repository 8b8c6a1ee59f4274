"""A cluster engine made of the standard library: each agent is a local process, connected by a pipe."""

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
    """An engine with one machine that has `processors` processors."""

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
        with contextlib.suppress(OSError):  # the death of the process is noticed when its answer is read
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
    """Run in the agent's process: answer messages until the other end closes the pipe or the agent fails."""
    serving = agent()
    try:
        while True:
            pipe.send(serving.answer(pipe.recv_bytes()))
    except EOFError:
        return
    except Exception as error:  # noqa: BLE001 - any end of an agent is one
        pipe.send(Lost(str(error)))
