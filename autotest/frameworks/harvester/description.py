"""Describes the arguments of a call: as a short key, to recognise the call again, and in full, as JSON values."""

from __future__ import annotations

import base64
import ctypes
import math
import zlib
from typing import Any

import torch

#: Size in bytes of the largest tensor whose contents are written.
LARGEST = 1 << 24
#: Maximum number of elements of a floating tensor whose contents are written: `MASK` if it contains an infinity or a
#: NaN, as masks do, else `FEW`.
MASK, FEW = 1 << 16, 8
#: Maximum number of items in a list, or in all arguments of a call, that are written.
LONGEST = 10_000

_PARAMETER = torch.nn.Parameter
_TENSOR = torch.Tensor
_SIMPLE = (type(None), bool, int, str, type(Ellipsis))
_NAMED = (torch.dtype, torch.layout, torch.memory_format)


class TooLong(Exception):
    """Raised for arguments with more than `LONGEST` items."""


def short(value: Any, floats: list[float]) -> Any:
    """Return a hashable key that distinguishes arguments, without contents of tensors and without floats.

    The floats are appended to `floats`.
    """
    kind = type(value)
    if kind is _TENSOR or kind is _PARAMETER:
        try:
            return value.dtype, value.shape, value.stride(), value.requires_grad, value.device.type
        except RuntimeError:  # a sparse tensor has no strides
            return value.dtype, value.shape, value.layout
    if kind is int or kind is str:
        return value
    if kind is float:
        floats.append(value)
        return float
    if kind is bool:
        return "True" if value else "False"  # 1 == True
    if kind is tuple or kind is list:
        if len(value) > LONGEST:
            return kind, len(value)
        return kind, tuple([short(item, floats) for item in value])
    if kind is torch.Size:
        return tuple(value)
    if kind is dict:
        return kind, tuple([(key, short(item, floats)) for key, item in value.items()])
    if kind is slice:
        return kind, short((value.start, value.stop, value.step), floats)
    if kind in _NAMED or kind is torch.device or value is None or value is Ellipsis:
        return value
    if isinstance(value, _TENSOR):
        return kind, short(value.as_subclass(_TENSOR), floats)
    number = _number(value)
    return kind if number is None else (kind, short(number, floats))


class Writer:
    """Converts the arguments of one call to JSON values; a tensor that occurs twice is written once."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._items = 0

    def tree(self, value: Any) -> Any:
        """Return `value` as a JSON value. A type that JSON lacks becomes an object with one key, which names the type.

        Raises:
            TooLong: if the arguments of the call have more than `LONGEST` items.
        """
        kind = type(value)
        self._items += 1
        if self._items > LONGEST:
            raise TooLong
        if isinstance(value, _TENSOR):
            return self._tensor(value)
        if value is Ellipsis:
            return {"ellipsis": True}
        if kind in _SIMPLE:
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is complex:
            return {"complex": [self.tree(value.real), self.tree(value.imag)]}
        if isinstance(value, tuple):  # includes torch.Size
            return {"tuple": [self.tree(item) for item in value]}
        if isinstance(value, (list, range)):
            return [self.tree(item) for item in value]
        if isinstance(value, dict):
            return {"dict": [[self.tree(key), self.tree(item)] for key, item in value.items()]}
        if kind is slice:
            return {"slice": [self.tree(part) for part in (value.start, value.stop, value.step)]}
        if kind in _NAMED:
            return {"root": str(value).partition(".")[2]}
        if kind is torch.device:
            return {"device": value.type}
        if any(value is one for one in (bool, int, float, complex)):
            return {"type": value.__name__}
        if _number(value) is None:
            return {"object": f"{kind.__module__}.{kind.__qualname__}"}
        # Not as a number of Python: a framework may refuse it, or give the result another dtype.
        return {"numpy": [value.dtype.name, base64.b64encode(value.tobytes()).decode("ascii")]}

    def _tensor(self, tensor: Any) -> Any:
        known = self._numbers.get(id(tensor))
        if known is not None:
            return {"same": known}
        self._numbers[id(tensor)] = len(self._numbers)
        return {"tensor": tensor_facts(tensor)}


def _number(value: Any) -> Any:
    """Return the Python number for a NumPy scalar, or None for any other value."""
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == () and hasattr(value, "item"):
        item = value.item()
        return item if isinstance(item, (bool, int, float, complex)) else None
    return None


def tensor_facts(tensor: Any) -> dict[str, Any]:
    """Return the facts about a tensor that are written: dtype, shape, strides, range of values and so on."""
    plain = tensor.detach()
    facts: dict[str, Any] = {
        "dtype": str(plain.dtype).partition(".")[2],
        "shape": list(plain.shape),
        "requires_grad": bool(tensor.requires_grad),
        "device": plain.device.type,
    }
    if plain.layout is not torch.strided or plain.is_quantized:
        return {**facts, "layout": str(plain.layout).partition(".")[2] if not plain.is_quantized else "quantized"}
    facts["strides"] = list(plain.stride())
    if plain.device.type != "meta" and plain.numel():
        _values(plain, facts)
    return facts


def _values(plain: Any, facts: dict[str, Any]) -> None:
    """Add the range of the values to `facts`, and also the contents if the range does not describe them well enough."""
    floating = plain.dtype.is_floating_point or plain.dtype.is_complex
    numbers = plain.resolve_conj().resolve_neg()
    if plain.dtype.is_complex:
        numbers = torch.view_as_real(numbers)
    if floating:
        facts["range"], facts["nonfinite"] = value_range(numbers)
        exact = plain.numel() <= (MASK if facts["nonfinite"] else FEW)
    else:
        if plain.dtype is not torch.bool:
            facts["range"] = [int(numbers.min()), int(numbers.max())]
        exact = True
    if exact and plain.numel() * plain.element_size() <= LARGEST:
        facts["contents"] = contents(plain.resolve_conj().resolve_neg())


def value_range(numbers: Any) -> tuple[list[float] | None, list[str]]:
    """Return the least and the greatest finite value (None if there is none), and the names of non-finite values."""
    numbers = numbers if numbers.dtype is torch.float64 else numbers.float()
    low, high = torch.aminmax(numbers)
    ends = [float(low), float(high)]
    if all(map(math.isfinite, ends)):
        return ends, []
    names = [("nan", torch.isnan(numbers)), ("inf", numbers == math.inf), ("-inf", numbers == -math.inf)]
    nonfinite = [name for name, there in names if bool(there.any())]
    finite = numbers[torch.isfinite(numbers)]
    return ([float(finite.min()), float(finite.max())] if finite.numel() else None), nonfinite


def contents(tensor: Any) -> str:
    """Return the elements in row-major order, little-endian, compressed by zlib, as base64."""
    flat = tensor.cpu().contiguous()
    data = ctypes.string_at(flat.data_ptr(), flat.numel() * flat.element_size())
    return base64.b64encode(zlib.compress(data)).decode("ascii")
