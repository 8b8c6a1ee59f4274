"""Records calls until this process ends."""

from __future__ import annotations

import atexit
import os

from .call_recorder import LIMIT, CallRecorder
from .calls_file import CallsFile


def record(path: str) -> None:
    """Begin to record into the file `path`.

    Raises:
        OSError: if `path` cannot be written.
    """
    recorder = CallRecorder(CallsFile(path), int(os.environ.get("AUTOTEST_HARVEST_LIMIT") or LIMIT))
    recorder.start()
    atexit.register(recorder.summarise)
