"""Records calls until this process ends."""

from __future__ import annotations

import atexit
import os

from .call_recorder import CallRecorder
from .calls_file import CallsFile
from .distinct_calls import LIMIT


def record(path: str) -> None:
    """Begin to record into the file `path`.

    Raises:
        OSError: if `path` cannot be written.
    """
    recorder = CallRecorder(CallsFile(path), int(os.environ.get("AUTOTEST_HARVEST_LIMIT") or LIMIT))
    recorder.start()
    atexit.register(recorder.summarise)
