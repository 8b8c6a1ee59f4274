"""Messages between two interpreters, which may have other versions of Python and NumPy: objects as framed pickles."""

from __future__ import annotations

import dataclasses
import io
import os
import pickle
import struct
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np

from autotest.frameworks.shared_memory import SharedMemory

#: How many arrays a message has and how long the rest is; how long an array is, and where: behind the rest for -1.
_FIRST, _PART = struct.Struct("<QQ"), struct.Struct("<Qq")
#: Bytes from which on an array is not copied into the message.
LARGE = 1 << 16


class Link(NamedTuple):
    """A value that lives in the other process, by its number there."""

    key: int


class Name(NamedTuple):
    """An object of the framework's namespace, by its path."""

    path: str


@dataclasses.dataclass(frozen=True, slots=True)
class RemoteFailure:
    """What stands for the result of a call that raised: the class and text of the exception."""

    type: str
    text: str
    #: What the other side is to raise: `Absent`, `StateDiffers`, `FrameworkMissing`, `CandidateDied`, or anything else.
    kind: Literal["absent", "state", "missing", "lost", "raised"] = "raised"


def array_of(dtype: str, shape: tuple[int, ...], data: bytes | bytearray | memoryview) -> np.ndarray[Any, Any]:
    """The array that was sent; where NumPy keeps its own function for this depends on its version."""
    return np.frombuffer(bytearray(data) if isinstance(data, bytes) else data, dtype).reshape(shape)


def _reduced(array: np.ndarray[Any, Any]) -> Any:
    if array.nbytes < LARGE:
        return array_of, (array.dtype.str, array.shape, array.tobytes())
    return array_of, (array.dtype.str, array.shape, pickle.PickleBuffer(np.ascontiguousarray(array).data))


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        return _reduced(value) if type(value) is np.ndarray else NotImplemented


def packed(message: Any, memory: SharedMemory | None = None) -> list[memoryview]:
    """One message as the bytes that `receive` reads. Large arrays in it are no copies, or lie in `memory`."""
    held, arrays = io.BytesIO(), list[pickle.PickleBuffer]()
    _Pickler(held, protocol=5, buffer_callback=arrays.append).dump(message)
    heads, parts = [], [held.getbuffer()]
    for array in arrays:
        data = array.raw()
        begin = -1 if memory is None else memory.put(data)
        heads.append(_PART.pack(len(data), begin))
        if begin < 0:
            parts.append(data)
    return [memoryview(b"".join([_FIRST.pack(len(heads), len(parts[0])), *heads])), *parts]


def send(stream: BinaryIO, message: Any, memory: SharedMemory | None = None) -> None:
    """Write one message; raises `OSError` when nobody reads any more."""
    for part in packed(message, memory):
        stream.write(part)
    stream.flush()


def receive(stream: BinaryIO, taken: Callable[[int, int], memoryview | bytearray] | None = None) -> Any:
    """Read one message; `taken` gives what lies in shared memory. Raises `EOFError` when the other side is gone."""
    count, size = _FIRST.unpack(_read(stream, _FIRST.size))
    heads = [_PART.unpack(_read(stream, _PART.size)) for _ in range(count)]
    first = _read(stream, size)
    arrays = [_read(stream, size) if begin < 0 or taken is None else taken(begin, size) for size, begin in heads]
    return pickle.loads(first, buffers=arrays)


def _read(stream: BinaryIO, size: int) -> bytearray:
    data = bytearray(size)
    if stream.readinto(data) < size:  # type: ignore[attr-defined]  # buffered: all of it, up to the end
        raise EOFError
    return data


class AnsweringEnd:
    """The end of the process that is asked: questions come on its standard input, answers go to the file `answers`.

    `asked` and `told` are files of memory in which large arrays come and go; none where there is no such memory.
    """

    def __init__(self, answers: int, asked: int | None = None, told: int | None = None) -> None:
        self._questions, self._answers = sys.stdin.buffer, os.fdopen(answers, "wb")
        self._asked = None if asked is None else SharedMemory(asked)
        self._told = None if told is None else SharedMemory(told)
        self.send(None)  # it has begun

    def receive(self) -> Any:
        """The next message, whose large arrays stay as they are until there was an answer."""
        return receive(self._questions, None if self._asked is None else self._asked.taken)

    def send(self, answer: Any) -> None:
        """Answer, when the last answer has been read."""
        if self._told is not None:
            self._told.clear()
        send(self._answers, answer, self._told)
