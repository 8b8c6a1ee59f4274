"""Writes literals and captured arrays as exact Python source.

Small arrays are written as decimals: the shortest decimal that NumPy writes for a number is exact when it is read back
into its dtype, and this module checks it byte by byte for every such array. Large arrays, and NaNs with a payload, are
written as compressed bytes.
"""

from __future__ import annotations

import base64
import math
import textwrap
import zlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autotest.base.errors import NotReplayable
from autotest.emission import naming
from autotest.emission.quoting import string
from autotest.program import Captured, File, Program, Ref, Root, captured, numpy_scalars

#: Number of elements above which an array is written as bytes, unless all its elements are the same.
READABLE = 40
#: The greatest number of digits of a compressed array in one line.
_LONGEST = 1 << 16
#: Number of columns of a line, at most.
_WIDTH = 100

#: Returns the source text of a `Ref`, a `Root`, a `Captured` or a `File`.
LeafText = Callable[[Any], str]


def literal(value: Any, leaf: LeafText) -> str:
    """Return a Python expression for `value`.

    Args:
        value: an operand.
        leaf: returns the text of references in it.

    Raises:
        NotReplayable: the value has no source text.
    """
    kind = type(value)
    if kind is Ref or kind is Root or kind is Captured or kind is File:
        return leaf(value)
    if value is None or kind is bool or kind is int or kind is bytes or kind is range:
        return repr(value)
    if value is Ellipsis:
        return "..."
    if kind is str:
        return string(value)
    if kind is float:
        return repr(value) if math.isfinite(value) else f'float("{value}")'
    if kind is complex:
        # The repr of a complex number with a negative zero or a NaN evaluates to another number, or not at all.
        plain = math.isfinite(value.real) and math.isfinite(value.imag) and repr(_read(repr(value))) == repr(value)
        return repr(value) if plain else f"complex({literal(value.real, leaf)}, {literal(value.imag, leaf)})"
    if kind is tuple:
        items = [literal(item, leaf) for item in value]
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    if kind is list:
        return f"[{', '.join(literal(item, leaf) for item in value)}]"
    if kind is OrderedDict:
        return f"collections.OrderedDict({literal(dict(value), leaf)})"
    if kind is dict:
        return "{" + ", ".join(f"{literal(key, leaf)}: {literal(item, leaf)}" for key, item in value.items()) + "}"
    if kind is slice:
        return f"slice({', '.join(literal(item, leaf) for item in (value.start, value.stop, value.step))})"
    if kind is type and value.__module__ == "builtins":
        return str(value.__name__)
    if numpy_scalars.is_scalar(value):
        return f"np.{value.dtype.name.rstrip('_')}({_number(value)})".replace("np.bool(", "np.bool_(")
    raise NotReplayable(
        f"an operand of type {kind.__module__}.{kind.__qualname__} has no source text: expected a plain value, "
        f"a container of such, an earlier result, or a name of the framework"
    )


def modules_of(value: Any) -> set[str]:
    """Return the modules of the standard library that the text of `literal` for `value` needs."""
    if isinstance(value, dict):
        inside: set[str] = set().union(*map(modules_of, value.values()))
        return inside | {"collections"} if type(value) is OrderedDict else inside
    return set().union(*map(modules_of, value)) if isinstance(value, (list, tuple)) else set()


def plain(value: Any) -> str:
    """Return a Python expression for `value`, which contains no references to a program.

    Raises:
        NotReplayable: the value has no source text.
    """

    def refuse(item: Any) -> str:
        raise NotReplayable(f"{item!r} is not a plain value")

    return literal(value, refuse)


def index(value: Any, leaf: LeafText) -> str:
    """Return the text between the brackets of ``x[...]`` for the index `value`."""
    if type(value) is not tuple or not value:
        return _index_item(value, leaf)
    items = [_index_item(item, leaf) for item in value]
    return f"{items[0]}," if len(items) == 1 else ", ".join(items)


def _index_item(value: Any, leaf: LeafText) -> str:
    if type(value) is not slice:
        return literal(value, leaf)
    start, stop, step = ("" if part is None else literal(part, leaf) for part in (value.start, value.stop, value.step))
    return f"{start}:{stop}" + (f":{step}" if step else "")


def array(data: np.ndarray[Any, Any]) -> str | None:
    """Return a NumPy expression that evaluates exactly to `data`, or None if `data` has to be written as bytes."""
    dtype, shape = data.dtype.name, data.shape
    if data.size == 0:
        return f'np.zeros({shape}, "{dtype}")'
    if data.size > READABLE and not _is_uniform(data):
        return None
    flat = [_number(item) for item in data.reshape(-1)[:READABLE]]
    text = None
    if data.size > 4 and len(set(flat)) == 1:
        plain = {"0.0": "zeros", "0": "zeros", "1.0": "ones", "1": "ones"}.get(flat[0])
        text = f'np.{plain}({shape}, "{dtype}")' if plain else f'np.full({shape}, {flat[0]}, "{dtype}")'
    if (text is None or not _is(text, data)) and data.size <= READABLE:
        text = f'np.array({_nested(flat, shape)}, "{dtype}")'
    return text if text is not None and _is(text, data) else None


def compressed(data: np.ndarray[Any, Any]) -> str | None:
    """Return an expression of one line that needs `zlib` and evaluates to a copy of `data`; None if it is too long.

    Hexadecimal digits after that of a compression contain no names of variables, which scripts look for.
    """
    code = _zlib_bytes(data).hex()
    if len(code) > _LONGEST:
        return None
    bytes_text = f'zlib.decompress(bytes.fromhex("{code}"))'
    return f'np.frombuffer({bytes_text}, "{data.dtype.name}").reshape({data.shape}).copy()'


def _zlib_bytes(data: np.ndarray[Any, Any]) -> bytes:
    return zlib.compress(np.ascontiguousarray(data).tobytes(), 9)


def _is_uniform(data: np.ndarray[Any, Any]) -> bool:
    """Whether all elements are bitwise equal."""
    flat = np.ascontiguousarray(data).reshape(-1).view(f"V{data.itemsize}")
    return bool((flat == flat[0]).all())


def _is(text: str, data: np.ndarray[Any, Any]) -> bool:
    """Whether `text` evaluates to an array bitwise equal to `data`."""
    try:
        again: np.ndarray[Any, Any] = _read(text)
    except (NameError, OverflowError, ValueError):  # complex numbers that are not finite have no literal
        return False
    same = again.dtype == data.dtype and again.shape == data.shape
    return same and again.tobytes() == np.ascontiguousarray(data).tobytes()


def _read(text: str) -> Any:
    """Return the value of the expression `text`, which this module wrote and which contains only numbers."""
    with np.errstate(all="ignore"):
        return eval(text, {"__builtins__": {"complex": complex}, "np": np})  # noqa: S307


def _number(item: Any) -> str:
    """Return the shortest text that gives `item` when it is read into its own dtype, if there is such a text."""
    if item.dtype.kind == "f" and not np.isfinite(item):
        return {"inf": "np.inf", "-inf": "-np.inf"}.get(str(item), "np.nan")
    if item.dtype.kind == "c":
        plain = np.isfinite(item) and np.array(_read(str(item)), item.dtype).tobytes() == item.tobytes()
        return str(item) if plain else f"complex({_number(item.real)}, {_number(item.imag)})"
    return repr(item.item()) if item.dtype.kind == "b" else str(item)


def _nested(flat: list[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return f"[{', '.join(flat)}]"
    step = len(flat) // shape[0]
    return f"[{', '.join(_nested(flat[at : at + step], shape[1:]) for at in range(0, len(flat), step))}]"


class Definition(NamedTuple):
    """A captured array as source."""

    #: The array as an expression.
    value: str
    #: The statement that assigns `value` to its name, wrapped at `_WIDTH`.
    statement: str
    #: Whether the array is written as compressed bytes, which need the function ``packed``.
    packed: bool


def definition(name: str, data: np.ndarray[Any, Any]) -> Definition:
    """Return the definition of `name` as the array `data`, in lines of at most `_WIDTH` columns."""
    value = array(data)
    if value is not None:
        statement = textwrap.fill(
            f"{name} = {value}", _WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )
        return Definition(value, statement, packed=False)
    code = base64.b85encode(_zlib_bytes(data)).decode("ascii")
    lines = [f'    "{code[at : at + _WIDTH - 6]}"' for at in range(0, len(code), _WIDTH - 6)]
    value = "\n".join([f'packed("{data.dtype.name}", {data.shape},', *lines]) + ")"
    return Definition(value, f"{name} = {value}", packed=True)


def has_packed(program: Program) -> bool:
    """Whether any captured array that `program` reads is written as compressed bytes."""
    read = {item.index for call in program.calls for item in captured(call)}
    return any(array(program.arrays[at].data) is None for at in read)


def definitions(program: Program) -> dict[int, Definition]:
    """Return the definitions of the captured arrays that `program` reads, by index."""
    return {at: definition(name, program.arrays[at].data) for at, name in naming.constants(program).items()}
