"""Serialises programs to JSON and arrays, and reads them back, without losing a bit.

None, booleans, integers, finite floats, strings and lists are written as such in JSON. Every other operand is an object
with one key, its tag: ``{"ref": 3}``, ``{"tuple": [1, 2]}``, ``{"float": "nan"}``.
"""

from __future__ import annotations

import base64
import builtins
import io
import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, get_args

import numpy as np

from autotest.base.errors import NotReplayable
from autotest.program import Array, Call, CallKind, Captured, File, Operand, Program, Ref, Root, Scope, captured
from autotest.program.numpy_scalars import is_scalar

#: Version of the format; increased by each change that older readers would misunderstand.
VERSION = 1

_KINDS = frozenset(get_args(CallKind))


def to_json(program: Program) -> dict[str, Any]:
    """Return `program`, without the contents of its arrays, as values that `json.dumps` accepts.

    Raises:
        NotReplayable: an operand cannot be written as data; the message names the call.
    """
    calls = []
    for call in program.calls:
        try:
            args = [encode(item) for item in call.args]
            kwargs = {key: encode(item) for key, item in call.kwargs.items()}
        except NotReplayable as error:
            raise NotReplayable(f"call {call.slot} ({call.kind} {call.target}): {error}") from None
        calls.append([call.kind, call.target, args, kwargs, call.note, *([str(call.scope)] if call.scope else [])])
    return {
        "format": "autotest program",
        "version": VERSION,
        "calls": calls,
        "dtypes": [array.dtype for array in program.arrays],
        "undefined": sorted(program.undefined),
    }


def from_json(document: Any, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Program:
    """Return the program that `to_json` and `pack_arrays` serialised.

    Args:
        document: the return value of `to_json`.
        arrays: the return value of `unpack_arrays`.

    Raises:
        ValueError: `document` is damaged, has another format version, or does not fit `arrays`.
    """
    if not isinstance(document, dict) or document.get("format") != "autotest program":
        raise ValueError("expected a program as autotest writes it, got something else")
    if document.get("version") != VERSION:
        raise ValueError(f"the program is of format version {document.get('version')!r}; this reads {VERSION}")
    try:
        calls = tuple(
            Call(
                kind,
                _text(target),
                tuple([decode(item) for item in args]),
                {key: decode(item) for key, item in kwargs.items()},
                slot,
                _text(note),
                _scope(*scope),
            )
            for slot, (kind, target, args, kwargs, note, *scope) in enumerate(document["calls"])
        )
        contents = tuple(Array(arrays[f"a{index}"], dtype) for index, dtype in enumerate(document["dtypes"]))
        program = Program(calls, contents, frozenset(document["undefined"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the program is damaged: {type(error).__name__}: {error}") from error
    _check(program)
    return program


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected the name of a call or its note, got {value!r}")
    return value


def _scope(written: str = "") -> Scope | None:
    network, _, path = written.partition(".")
    return Scope(network, path) if network else None


def _check(program: Program) -> None:
    """Raise `ValueError` for damage that `Program` does not check itself, since the recorder cannot cause it."""
    for call in program.calls:
        if call.kind not in _KINDS:
            raise ValueError(f"the program is damaged: call {call.slot} is of unknown kind {call.kind!r}")
        for item in captured(call):
            if not 0 <= item.index < len(program.arrays):
                raise ValueError(
                    f"the program is damaged: call {call.slot} reads array {item.index} of {len(program.arrays)}"
                )
    if not program.undefined <= set(range(len(program.calls))):
        raise ValueError("the program is damaged: it marks a slot as undefined that does not exist")


def pack_arrays(program: Program) -> bytes:
    """Return the captured arrays of `program` as one compressed npz archive."""
    named: dict[str, Any] = dict(named_arrays(program.arrays))
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **named)
    return buffer.getvalue()


def named_arrays(arrays: Sequence[Array], start: int = 0) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Yield the captured arrays from index `start` on, each with the name that `from_json` expects.

    Raises:
        NotReplayable: an array contains Python objects instead of numbers.
    """
    for index in range(start, len(arrays)):
        data = arrays[index].data
        if data.dtype.hasobject:
            raise NotReplayable(f"captured array {index} holds Python objects (dtype {data.dtype}), not numbers")
        yield f"a{index}", data


def unpack_arrays(data: bytes) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays in `data`, an archive made by `pack_arrays`, by name.

    Raises:
        ValueError: the archive is damaged.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except Exception as error:  # `zipfile` and NumPy raise exceptions of many classes, such as `NotImplementedError`
        raise ValueError(f"the arrays are damaged: {type(error).__name__}: {error}") from error


def encode(value: Operand) -> Any:
    """Return one operand as values that `json.dumps` accepts.

    Raises:
        NotReplayable: the operand is of a type that cannot be written as data.
    """
    kind = type(value)
    if value is None or kind is bool or kind is int or kind is str:
        return value
    writer = _WRITERS.get(kind)
    if writer is not None:
        return writer(value)
    if kind is type and value.__module__ == "builtins":
        return {"type": value.__name__}
    if is_scalar(value):
        return {"numpy": [value.dtype.name, base64.b64encode(value.tobytes()).decode("ascii")]}
    raise NotReplayable(f"an operand of type {kind.__module__}.{kind.__qualname__} cannot be written down as data")


def decode(value: Any) -> Any:
    """Return the operand that `encode` was called with.

    Raises:
        ValueError: `value` is nothing that `encode` returns.
    """
    if type(value) is list:
        return [decode(item) for item in value]
    if type(value) is not dict:
        return value
    if len(value) != 1:
        raise ValueError(f"expected an object with one key for an operand, got {sorted(value)}")
    ((tag, content),) = value.items()
    reader = _READERS.get(tag)
    if reader is None:
        raise ValueError(f"an operand is tagged {tag!r}; expected one of {', '.join(_READERS)}")
    try:
        return reader(content)
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"an operand tagged {tag!r} is damaged: {error}") from error


def _builtin_type(name: str) -> type:
    found = getattr(builtins, name)
    if not isinstance(found, type):
        raise ValueError(f"{name!r} is not a builtin type")  # noqa: TRY004 - the document is wrong
    return found


def _scalar(content: list[str]) -> Any:
    dtype, data = content
    return np.frombuffer(base64.b64decode(data), dtype)[0]


_WRITERS: Mapping[type, Callable[[Any], Any]] = MappingProxyType(
    {
        float: lambda value: value if math.isfinite(value) else {"float": repr(value)},
        list: lambda items: [encode(item) for item in items],
        tuple: lambda items: {"tuple": [encode(item) for item in items]},
        dict: lambda items: {"dict": [[encode(key), encode(item)] for key, item in items.items()]},
        OrderedDict: lambda items: {"ordered": [[encode(key), encode(item)] for key, item in items.items()]},
        Ref: lambda ref: {"ref": ref.slot},
        Root: lambda root: {"root": root.path},
        Captured: lambda captured: {"captured": captured.index},
        File: lambda file: {"file": file.name},
        slice: lambda part: {"slice": [encode(part.start), encode(part.stop), encode(part.step)]},
        type(Ellipsis): lambda _: {"ellipsis": True},
        complex: lambda value: {"complex": [encode(value.real), encode(value.imag)]},
        range: lambda value: {"range": [value.start, value.stop, value.step]},
        bytes: lambda data: {"bytes": base64.b64encode(data).decode("ascii")},
    }
)
_READERS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "tuple": lambda items: tuple([decode(item) for item in items]),
    "dict": lambda items: {decode(key): decode(item) for key, item in items},
    "ordered": lambda items: OrderedDict((decode(key), decode(item)) for key, item in items),
    "ref": Ref,
    "root": Root,
    "captured": Captured,
    "file": File,
    "slice": lambda parts: slice(*[decode(part) for part in parts]),
    "ellipsis": lambda _: Ellipsis,
    "complex": lambda parts: complex(*[decode(part) for part in parts]),
    "range": lambda parts: range(*parts),
    "bytes": base64.b64decode,
    "type": _builtin_type,
    "numpy": _scalar,
}
