"""Messages between two interpreters, which may have other versions of Python and NumPy: objects as framed pickles."""

from __future__ import annotations

import dataclasses
import io
import pickle
import struct
from typing import Any, BinaryIO, NamedTuple

import numpy as np

_LENGTH = struct.Struct("<Q")


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
    #: Whether the framework has no name for what the call asked.
    absent: bool = False


def array_of(dtype: str, shape: tuple[int, ...], data: bytes) -> np.ndarray[Any, Any]:
    """The array that was sent; where NumPy keeps its own function for this depends on its version."""
    return np.frombuffer(bytearray(data), dtype).reshape(shape)


def _reduced(array: np.ndarray[Any, Any]) -> Any:
    return array_of, (array.dtype.str, array.shape, array.tobytes())


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        return _reduced(value) if type(value) is np.ndarray else NotImplemented


def packed(message: Any) -> memoryview:
    """One message as the bytes that `receive` reads."""
    held = io.BytesIO(bytes(_LENGTH.size))
    held.seek(_LENGTH.size)
    _Pickler(held, protocol=4).dump(message)
    data = held.getbuffer()
    _LENGTH.pack_into(data, 0, len(data) - _LENGTH.size)
    return data


def send(stream: BinaryIO, message: Any) -> None:
    """Write one message; raises `OSError` when nobody reads any more."""
    stream.write(packed(message))
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read one message; raises `EOFError` when the other side is gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)
