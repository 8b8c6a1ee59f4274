"""The process of another interpreter: starts it, sends it messages, reads its replies, and ends it."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import wait
from typing import Any, NoReturn

from autotest.base.errors import FrameworkMissing
from autotest.base.library_folder import LIBRARY
from autotest.base.signals import signal_name
from autotest.frameworks.remote.shared_memory import SharedMemory
from autotest.frameworks.remote.wire import packed, receive
from autotest.report.activity import doing

#: Seconds without a reply after which the process counts as hanging; and seconds that it may take to start, which
#: includes an import of NumPy.
REPLY_TIMEOUT, START_TIMEOUT = 300.0, 60.0
#: Seconds of waiting for a reply after which the terminal shows what is waited for.
_TELL = 2.0
#: Seconds between two checks whether the process still runs.
_LOOK = 1.0
#: Source that the other interpreter runs first. It makes this library importable there, and nothing else of this
#: environment. `Peer` replaces the names in upper case by their values.
START = """\
import sys
if sys.version_info < (3, 10):
    sys.exit("Python %d.%d is too old, 3.10 or newer is needed" % sys.version_info[:2])
import ctypes, importlib.machinery, signal
if MAIN and sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG: a call that hangs sees nobody go
class Own:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return importlib.machinery.PathFinder.find_spec(name, [ROOT]) if name in ("autotest", "generators") else None
sys.meta_path.insert(0, Own)
from autotest.frameworks.remote.served import main
main(NAME, FILES)
"""


class PeerDied(Exception):
    """The process has ended, or did not reply in time; the message says what is known about it.

    Attributes:
        last_words: the last line that it wrote to standard error, or else to standard output; empty if there is none.
        late: whether it was killed because of a timeout.
    """

    def __init__(self, ended: str, last_words: str, *, late: bool) -> None:
        super().__init__(f"its process {ended}{f': {last_words}' if last_words else ' without output'}")
        self.last_words, self.late = last_words, late


class Peer:
    """The process of the interpreter `python` that serves the framework called `inner`.

    Args:
        python: the path or name of the interpreter.
        inner: the registered name of the framework.
        start: the source that the interpreter runs; see `START`.

    Raises:
        FrameworkMissing: if the interpreter cannot be started.
    """

    def __init__(self, python: str, inner: str, start: str = START) -> None:
        self._what = f"{inner} in {python}"
        #: Shared memory for the large arrays in questions and in replies; None if the system has none. The arrays of a
        #: question are read before the reply to it arrives, those of a reply before the next reply.
        self._question_memory, self._answer_memory = SharedMemory.made(), SharedMemory.made()
        answers, theirs = os.pipe()  # not standard output, where the interpreter and the framework may print
        self._answers = os.fdopen(answers, "rb")
        self._printed, self._words = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        files = [
            theirs,
            *[None if memory is None else memory.file for memory in (self._question_memory, self._answer_memory)],
        ]
        told = {
            "ROOT": str(LIBRARY),
            "NAME": inner,
            "FILES": files,
            # PR_SET_PDEATHSIG kills the child when the thread that started it ends. Only the end of the main thread
            # is also the end of this process.
            "MAIN": threading.current_thread() is threading.main_thread(),
        }
        # All at once: a value may contain another name, such as a folder called MAIN.
        start = re.sub(rf"\b({'|'.join(told)})\b", lambda found: repr(told[found[0]]), start)
        try:
            self._process = subprocess.Popen(
                [python, "-c", start],
                stdin=subprocess.PIPE,
                stdout=self._printed,
                stderr=self._words,
                env={key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")},
                pass_fds=[file for file in files if file is not None],
                start_new_session=True,  # Ctrl-C reaches this process only; and `_end` kills a whole process group
            )
        except OSError as error:
            self._release()
            raise FrameworkMissing(f"python:{python}: no interpreter starts at this path ({error.strerror})") from error
        finally:
            os.close(theirs)
        assert self._process.stdin is not None
        self._requests = self._process.stdin.fileno()
        os.set_blocking(self._requests, False)  # a hanging process reads nothing; writing to it must not block
        self._begun = False
        #: Whether `close` was called.
        self.closed = False
        #: How the process timed out; empty if it did not.
        self._late = ""

    @property
    def process(self) -> int:
        """The process id."""
        return self._process.pid

    def tell(self, message: Any) -> None:
        """Send `message`, which has no reply. If the process has ended, the next `ask` raises `PeerDied`."""
        with contextlib.suppress(OSError), self._whole():
            self._write(message, REPLY_TIMEOUT)

    def ask(self, message: Any, patience: float = REPLY_TIMEOUT) -> Any:
        """Send `message` and return the reply; raise `PeerDied` if there is none within `patience` seconds."""
        with self._whole():
            try:
                if not self._begun:
                    self._answer(START_TIMEOUT, "did not begin")
                    self._begun = True
                self._write(message, patience)
                answer = self._answer(patience, "gave no answer")
            except (OSError, EOFError) as error:
                gone = PeerDied(self._late or self._ended(), self._last_words(), late=bool(self._late))
                self.close()
                raise gone from error
        if self._question_memory is not None:
            self._question_memory.clear()
        return answer

    @contextlib.contextmanager
    def _whole(self) -> Iterator[None]:
        """Close the process if Ctrl-C, or an alarm's handler, cuts a message in half.

        Its next reply would be taken for that to another message.
        """
        try:
            yield
        except Exception:
            raise
        except BaseException:  # the handler of pytest-timeout raises `Failed`, which is no `Exception`
            self.close()
            raise

    def _answer(self, patience: float, lacks: str) -> Any:
        if not wait([self._answers.fileno()], min(_TELL, patience)):
            with doing(f"waiting for {self._what}"):
                self._wait(patience, lacks)
        told = self._answer_memory
        return receive(self._answers, None if told is None else lambda *where: bytearray(told.taken(*where)))

    def _wait(self, patience: float, lacks: str) -> None:
        """Wait for a reply; raise `EOFError` if the process has ended, and `TimeoutError` after `patience` seconds."""
        begin = time.monotonic()
        while not wait([self._answers.fileno()], min(_LOOK, patience)):
            if self._process.poll() is not None and not wait(
                [self._answers.fileno()], 0
            ):  # its child processes may keep the pipe open
                raise EOFError
            if time.monotonic() - begin > patience:
                self._give_up(f"{lacks} within {patience:g} s and was ended")

    def _write(self, message: Any, patience: float) -> None:
        """Send `message`; raise `OSError` if the process has ended, and `TimeoutError` if it does not read."""
        ready = select.poll()
        ready.register(self._requests, select.POLLOUT)
        for rest in packed(message, self._question_memory):
            while rest:
                if not ready.poll(patience * 1000):
                    self._give_up(f"read nothing for {patience:g} s and was ended")
                rest = rest[_written(self._requests, rest) :]  # noqa: PLW2901 - what is left of the part

    def _give_up(self, why: str) -> NoReturn:
        self._late = why
        self._end()
        raise TimeoutError

    def _ended(self) -> str:
        try:
            status = self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._end()
            status = self._process.wait()
        if status >= 0:
            return f"ended with status {status}"
        return f"was killed by {signal_name(-status) or f'signal {-status}'}"

    def _last_words(self) -> str:
        for stream in (self._words, self._printed):
            stream.seek(0)
            lines = [line for line in stream.read().decode(errors="replace").splitlines() if line.strip()]
            if lines:
                return lines[-1].strip()[:300]
        return ""

    def _end(self) -> None:
        """Kill the process and its child processes, unless it has ended already."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the process and release its files; do nothing if it is closed already."""
        if self.closed:
            return
        self.closed = True
        self._end()
        self._process.wait()
        with contextlib.suppress(OSError):  # raised if there is data that the process has not read
            self._process.stdin.close()  # type: ignore[union-attr]
        self._release()

    def _release(self) -> None:
        for file in (self._answers, self._printed, self._words, self._question_memory, self._answer_memory):
            if file is not None:
                file.close()


def _written(file: int, data: memoryview) -> int:
    """Write `data` to the non-blocking pipe `file`; return the number of bytes written, 0 if the pipe is full."""
    try:
        return os.write(file, data)
    except BlockingIOError:
        return 0
