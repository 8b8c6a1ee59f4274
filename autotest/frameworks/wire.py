"""Messages between two interpreters, which may have other versions of Python and NumPy: objects as framed pickles."""

from __future__ import annotations

import dataclasses
import io
import pickle
import struct
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np

_LENGTH = struct.Struct("<Q")
#: Bytes from which on an array is not copied into the message.
LARGE = 1 << 16


class Link(NamedTuple):
    """A value that lives in the other process, by its number there."""

    key: int


class Name(NamedTuple):
    """An object of the framework's namespace, by its path."""

    path: str


@dataclasses.dataclass(frozen=True, slots=True)
class Failure:
    """What stands for the result of a call that raised: the class and text of the exception."""

    type: str
    text: str
    #: What the other side is to raise: `Absent`, `StateDiffers`, `FrameworkMissing`, or anything else.
    kind: Literal["absent", "state", "missing", "raised"] = "raised"


def array_of(dtype: str, shape: tuple[int, ...], data: bytes | bytearray) -> np.ndarray[Any, Any]:
    """The array that was sent; where NumPy keeps its own function for this depends on its version."""
    return np.frombuffer(data if isinstance(data, bytearray) else bytearray(data), dtype).reshape(shape)


def _reduced(array: np.ndarray[Any, Any]) -> Any:
    if array.nbytes < LARGE:
        return array_of, (array.dtype.str, array.shape, array.tobytes())
    return array_of, (array.dtype.str, array.shape, pickle.PickleBuffer(np.ascontiguousarray(array).data))


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        return _reduced(value) if type(value) is np.ndarray else NotImplemented


def packed(message: Any) -> list[memoryview]:
    """One message as the bytes that `receive` reads. Large arrays in it are parts of their own, and no copies."""
    held, arrays = io.BytesIO(), list[pickle.PickleBuffer]()
    _Pickler(held, protocol=5, buffer_callback=arrays.append).dump(message)
    parts = [held.getbuffer(), *[array.raw() for array in arrays]]
    sizes = [_LENGTH.pack(size) for size in (len(parts), *[len(part) for part in parts])]
    return [memoryview(b"".join(sizes)), *parts]


def send(stream: BinaryIO, message: Any) -> None:
    """Write one message; raises `OSError` when nobody reads any more."""
    for part in packed(message):
        stream.write(part)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read one message; raises `EOFError` when the other side is gone."""
    (count,) = _LENGTH.unpack(_read(stream, _LENGTH.size))
    sizes = [_LENGTH.unpack(_read(stream, _LENGTH.size))[0] for _ in range(count)]
    first, *arrays = [_read(stream, size) for size in sizes]
    return pickle.loads(first, buffers=arrays)


def _read(stream: BinaryIO, size: int) -> bytearray:
    data = bytearray(size)
    if stream.readinto(data) < size:  # type: ignore[attr-defined]  # buffered: all of it, up to the end
        raise EOFError
    return data
