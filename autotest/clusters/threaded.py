"""An executor that runs tasks in threads, by functions that watch over processes which may crash."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from autotest.base.errors import AutotestError


class Threaded:
    """An executor with one thread for each of some functions. Each function runs one task at a time."""

    #: Always 0: a function that hangs is waited for, and no other task takes its place.
    late = 0

    def __init__(self, functions: Sequence[Callable[[Any], Any]], close: Callable[[], None]) -> None:
        """Start one thread for each of `functions`; `close` ends the processes that they use."""
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
            except Exception as error:  # noqa: BLE001 - `wait` raises it again
                result = error
            self._results.put((task, result))

    def start(self, task: Any) -> None:
        self._tasks.put(task)

    def wait(self, seconds: float) -> list[tuple[Any, Any]]:
        """Return the finished tasks and their results; wait at most `seconds` for the first one.

        Raises `AutotestError` if a function raised.
        """
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
        """Start no further tasks, and end the running ones."""
        for _ in range(self._count):
            self._tasks.put(None)
        self._close()
