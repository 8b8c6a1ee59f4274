"""The file that harvested calls are appended to, a line each, by several processes at once."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import sys
import threading
from collections.abc import Mapping
from typing import Any

FORMAT = "autotest calls"
#: Raised when the format changes so that older readers would misunderstand it.
VERSION = 1


class CallsFile:
    """Appends lines, each in one piece, so that what was recorded before a script ends in any way is kept."""

    def __init__(self, path: str) -> None:
        """Open `path`, making it when there is none; raises `OSError`."""
        self.path = path
        self._descriptor: int | None = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        # Another thread may have held it.
        self._lock = threading.Lock()

    def begin(self, torch_version: str) -> None:
        """Write the line that says what the file is."""
        self.write(
            {
                "format": FORMAT,
                "version": VERSION,
                "torch": torch_version,
                "python": platform.python_version(),
                "command": list(getattr(sys, "orig_argv", sys.argv)),
                "date": dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
                "process": os.getpid(),
            }
        )

    def write(self, line: Mapping[str, Any]) -> None:
        """Append one line. Where that fails, say so once and write nothing more: the script goes on."""
        data = (json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n").encode("utf-8", "backslashreplace")
        with self._lock:
            try:
                while data and self._descriptor is not None:
                    data = data[os.write(self._descriptor, data) :]
            except OSError as error:
                self._close()
                sys.stderr.write(
                    f"autotest harvest: {self.path} cannot be written any more ({error.strerror}); what was recorded "
                    "before is in it, and the script goes on\n"
                )

    def close(self) -> None:
        """Close the file; later lines are not written."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
