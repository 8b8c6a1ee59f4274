"""The standard output of a command: an error of it is told in one sentence, also if it shows only at the end."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

from autotest.base.errors import AutotestError


class OutputUnwritable(AutotestError):
    """The standard output cannot be written; the message gives the reason. It is empty if nobody reads it any more."""


class _Output:
    """The stream `stream`, of which errors are raised as `OutputUnwritable`, unlike errors of other files."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with _explained():
            return self._stream.write(text)

    def flush(self) -> None:
        with _explained():
            self._stream.flush()


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:  # such as of `| head -1`
        raise OutputUnwritable from error
    except OSError as error:
        raise OutputUnwritable(
            f"the standard output cannot be written: {error.strerror}. What was found is stored (`autotest list`)"
        ) from error


@contextlib.contextmanager
def checked_output() -> Iterator[None]:
    """Inside the block, `sys.stdout` raises `OutputUnwritable` if it cannot be written, at the latest at the end."""
    _open_closed_streams()
    stream = sys.stdout
    if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
        # A character of a report that the terminal's encoding lacks must not end the command.
        stream.reconfigure(errors="backslashreplace")
    output = _Output(stream)
    try:
        with contextlib.redirect_stdout(cast(TextIO, output)):
            try:
                yield
            finally:
                output.flush()
    except OutputUnwritable:
        discard(stream)
        raise


def _open_closed_streams() -> None:
    """Open the standard streams that are closed (``>&-``), so that no file or socket gets their numbers.

    Frameworks print to these numbers, and child processes replace them.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) < 3:  # it gets the lowest number that is free
        pass
    os.close(number)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - lives as long as the process
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def discard(stream: TextIO) -> None:
    """Discard what `stream` still has in its buffer: the interpreter would fail again at its exit, with status 120."""
    with contextlib.suppress(OSError, ValueError):  # a stream of a test has no number
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)
