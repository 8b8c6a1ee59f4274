"""The file that several processes append harvested calls to at the same time, one line per call."""

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
#: Version of the format. Increase it if older readers would misinterpret a new file.
VERSION = 1


class CallsFile:
    """Appends each line as a whole and unbuffered, so that recorded calls are kept however the script ends."""

    def __init__(self, path: str) -> None:
        """Open the file `path`; create it if it does not exist.

        Raises:
            OSError: if it cannot be opened for writing.
        """
        self.path = path
        self._descriptor: int | None = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        # Another thread of the parent process may have held the lock.
        self._lock = threading.Lock()

    def begin(self, torch_version: str) -> None:
        """Write the header line: format, versions, command, date and process."""
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
        """Append one line. If that fails, print a message, write no more lines, and let the script continue."""
        data = (json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n").encode("utf-8", "backslashreplace")
        with self._lock:
            try:
                while data and self._descriptor is not None:
                    data = data[os.write(self._descriptor, data) :]
            except OSError as error:
                self._close()
                sys.stderr.write(
                    f"autotest harvest: {self.path} cannot be written any more ({error.strerror}); what was recorded "
                    "before is in the file, and the program continues\n"
                )

    def close(self) -> None:
        """Close the file; later lines are not written."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
