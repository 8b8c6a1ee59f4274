"""NumPy counterparts of convolutions, pooling and padding, written from their definitions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.counterparts.values import NumpyFunction, Unsupported, Values


def each(value: Any, rank: int) -> tuple[int, ...]:
    """Return one number for each of `rank` dimensions; a single number is used for all of them."""
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return given * rank if len(given) == 1 else given


def _offsets(kernel: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*map(range, kernel))


def _last(parts: Iterable[Any]) -> tuple[Any, ...]:
    """Return an index that applies `parts` to the last dimensions."""
    return (..., *parts)


def _at(offset: Sequence[int], sizes: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> tuple[Any, ...]:
    """Return the index of the element at `offset` in each window; there are `sizes` windows along each dimension."""
    starts = [at * step for at, step in zip(offset, dilation, strict=True)]
    spans = zip(starts, sizes, stride, strict=True)
    return _last(slice(start, start + (size - 1) * step + 1, step) for start, size, step in spans)


def _batched(function: Callable[..., Values]) -> Callable[..., Values]:
    """Return `function` of a batch extended to a single sample without a batch dimension."""

    def called(x: Values, weight: Values, *args: Any, **named: Any) -> Values:
        if x.ndim == weight.ndim:
            return function(x, weight, *args, **named)
        return np.asarray(function(x[None], weight, *args, **named)[0])

    return called


def _convolution(
    x: Values, weight: Values, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Values:
    kernel = weight.shape[2:]
    rank = len(kernel)
    stride, dilation = each(stride, rank), each(dilation, rank)
    reach = [step * (size - 1) for step, size in zip(dilation, kernel, strict=True)]
    if isinstance(padding, str):
        pads = [(total // 2, total - total // 2) if padding == "same" else (0, 0) for total in reach]
    else:
        pads = [(one, one) for one in each(padding, rank)]
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    sizes = [(n - total - 1) // s + 1 for n, total, s in zip(x.shape[2:], reach, stride, strict=True)]
    parts = []
    for some, own in zip(np.split(x, groups, axis=1), np.split(weight, groups, axis=0), strict=True):
        part = np.zeros((x.shape[0], own.shape[0], *sizes), x.dtype)
        for offset in _offsets(kernel):
            part += np.einsum("nc...,oc->no...", some[_at(offset, sizes, stride, dilation)], own[_last(offset)])
        parts.append(part)
    result = np.concatenate(parts, axis=1)
    return result if bias is None else np.asarray(result + bias.reshape(-1, *[1] * rank))


def _transposed(
    x: Values, weight: Values, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Values:  # fmt: skip
    kernel, sizes = weight.shape[2:], x.shape[2:]
    rank = len(kernel)
    stride, dilation = each(stride, rank), each(dilation, rank)
    padding, extra = each(padding, rank), each(output_padding, rank)
    spans = zip(sizes, kernel, stride, dilation, extra, strict=True)
    whole = [(n - 1) * s + d * (k - 1) + 1 + more for n, k, s, d, more in spans]
    parts = []
    for some, own in zip(np.split(x, groups, axis=1), np.split(weight, groups, axis=0), strict=True):
        part = np.zeros((x.shape[0], weight.shape[1], *whole), x.dtype)
        for offset in _offsets(kernel):
            part[_at(offset, sizes, stride, dilation)] += np.einsum("nc...,co->no...", some, own[_last(offset)])
        parts.append(part)
    result = np.concatenate(parts, axis=1)
    result = result[_last(slice(one, size - one) for one, size in zip(padding, whole, strict=True))]
    return result if bias is None else np.asarray(result + bias.reshape(-1, *[1] * rank))


def _windows(
    x: Values, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, rank: int, fill: Any
) -> tuple[Values, Values]:
    """Return the elements of each window along a new first dimension, and two masks for each element.

    The masks are stacked along the second dimension of the second array. The first is 1 for elements of `x` and its
    padding, the second only for elements of `x`. Both are 0 for elements beyond the padding, which `ceil_mode` adds.
    """
    kernel, padding, dilation = each(kernel, rank), each(padding, rank), each(dilation, rank)
    stride = kernel if stride is None or stride in ([], ()) else each(stride, rank)
    sizes, pads = [], []
    for n, k, s, p, d in zip(x.shape[-rank:], kernel, stride, padding, dilation, strict=True):
        span = (n + 2 * p - d * (k - 1) - 1) / s
        size = (math.ceil(span) if ceil_mode else math.floor(span)) + 1
        if ceil_mode and (size - 1) * s >= n + p:
            size -= 1  # a window must begin inside the input or its left padding
        sizes.append(size)
        pads.append((p, max(0, (size - 1) * s + d * (k - 1) + 1 - n - p)))
    none = [(0, 0)] * (x.ndim - rank)
    padded = np.pad(x, [*none, *pads], constant_values=fill)
    inner = [(p, min(p, after)) for p, (_, after) in zip(padding, pads, strict=True)]
    beyond = [(0, after - own) for (_, after), (_, own) in zip(pads, inner, strict=True)]
    counted = np.pad(np.pad(np.ones(x.shape[-rank:]), inner, constant_values=1), beyond)
    real = np.pad(np.ones(x.shape[-rank:]), pads)
    places = [_at(offset, sizes, stride, dilation) for offset in _offsets(kernel)]
    inside = np.stack([np.stack([counted[at], real[at]]) for at in places])
    return np.stack([padded[at] for at in places]), inside


def _max_pool(rank: int) -> NumpyFunction:
    def pooled(
        x: Values, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:  # fmt: skip
        windows, _ = _windows(x, kernel_size, stride, padding, dilation, ceil_mode, rank, -np.inf)
        found = windows.max(axis=0)
        return (found, None) if return_indices else found

    return pooled


def _average_pool(rank: int) -> NumpyFunction:
    def pooled(
        x: Values, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: Any = None,
    ) -> Values:  # fmt: skip
        windows, inside = _windows(x, kernel_size, stride, padding, 1, ceil_mode, rank, 0)
        counted = inside[:, 0 if count_include_pad else 1].sum(axis=0)
        return np.asarray(windows.sum(axis=0) / (divisor_override or counted))

    return pooled


def adaptive(rank: int, reduce: NumpyFunction) -> NumpyFunction:
    def pooled(x: Values, output_size: Any, return_indices: bool = False) -> Any:
        wanted: tuple[Any, ...] = each(output_size, rank)
        for axis, asked in zip(range(x.ndim - rank, x.ndim), wanted, strict=True):
            n = x.shape[axis]
            size = n if asked is None else asked
            spans = [(i * n // size, -(-(i + 1) * n // size)) for i in range(size)]
            x = np.stack([reduce(x.take(range(*span), axis=axis), axis=axis) for span in spans], axis=axis)
        return (x, None) if return_indices else x

    return pooled


_MODES = MappingProxyType({"reflect": "reflect", "replicate": "edge", "circular": "wrap"})


def _pad(x: Values, pad: Any, mode: str = "constant", value: Any = None) -> Values:
    pairs = [(pad[at], pad[at + 1]) for at in range(0, len(pad), 2)]
    widths = [*[(0, 0)] * (x.ndim - len(pairs)), *reversed(pairs)]
    cut = tuple(slice(max(0, -before), n - max(0, -after)) for n, (before, after) in zip(x.shape, widths, strict=True))
    grown = [(max(0, before), max(0, after)) for before, after in widths]
    if mode == "constant":
        return np.pad(x[cut], grown, constant_values=0 if value is None else value)
    return np.pad(x[cut], grown, mode=_MODES[mode])  # type: ignore[call-overload,no-any-return]


def _unfold(x: Values, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Values:
    if x.ndim != 4:
        raise Unsupported
    windows, _ = _windows(x, kernel_size, each(stride, 2), padding, dilation, False, 2, 0)
    count = math.prod(windows.shape[3:])
    return np.moveaxis(windows, 0, 2).reshape(x.shape[0], x.shape[1] * windows.shape[0], count)


def _fold(
    x: Values, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Values:
    if x.ndim != 3:
        raise Unsupported
    whole, kernel, dilation, padding, stride = (
        each(one, 2) for one in (output_size, kernel_size, dilation, padding, stride)
    )
    spans = zip(whole, kernel, dilation, padding, stride, strict=True)
    sizes = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in spans]
    blocks = x.reshape(x.shape[0], -1, math.prod(kernel), *sizes)
    result = np.zeros((*blocks.shape[:2], *(n + 2 * p for n, p in zip(whole, padding, strict=True))), x.dtype)
    for number, offset in enumerate(_offsets(kernel)):
        result[_at(offset, sizes, stride, dilation)] += blocks[:, :, number]
    return np.asarray(result[_last(slice(p, p + n) for n, p in zip(whole, padding, strict=True))])


WINDOWS: Mapping[str, NumpyFunction] = MappingProxyType(
    {
        **{f"conv{rank}d": _batched(_convolution) for rank in (1, 2, 3)},
        **{f"conv_transpose{rank}d": _batched(_transposed) for rank in (1, 2, 3)},
        **{f"max_pool{rank}d": _max_pool(rank) for rank in (1, 2, 3)},
        **{f"avg_pool{rank}d": _average_pool(rank) for rank in (1, 2, 3)},
        **{f"adaptive_avg_pool{rank}d": adaptive(rank, np.mean) for rank in (1, 2, 3)},
        **{f"adaptive_max_pool{rank}d": adaptive(rank, np.max) for rank in (1, 2, 3)},
        "pad": _pad,
        "unfold": _unfold,
        "fold": _fold,
    }
)
