"""Messages between two interpreters, whose versions of Python and NumPy may differ: objects as framed pickles."""

from __future__ import annotations

import dataclasses
import io
import os
import pickle
import struct
import sys
import types
from collections.abc import Callable
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np

from autotest.frameworks.remote.shared_memory import SharedMemory

#: `_FIRST`, the head of a message: its number of arrays, and the length of the pickle in bytes. `_PART`, one per array:
#: its length in bytes, and its offset in shared memory, or -1 if the array follows the pickle.
_FIRST, _PART = struct.Struct("<QQ"), struct.Struct("<Qq")
#: Size in bytes from which on an array is not copied into the pickle.
LARGE = 1 << 16


class Link(NamedTuple):
    """A reference to a value of the other process, by its number there."""

    key: int


class Name(NamedTuple):
    """A reference to an object of the framework's namespace, by its dotted path."""

    path: str


@dataclasses.dataclass(frozen=True, slots=True)
class RemoteFailure:
    """Stands for the result of a call that raised, with the class and text of the exception."""

    type: str
    text: str
    #: The exception that the other side raises: `Absent`, `StateDiffers`, `FrameworkMissing`, `CandidateDied`, or, for
    #: "raised", any other.
    kind: Literal["absent", "state", "missing", "lost", "raised"] = "raised"


def array_of(dtype: str, shape: tuple[int, ...], data: bytes | bytearray | memoryview) -> np.ndarray[Any, Any]:
    """Return the array that was sent.

    Pickles refer to this function, because the module of NumPy's own function for this depends on NumPy's version.
    """
    return np.frombuffer(bytearray(data) if isinstance(data, bytes) else data, dtype).reshape(shape)


def _reduced(array: np.ndarray[Any, Any]) -> Any:
    if array.nbytes < LARGE:
        return array_of, (array.dtype.str, array.shape, array.tobytes())
    return array_of, (array.dtype.str, array.shape, pickle.PickleBuffer(np.ascontiguousarray(array).data))


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        return _reduced(value) if type(value) is np.ndarray else NotImplemented


class _Checker(_Pickler):
    def reducer_override(self, value: Any) -> Any:
        named = isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType))
        if named and str(value.__module__).partition(".")[0] not in {*sys.stdlib_module_names, "numpy"}:
            raise pickle.PicklingError
        return super().reducer_override(value)


def can_be_sent(value: Any) -> bool:
    """Return whether `value`, an object of the test, can be sent to a process that cannot import the test's modules.

    A file in memory cannot be: the other process would write to a copy.
    """
    if isinstance(value, io.IOBase):
        return False
    try:
        _Checker(io.BytesIO(), protocol=5).dump(value)
    except Exception:  # noqa: BLE001 - the class of the object may define how it is pickled
        return False
    return True


def packed(message: Any, memory: SharedMemory | None = None) -> list[memoryview]:
    """Return one message as the buffers that `receive` reads. Large arrays are not copied, or are put into `memory`."""
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
    """Write one message.

    Raises:
        OSError: if the other side is gone.
    """
    for part in packed(message, memory):
        stream.write(part)
    stream.flush()


def receive(stream: BinaryIO, taken: Callable[[int, int], memoryview | bytearray] | None = None) -> Any:
    """Read one message.

    Args:
        stream: the stream to read from.
        taken: returns the bytes in shared memory at an offset and of a length; None if there is no shared memory.

    Raises:
        EOFError: if the other side is gone.
    """
    count, size = _FIRST.unpack(_read(stream, _FIRST.size))
    heads = [_PART.unpack(_read(stream, _PART.size)) for _ in range(count)]
    first = _read(stream, size)
    arrays = [_read(stream, size) if begin < 0 or taken is None else taken(begin, size) for size, begin in heads]
    return pickle.loads(first, buffers=arrays)


def _read(stream: BinaryIO, size: int) -> bytearray:
    data = bytearray(size)
    if stream.readinto(data) < size:  # type: ignore[attr-defined]  # a buffered stream reads all bytes, unless it ends
        raise EOFError
    return data


class AnsweringEnd:
    """The serving process's end of the connection. Questions arrive on its standard input.

    Args:
        answers: descriptor of the file that answers are written to.
        question_memory: descriptor of the shared memory for large arrays of questions; None if there is none.
        answer_memory: the same for large arrays of answers.
    """

    def __init__(self, answers: int, question_memory: int | None = None, answer_memory: int | None = None) -> None:
        self._questions, self._answers = sys.stdin.buffer, os.fdopen(answers, "wb")
        self._question_memory = None if question_memory is None else SharedMemory(question_memory)
        self._answer_memory = None if answer_memory is None else SharedMemory(answer_memory)
        self.send(None)  # tells the other side that this process has started

    def receive(self) -> Any:
        """Return the next message. Its large arrays are valid until the next answer is sent."""
        return receive(self._questions, None if self._question_memory is None else self._question_memory.taken)

    def send(self, answer: Any) -> None:
        """Send an answer. The previous one must have been read."""
        if self._answer_memory is not None:
            self._answer_memory.clear()
        send(self._answers, answer, self._answer_memory)
