"""A process of another interpreter that answers questions: started, asked, and ended with what it said last."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import tempfile
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, BinaryIO

from autotest.base.errors import FrameworkMissing
from autotest.frameworks.wire import packed, receive

#: Seconds without an answer after which the process counts as hanging.
PATIENCE = 300.0
#: Brings this library, and nothing else of this environment, to the other interpreter.
START = """\
import importlib.machinery, sys
class Own:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return importlib.machinery.PathFinder.find_spec(name, [ROOT]) if name in ("autotest", "generators") else None
sys.meta_path.insert(0, Own)
from autotest.frameworks.served import main
main(NAME)
"""


class PeerGone(Exception):
    """The process ended, or gave no answer in time; the text is what is known of that.

    Attributes:
        last_words: the last line that it wrote to its standard error; empty where it wrote none.
    """

    def __init__(self, ended: str, last_words: str) -> None:
        super().__init__(f"its process {ended}{f': {last_words}' if last_words else ' without a word'}")
        self.last_words = last_words


class Peer:
    """The process of `python` that serves the framework called `inner`.

    Raises `FrameworkMissing` when there is no such interpreter.
    """

    def __init__(self, python: str, inner: str, start: str = START) -> None:
        root = str(Path(__file__).parent.parent.parent)
        code = start.replace("ROOT", repr(root)).replace("NAME", repr(inner))
        environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
        self._words: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                [python, "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._words,
                env=environment,
            )
        except OSError as error:
            self._words.close()
            raise FrameworkMissing(f"python:{python}: no interpreter starts there ({error.strerror})") from error
        assert self._process.stdin is not None
        self._requests = self._process.stdin.fileno()
        os.set_blocking(self._requests, False)  # a process that hangs reads nothing, which must not hang this one

    @property
    def process(self) -> int:
        """The number of the process."""
        return self._process.pid

    def tell(self, message: Any) -> None:
        """Send `message`, to which there is no answer. Where the process is gone, the next question says so."""
        with contextlib.suppress(OSError):
            self._write(message)

    def ask(self, message: Any) -> Any:
        """Its answer to `message`; raises `PeerGone` when there is none."""
        answers = self._process.stdout
        assert answers is not None
        try:
            self._write(message)
            if not wait([answers.fileno()], PATIENCE):
                self._process.kill()
            return receive(answers)  # type: ignore[arg-type]
        except (OSError, EOFError) as error:
            gone = PeerGone(self._ended(), self._last_words())
            self.close()
            raise gone from error

    def _write(self, message: Any) -> None:
        """Send `message`; ends the process when it does not read. Raises `OSError` where it has ended."""
        ready = select.poll()
        ready.register(self._requests, select.POLLOUT)
        for rest in packed(message):
            while rest:
                if not ready.poll(PATIENCE * 1000):
                    self._process.kill()
                rest = rest[_written(self._requests, rest) :]  # noqa: PLW2901 - what is left of the part

    def _ended(self) -> str:
        try:
            status = self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        return f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"

    def _last_words(self) -> str:
        self._words.seek(0)
        lines = [line for line in self._words.read().decode(errors="replace").splitlines() if line.strip()]
        return lines[-1][:300] if lines else ""

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._words):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what was not read by the process any more
                    continue


def _written(file: int, data: memoryview) -> int:
    """How many bytes of `data` went into the pipe `file`, which may be full again."""
    try:
        return os.write(file, data)
    except BlockingIOError:
        return 0
