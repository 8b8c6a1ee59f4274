"""A cluster engine whose agents are threads of this process, and agents that only send prepared answers."""

from __future__ import annotations

import pickle
import queue
import threading
import time
from collections.abc import Callable, Hashable, Sequence

from autotest.clusters.engine import Lost, Machine
from autotest.clusters.messages import (
    Facts,
    Package,
    Report,
    SentResult,
    SentTask,
    Shutdown,
    TaskBatch,
    digest_of_library,
)
from autotest.results.tasks import Explore, Explored, Result, Task, Vanished

#: A function that turns a message to an agent into its answer. If it raises, the agent ends.
Answer = Callable[[bytes], bytes]


class Idle:
    """An agent that waits for `seconds` seconds per task, and then reports the task as done."""

    GROUP = "torch 2.0.1 / nothing 1 on cpu"

    def __init__(
        self, group: str = GROUP, trouble: str = "", differing: Sequence[str] = (), seconds: float = 0.0
    ) -> None:
        self.facts = Facts(group, digest_of_library(), differing, trouble)
        self._seconds = seconds
        self._under_way: list[tuple[float, SentTask]] = []

    def answer(self, message: bytes) -> bytes:
        asked: Package | TaskBatch | Shutdown = pickle.loads(message)
        if isinstance(asked, Package):
            return pickle.dumps(self.facts)
        if isinstance(asked, TaskBatch):
            now = time.monotonic()
            self._under_way += [(now + self._seconds, one) for one in asked.tasks]
            time.sleep(max(0.0, min(asked.seconds, min((due for due, _ in self._under_way), default=now) - now)))
            done = [one for due, one in self._under_way if due <= time.monotonic()]
            self._under_way = [one for one in self._under_way if one[1] not in done]
            return pickle.dumps(self.report([SentResult(one.number, self.result(one.task), {}) for one in done]))
        return pickle.dumps(asked)

    def report(self, results: list[SentResult]) -> Report:
        return Report(results)

    def result(self, task: Task) -> Result:
        if not isinstance(task, Explore):
            return Vanished()
        return Explored(done=len(task.indices), accepted=len(task.indices))


class Threads:
    """An engine with the given machines: name -> its number of processors, and a factory of its agents."""

    def __init__(self, machines: dict[str, tuple[int, Callable[[], Idle]]]) -> None:
        self.there = dict(machines)
        self.started: list[str] = []
        self._inboxes: dict[Hashable, queue.SimpleQueue[bytes | None]] = {}
        self._answers: queue.SimpleQueue[tuple[Hashable, bytes | Lost]] = queue.SimpleQueue()

    def connect(self) -> None:
        pass

    def machines(self) -> Sequence[Machine]:
        return [Machine(name, name, processors) for name, (processors, _) in self.there.items()]

    def start(self, machine: Machine, slots: int) -> Hashable:
        self.started.append(machine.id)
        name = f"{machine.id}-{len(self.started)}"
        inbox = self._inboxes[name] = queue.SimpleQueue()
        agent = self.there[machine.id][1]()

        def run() -> None:
            try:
                while (message := inbox.get()) is not None:
                    self._answers.put((name, agent.answer(message)))
            except Exception as error:  # noqa: BLE001 - any end of an agent is one
                self._answers.put((name, Lost(str(error))))

        threading.Thread(target=run, daemon=True).start()
        return name

    def send(self, agent: Hashable, message: bytes) -> None:
        self._inboxes[agent].put(message)

    def answers(self, seconds: float) -> Sequence[tuple[Hashable, bytes | Lost]]:
        found = []
        try:
            found.append(self._answers.get(timeout=max(0.0, seconds)))
            while True:
                found.append(self._answers.get_nowait())
        except queue.Empty:
            return [one for one in found if one[0] in self._inboxes]

    def end(self, agent: Hashable) -> None:
        self._inboxes.pop(agent).put(None)

    def close(self) -> None:
        for agent in list(self._inboxes):
            self.end(agent)
