"""The contract of every cluster engine, as a function that checks one. As a script, it checks the Ray engine."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Hashable

from autotest.clusters.engine import Engine, Lost
from autotest.clusters.ray_engine import RayEngine

#: Maximum seconds that an operation may take, even on a busy machine.
ANSWER_TIMEOUT = 120.0


class Echo:
    """An agent that answers each message with the previous one, unless the message tells it to fail or exit."""

    def __init__(self) -> None:
        self._before = b"nothing"

    def answer(self, message: bytes) -> bytes:
        if message == b"fail":
            raise RuntimeError("told to fail")
        if message == b"exit":
            os._exit(3)
        before, self._before = self._before, message
        return before


def answered(engine: Engine, count: int) -> dict[Hashable, bytes | Lost]:
    """Return the next `count` answers, by agent."""
    found: dict[Hashable, bytes | Lost] = {}
    end = time.monotonic() + ANSWER_TIMEOUT
    while len(found) < count:
        assert time.monotonic() < end, f"{len(found)} of {count} answers came in {ANSWER_TIMEOUT:g} s"
        found.update(engine.answers(1.0))
    return found


def check(engine: Engine, *, processes: bool) -> None:
    """Raise `AssertionError` if `engine`, which has room for two `Echo` agents, violates the contract.

    `processes` is whether its agents are processes, which may die.
    """
    engine.connect()
    machines = engine.machines()
    assert len({machine.id for machine in machines}) == len(machines) > 0
    assert all(machine.processors >= 1 for machine in machines)
    assert engine.answers(0.01) == [], "nobody was asked"

    first, second = (engine.start(machines[0], 1) for _ in range(2))
    assert first != second
    for message in (b"one", b"two", b"\0" * 3_000_000, b"four"):
        engine.send(first, message)
        engine.send(second, b"to the other: " + message)
        told = answered(engine, 2)
    # Each agent has its own memory, and receives its messages complete and in order.
    assert told == {first: b"\0" * 3_000_000, second: b"to the other: " + b"\0" * 3_000_000}

    engine.send(first, b"fail")
    lost = answered(engine, 1)[first]
    assert isinstance(lost, Lost)
    assert "told to fail" in lost.why
    engine.end(first)
    engine.send(second, b"still there")
    assert answered(engine, 1) == {second: b"to the other: four"}

    third = engine.start(machines[0], 1)
    engine.send(third, b"hello")
    assert answered(engine, 1) == {third: b"nothing"}, "another agent begins anew"
    if processes:
        engine.send(third, b"exit")
        assert isinstance(answered(engine, 1)[third], Lost)
    engine.end(third)
    # An agent that was ended sends no more answers, even to earlier messages.
    engine.send(second, b"too late")
    engine.end(second)
    assert engine.answers(0.5) == []
    engine.close()
    engine.close()


if __name__ == "__main__":
    check(RayEngine(processors=2, agent=Echo), processes=True)
    sys.exit(0)
