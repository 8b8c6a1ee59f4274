"""A file in which a process records its current trial and call, for other processes to read after it has died."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import json
import mmap
import os
import secrets
import struct
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from autotest.comparison import Side, Stage
from autotest.program import Call, Ref
from autotest.program.semantics import is_module_call, pushes_gradients
from autotest.recording.recorder import Recorder

_MAGIC = b"autotest trail 1\n"
#: Index of the trial, or -1 between trials; number of calls recorded so far; flags of the call; number of the operator.
_STATE = struct.Struct("<qqqq")
_STATE_AT = 32
_CALL = struct.Struct("<qqq")
_CALL_AT = _STATE_AT + 8
#: Flags of a call: it is a backward call; the reference refused it; the reference makes it; all calls of the trial have
#: returned, and this is the last one.
_BACKWARD, _REFUSED, _OF_REFERENCE, _JUDGED = 1, 2, 4, 8
_PID = struct.Struct("<q")
_PID_AT = 64
_TEST_AT = 128
#: The operator and the signature of the current call, written by a `CallObserver` that knows the call may kill.
_NOTE_AT = 3072
#: The name of each operator is written once, so that a call only writes its number. Number 0 has no name.
_NAMES_AT, _NAME_SIZE, _NAMES = 4096, 64, 959
_SIZE = _NAMES_AT + _NAME_SIZE * (_NAMES + 1)


@dataclasses.dataclass(frozen=True, slots=True)
class Position:
    """The last recorded state of a process."""

    file: Path
    test: str
    base_seed: int
    #: Index of the trial; -1 if no trial was running.
    index: int
    #: How many calls were recorded before the current one.
    call: int
    operator: str
    stage: Stage
    pid: int
    #: Settings of the process that another process needs to repeat the trial.
    settings: dict[str, Any]
    #: The side that made the last call. An asynchronous candidate may die of an earlier call while the reference makes
    #: one.
    side: Side = "candidate"
    #: Whether the reference had refused the call that the candidate made.
    refused: bool = False
    #: The operator and the signature of the current or the next call; both empty if neither was noted.
    noted: str = ""
    signature: str = ""
    #: Whether all calls of the trial had returned, and their results were being judged.
    judged: bool = False


class Breadcrumb:
    """The breadcrumb file of this process, open for writing. As a `CallObserver`, it is notified of each call."""

    __slots__ = ("__weakref__", "_file", "_memory", "_numbers", "_operator", "close", "path")

    #: Closes and deletes the file. Also runs when the object is garbage collected and at the end of the process, unless
    #: the process is killed.
    close: Callable[[], object]

    def __init__(self, path: Path) -> None:
        """Create the file at `path`, which must not be in use by another living process. Raises `OSError`.

        The file of a process that had the same id and died is kept under another name. In a container, each run of
        pytest may have the id 1.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        # It gets its name when it is locked: an unlocked file with this name would be one of a dead process.
        unnamed = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
        self.path = path
        self._file = unnamed.open("x+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Allocate disk space too: writing to a mapped page for which the disk has no room kills the process
            # (SIGBUS).
            os.posix_fallocate(self._file.fileno(), 0, _SIZE)
            self._memory = mmap.mmap(self._file.fileno(), _SIZE)
            self._memory[: len(_MAGIC)] = _MAGIC
            _PID.pack_into(self._memory, _PID_AT, os.getpid())
            _keep_earlier(path)
            unnamed.rename(path)
        except OSError:
            self._file.close()
            unnamed.unlink(missing_ok=True)
            raise
        self._numbers: dict[str, int] = {}
        self._operator = 0
        self.close = weakref.finalize(self, _end, path, os.getpid(), self._memory, self._file)
        self.idle()

    def test(self, file: Path | None, test: str, base_seed: int, **settings: Any) -> None:
        """Record that the following trials are of this test."""
        self.idle()
        facts = [str(file or ""), test, base_seed, settings]
        text = json.dumps(facts).encode() + b"\n"
        if len(text) > _NOTE_AT - _TEST_AT:
            text = b"\n"  # an unknown test: the file must not name the one before it
        self._memory[_TEST_AT : _TEST_AT + len(text)] = text

    def note(self, operator: str, signature: str) -> None:
        """Record the operator of the next call, and its signature: the features of its arguments that matter."""
        data = f"{operator}\0{signature}".encode()[: _NAMES_AT - _NOTE_AT - 1] + b"\0"
        self._memory[_NOTE_AT : _NOTE_AT + len(data)] = data

    def trial(self, index: int) -> None:
        """Record that the trial `index` begins."""
        self._operator = 0
        self._memory[_NOTE_AT] = 0
        _STATE.pack_into(self._memory, _STATE_AT, index, 0, 0, 0)

    def before_call(self, recorder: Recorder, side: Side, call: Call) -> None:
        number = 0 if call.kind == "tensor" else self._numbers.get(call.target)  # a tensor's target is its dtype
        if number is None:
            number = self._number(recorder, call)
        marks = _OF_REFERENCE if side == "reference" else 0 if recorder.rejection is None else _REFUSED
        if number > 0:
            self._operator = number
        elif number < 0:  # a backward call: the operator it goes back through is more informative
            number, marks = self._operator, marks | _BACKWARD
        _CALL.pack_into(self._memory, _CALL_AT, call.slot, marks, number)

    def judging(self) -> None:
        """Record that the trial has run and is being judged, which may run its calls many more times."""
        call, marks, number = _CALL.unpack_from(self._memory, _CALL_AT)
        _CALL.pack_into(self._memory, _CALL_AT, call, marks | _JUDGED, number)

    def _number(self, recorder: Recorder, call: Call) -> int:
        """Return the number that represents the operator of `call`: 0 if there is no room for it, -1 for backward."""
        name = called(recorder, call)
        if name == "__call__":  # the callable is no result of a call; this name would identify all module calls with it
            name = "call"
        if name in self._numbers:
            return self._numbers[name]
        if pushes_gradients(call):
            number = -1
        elif len(self._numbers) >= _NAMES:
            number = 0
        else:
            number = len(self._numbers) + 1
            written = name.encode()[: _NAME_SIZE - 1] + b"\0"
            at = _NAMES_AT + _NAME_SIZE * number
            self._memory[at : at + len(written)] = written
        self._numbers[name] = number
        return number

    def idle(self) -> None:
        """Record that no trial is running."""
        _STATE.pack_into(self._memory, _STATE_AT, -1, 0, 0, 0)


def _end(path: Path, pid: int, memory: mmap.mmap, file: BinaryIO) -> None:
    if os.getpid() == pid:  # in a fork, the file still belongs to the parent
        with contextlib.suppress(OSError, ValueError):
            path.unlink()
    with contextlib.suppress(BufferError, ValueError):
        memory.close()
    file.close()


def called(recorder: Recorder, call: Call) -> str:
    """Return the name by which a call is identified: for a module call, its class instead of ``__call__``."""
    if is_module_call(call) and type(call.args[0]) is Ref:
        return recorder.calls[call.args[0].slot].target
    return call.target


def read(path: Path) -> Position | None:
    """Return the last recorded state of the process that wrote `path`.

    Returns None if the file is not a breadcrumb file, is damaged, or names no test.
    """
    try:
        data = path.read_bytes()
        if len(data) != _SIZE or not data.startswith(_MAGIC):
            return None
        index, call, marks, number = _STATE.unpack_from(data, _STATE_AT)
        (pid,) = _PID.unpack_from(data, _PID_AT)
        at = _NAMES_AT + _NAME_SIZE * number
        operator = data[at : at + _NAME_SIZE].partition(b"\0")[0].decode(errors="replace")
        text = data[_TEST_AT:_NOTE_AT].partition(b"\n")[0]
        noted, noted_signature = (part.decode(errors="replace") for part in _noted(data[_NOTE_AT:_NAMES_AT]))
        if not text:
            return None
        file, test, base_seed, settings = json.loads(text)
        facts = (file, str), (test, str), (base_seed, int), (settings, dict)
        if not all(isinstance(fact, kind) for fact, kind in facts):
            return None
    except (OSError, ValueError, TypeError, struct.error):
        return None
    stage: Stage = "backward" if marks & _BACKWARD else "forward"
    side: Side = "reference" if marks & _OF_REFERENCE else "candidate"
    refused = bool(marks & _REFUSED)
    about = Path(file), test, base_seed, index, call, operator, stage, pid, settings
    return Position(*about, side, refused, noted, noted_signature, bool(marks & _JUDGED))


def _noted(data: bytes) -> tuple[bytes, bytes]:
    if not data[0]:  # the rest belongs to an earlier trial
        return b"", b""
    operator, signature, *_ = data.split(b"\0")
    return operator, signature


def dead(folder: Path) -> Iterator[tuple[Path, Position]]:
    """Yield the breadcrumb files in `folder` of processes that died during a trial.

    The files of processes that died between trials are deleted.
    """
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - a `glob` takes ten times longer, and every test calls this
    except OSError:
        return
    for name in names:
        if not name.endswith(".trail") or not _is_left(f"{folder}/{name}"):
            continue
        path = folder / name
        position = read(path)
        if position is not None and position.index >= 0:
            yield path, position
        else:
            discard(path)


def discard(path: Path) -> None:
    """Delete the breadcrumb file of a process that has ended; if that is not possible, the next run reads it again."""
    with contextlib.suppress(OSError):  # such as on a disk that is mounted read-only
        path.unlink()


def _keep_earlier(path: Path) -> None:
    """Give the file at `path`, if there is one, another name. Raises `FileExistsError` if its process is alive."""
    if _is_left(str(path)):
        path.rename(path.with_name(f"{path.stem}-{secrets.token_hex(4)}.trail"))
    elif path.exists():
        raise FileExistsError(f"{path}: expected no such file, or one of a process that has ended")


def _is_left(path: str) -> bool:
    """Return whether the file at `path` exists and its process does not."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


@functools.lru_cache(maxsize=4)
def folder(directory: Path) -> Path:
    """Return the folder of the breadcrumb files of the store in `directory`."""
    return directory / "trails"


def own(directory: Path, pid: int) -> Breadcrumb | None:
    """Return the breadcrumb file of this process, whose id is `pid`; None if it cannot be written."""
    return _own(directory, os.getcwd(), pid)  # noqa: PTH109 - every test calls this


@functools.lru_cache(maxsize=4)
def _own(directory: Path, working: str, pid: int) -> Breadcrumb | None:
    try:
        return Breadcrumb(folder(working / directory) / f"{pid}.trail")
    except OSError:
        return None
