"""torch's functions that divide, repeat, sort or join tensors in terms of NumPy's names; see `numpy_translations`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from autotest.frameworks.torch_arguments import is_all_of, sizes


def selections(mx: Any) -> dict[str, Callable[..., Any]]:
    """Return functions that divide, repeat, sort or join tensors, by torch's names."""

    def part(input: Any, dim: int, key: int | slice) -> Any:
        return input[(slice(None),) * (dim % input.ndim) + (key,)]

    def parts(input: Any, dim: int, ends: Sequence[int]) -> tuple[Any, ...]:
        return tuple([part(input, dim, slice(*between)) for between in zip((0, *ends), ends, strict=False)])

    def split(input: Any, split_size: Any, dim: int = 0) -> tuple[Any, ...]:
        length = input.shape[dim]
        if isinstance(split_size, int):
            return parts(input, dim, [*range(split_size, length, split_size), length])
        if sum(split_size) != length:
            raise ValueError(f"split: expected sizes that add up to {length}, got {list(split_size)}")
        return parts(input, dim, [*itertools.accumulate(split_size)])

    def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
        size = -(-input.shape[dim] // chunks)
        return split(input, size, dim) if size else tuple([part(input, dim, slice(0))] * chunks)

    def tensor_split(input: Any, indices_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
        length, given = input.shape[dim], indices_or_sections
        if isinstance(given, int):
            size, longer = divmod(length, given)
            return parts(input, dim, [(at + 1) * size + min(at + 1, longer) for at in range(given)])
        return tuple([part(input, dim, slice(*both)) for both in zip((None, *given), (*given, None), strict=True)])

    def narrow(input: Any, dim: int, start: int, length: int) -> Any:
        first = start + input.shape[dim] * (start < 0)
        if not 0 <= first <= first + length <= input.shape[dim]:
            raise IndexError(f"narrow: expected a part of {input.shape[dim]} elements, got {length} from {start}")
        return part(input, dim, slice(first, first + length))

    def masked_fill(input: Any, mask: Any, value: Any) -> Any:
        return mx.where(mask, value.astype(input.dtype) if isinstance(value, mx.array) else value, input)

    def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
        if is_all_of(input, dim):
            return mx.zeros_like(input).astype(mx.int64)
        given = mx.stop_gradient(input)
        if not descending:
            return mx.argsort(given, axis=dim).astype(mx.int64)
        # The reverse of what sorts the reversed elements keeps the order of equal ones.
        last = input.shape[dim] - 1
        return mx.flip(last - mx.argsort(mx.flip(given, dim), axis=dim), dim).astype(mx.int64)

    def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Any, Any]:
        places = argsort(input, dim, descending)
        return input if is_all_of(input, dim) else mx.take_along_axis(input, places, axis=dim), places

    def joined(name: str) -> dict[str, Callable[..., Any]]:
        own = getattr(mx, name, None)
        return {} if own is None else {name: lambda tensors: own(tensors)}

    return {
        "flip": lambda input, *dims: mx.flip(input, sizes(dims)),
        "split": split,
        "chunk": chunk,
        "tensor_split": tensor_split,
        "unbind": lambda input, dim=0: tuple([part(input, dim, at) for at in range(input.shape[dim])]),
        "select": lambda input, dim, index: part(input, dim, index),
        "narrow": narrow,
        "repeat": lambda input, *repeats: mx.tile(input, sizes(repeats)),
        "repeat_interleave": lambda input, repeats, dim=None: mx.repeat(input, repeats, axis=dim),
        "masked_fill": masked_fill,
        "argsort": argsort,
        "sort": sort,
        **joined("vstack"),
        **joined("hstack"),
        **joined("dstack"),
    }
