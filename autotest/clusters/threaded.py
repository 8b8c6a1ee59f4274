"""Carries out tasks by functions, a thread each: what may die is a process that the function watches."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from autotest.base.errors import AutotestError


class Threaded:
    """Does as many tasks at a time as it has functions, each of which does one after the other."""

    #: A function that hangs is waited for.
    late = 0

    def __init__(self, functions: Sequence[Callable[[Any], Any]], close: Callable[[], None]) -> None:
        """`close` ends the processes that the functions use."""
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Any, Any]] = queue.SimpleQueue()
        self._close = close
        self._count = len(functions)
        for function in functions:
            threading.Thread(target=self._work, args=(function,), daemon=True).start()

    def _work(self, function: Callable[[Any], Any]) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                result = function(task)
            except Exception as error:  # noqa: BLE001 - told to whoever waits for the result
                result = error
            self._results.put((task, result))

    def start(self, task: Any) -> None:
        self._tasks.put(task)

    def wait(self, seconds: float) -> list[tuple[Any, Any]]:
        """What was finished, waiting no longer than `seconds` for the first; raises `AutotestError` for what failed."""
        finished: list[tuple[Any, Any]] = []
        end = time.monotonic() + seconds
        try:
            while True:
                left = 0.0 if finished else max(0.0, end - time.monotonic())
                task, result = self._results.get(timeout=left) if left else self._results.get_nowait()
                if isinstance(result, Exception):
                    raise AutotestError(str(result) or type(result).__name__)
                finished.append((task, result))
        except queue.Empty:
            return finished

    def close(self) -> None:
        """Begin nothing more, and end what is under way."""
        for _ in range(self._count):
            self._tasks.put(None)
        self._close()
