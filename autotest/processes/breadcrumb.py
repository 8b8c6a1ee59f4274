"""A file in which a process notes the trial and the call that it is at, for others to read when it has died."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import json
import mmap
import os
import struct
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from autotest.comparison import Side, Stage
from autotest.program import Call, Ref
from autotest.recording.recorder import Recorder

_MAGIC = b"autotest trail 1\n"
#: Index of the trial or -1 between trials; calls recorded so far; what kind of call it is; operator's number.
_STATE = struct.Struct("<qqqq")
_STATE_AT = 32
_CALL = struct.Struct("<qqq")
_CALL_AT = _STATE_AT + 8
#: Kinds of calls, added up: a backward call, one that the reference refused, one that the reference is asked for, and
#: the last one of a trial whose calls have all returned.
_BACKWARD, _REFUSED, _OF_REFERENCE, _JUDGED = 1, 2, 4, 8
_PID = struct.Struct("<q")
_PID_AT = 64
_TEST_AT = 128
#: The operator and the signature of the call that is being made, by who knows that it may kill.
_NOTE_AT = 3072
#: Operators are written once each, so that a call need only write a number. Number 0 has no name.
_NAMES_AT, _NAME_SIZE, _NAMES = 4096, 64, 959
_SIZE = _NAMES_AT + _NAME_SIZE * (_NAMES + 1)


@dataclasses.dataclass(frozen=True, slots=True)
class Position:
    """Where a process was last seen."""

    file: Path
    test: str
    base_seed: int
    #: Index of the trial; -1 when no trial was running.
    index: int
    #: How many calls were recorded before the one that was being made.
    call: int
    operator: str
    stage: Stage
    pid: int
    #: What the process had been asked for that another must be, too.
    settings: dict[str, Any]
    #: Which side was asked last. An asynchronous candidate may die of an earlier call while the reference is asked.
    side: Side = "candidate"
    #: Whether the reference had refused the call that the candidate was asked for.
    refused: bool = False
    #: A call that was being made, or was about to be, by its operator and with what of its arguments matters; both
    #: empty where nobody noted one.
    noted: str = ""
    signature: str = ""
    #: Whether all calls of the trial had returned, and what they gave was being judged.
    judged: bool = False


class Breadcrumb:
    """The trail of one process: its file, open for writing. As a `Watch`, it is told of each call by the recorder."""

    __slots__ = ("__weakref__", "_file", "_memory", "_numbers", "_operator", "close", "path")

    #: Ends the trail without leaving one. Happens by itself when nobody holds the trail any more, and at the end of
    #: the process, unless it is killed.
    close: Callable[[], object]

    def __init__(self, path: Path) -> None:
        """Start a trail at `path`, which must not be another living process's; raises `OSError`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._file = path.open("w+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Room on the disk, too: writing to a mapped page that finds none ends the process (SIGBUS).
            os.posix_fallocate(self._file.fileno(), 0, _SIZE)
        except OSError:
            self._file.close()
            raise
        self._memory = mmap.mmap(self._file.fileno(), _SIZE)
        self._memory[: len(_MAGIC)] = _MAGIC
        _PID.pack_into(self._memory, _PID_AT, os.getpid())
        self._numbers: dict[str, int] = {}
        self._operator = 0
        self.close = weakref.finalize(self, _end, path, os.getpid(), self._memory, self._file)
        self.rest()

    def test(self, file: Path | None, test: str, base_seed: int, **settings: Any) -> None:
        """Note that the trials to come are of this test."""
        self.rest()
        facts = [str(file or ""), test, base_seed, settings]
        text = json.dumps(facts).encode() + b"\n"
        if len(text) <= _NOTE_AT - _TEST_AT:
            self._memory[_TEST_AT : _TEST_AT + len(text)] = text

    def note(self, operator: str, signature: str) -> None:
        """With what of its arguments that matters the call of `operator` is made that comes next."""
        data = f"{operator}\0{signature}".encode()[: _NAMES_AT - _NOTE_AT - 1] + b"\0"
        self._memory[_NOTE_AT : _NOTE_AT + len(data)] = data

    def trial(self, index: int) -> None:
        """Note that the trial `index` begins."""
        self._operator = 0
        self._memory[_NOTE_AT] = 0
        _STATE.pack_into(self._memory, _STATE_AT, index, 0, 0, 0)

    def about_to(self, recorder: Recorder, side: Side, call: Call) -> None:
        number = self._numbers.get(call.target)
        if number is None:
            number = self._number(recorder, call)
        marks = _OF_REFERENCE if side == "reference" else 0 if recorder.rejection is None else _REFUSED
        if number > 0:
            self._operator = number
        elif number < 0:  # a backward call: what it goes back through is more telling than its own name
            number, marks = self._operator, marks | _BACKWARD
        _CALL.pack_into(self._memory, _CALL_AT, call.slot, marks, number)

    def judging(self) -> None:
        """Note that the trial has run, and what it gave is being judged: that may run its calls many times more."""
        call, marks, number = _CALL.unpack_from(self._memory, _CALL_AT)
        _CALL.pack_into(self._memory, _CALL_AT, call, marks | _JUDGED, number)

    def _number(self, recorder: Recorder, call: Call) -> int:
        """What stands for the operator of `call`: 0 for a tensor that is made, and a negative one for a backward."""
        name = called(recorder, call)
        if name == "__call__":  # of what no call made; under that name, all calls of modules would be found as this one
            name = "call"
        if name in self._numbers:
            return self._numbers[name]
        if name in ("backward", "autograd.backward"):
            number = -1
        elif call.kind == "tensor" or len(self._numbers) >= _NAMES:
            number = 0
        else:
            number = len(self._numbers) + 1
            written = name.encode()[: _NAME_SIZE - 1] + b"\0"
            at = _NAMES_AT + _NAME_SIZE * number
            self._memory[at : at + len(written)] = written
        self._numbers[name] = number
        return number

    def rest(self) -> None:
        """Note that no trial is running."""
        _STATE.pack_into(self._memory, _STATE_AT, -1, 0, 0, 0)


def _end(path: Path, pid: int, memory: mmap.mmap, file: BinaryIO) -> None:
    if os.getpid() == pid:  # what a fork lets go of is still its parent's trail
        with contextlib.suppress(OSError, ValueError):
            path.unlink()
    with contextlib.suppress(BufferError, ValueError):
        memory.close()
    file.close()


def called(recorder: Recorder, call: Call) -> str:
    """What a call is best known by: a module's class instead of ``__call__``."""
    if call.target == "__call__" and type(call.args[0]) is Ref:
        return recorder.calls[call.args[0].slot].target
    return call.target


def read(path: Path) -> Position | None:
    """Where the process that wrote `path` was last; None when the file is no trail, or of no test."""
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
    except (OSError, ValueError, struct.error):
        return None
    stage: Stage = "backward" if marks & _BACKWARD else "forward"
    side: Side = "reference" if marks & _OF_REFERENCE else "candidate"
    refused = bool(marks & _REFUSED)
    about = Path(file), test, base_seed, index, call, operator, stage, pid, settings
    return Position(*about, side, refused, noted, noted_signature, bool(marks & _JUDGED))


def _noted(data: bytes) -> tuple[bytes, bytes]:
    if not data[0]:  # what comes behind is of an earlier trial
        return b"", b""
    operator, signature, *_ = data.split(b"\0")
    return operator, signature


def dead(folder: Path) -> Iterator[tuple[Path, Position]]:
    """The trails below `folder` whose processes died in the middle of a trial; forgets those that died elsewhere."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - a `glob` takes ten times longer, and every test asks
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
            path.unlink(missing_ok=True)


def _is_left(path: str) -> bool:
    """Whether the trail at `path` is there, and the process that wrote it is not."""
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
    """Where the trails below a store's folder are."""
    return directory / "trails"


def own(directory: Path, pid: int) -> Breadcrumb | None:
    """The trail of this process, whose id is `pid`; None where none can be written."""
    return _own(directory, os.getcwd(), pid)  # noqa: PTH109 - every test asks


@functools.lru_cache(maxsize=4)
def _own(directory: Path, working: str, pid: int) -> Breadcrumb | None:
    try:
        return Breadcrumb(folder(working / directory) / f"{pid}.trail")
    except OSError:
        return None
