"""NumPy counterparts for the resizing of images and for unpooling, written from their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.counterparts.values import NumpyFunction, Unsupported, Values
from autotest.diagnosis.counterparts.windows import adaptive, each

#: The parameter `a` of Keys' cubic convolution, as torch and OpenCV choose it.
_SHARPNESS = -0.75


def _interpolate(
    x: Values, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None,
    recompute_scale_factor: Any = None, antialias: bool = False,
) -> Values:  # fmt: skip
    rank = x.ndim - 2
    if antialias:
        raise Unsupported
    scales: list[Any] = [None] * rank if scale_factor is None else [*each(scale_factor, rank)]
    sizes = each(size, rank) if size is not None else [int(n * f) for n, f in zip(x.shape[2:], scales, strict=True)]
    scales = [None] * rank if recompute_scale_factor else scales
    if mode == "area":
        return np.asarray(adaptive(rank, np.mean)(x, tuple(sizes)))
    along = _MODES[mode]
    for axis, (wanted, scale) in enumerate(zip(sizes, scales, strict=True), 2):
        x = along(x, axis, wanted, x.shape[axis] / wanted if scale is None else 1 / scale, bool(align_corners))
    return x


def _nearest(shift: float) -> Callable[..., Values]:
    def nearest(x: Values, axis: int, size: int, step: float, align_corners: bool) -> Values:
        at = (np.arange(size) + shift) * step
        single = (np.arange(size, dtype=np.float32) + np.float32(shift)) * np.float32(step)
        if (np.floor(at) != np.floor(single)).any():
            raise Unsupported  # the position may be rounded to either of two elements
        return np.take(x, np.minimum(at.astype(int), x.shape[axis] - 1), axis)

    return nearest


def _source(n: int, size: int, step: float, align_corners: bool) -> Values:
    """Return the position of each of `size` output elements among the `n` input elements."""
    if align_corners:
        return np.arange(size) * ((n - 1) / (size - 1) if size > 1 else 0.0)
    return np.asarray((np.arange(size) + 0.5) * step - 0.5)


def _along(share: Values, axis: int, rank: int) -> Values:
    return share.reshape([-1 if one == axis else 1 for one in range(rank)])


def _linear(x: Values, axis: int, size: int, step: float, align_corners: bool) -> Values:
    n = x.shape[axis]
    at = np.maximum(_source(n, size, step, align_corners), 0.0)
    low = np.minimum(np.floor(at).astype(int), n - 1)
    high = np.minimum(low + 1, n - 1)
    share = _along(at - low, axis, x.ndim)
    return np.asarray(np.take(x, low, axis) * (1 - share) + np.take(x, high, axis) * share)


def _cubic(x: Values, axis: int, size: int, step: float, align_corners: bool) -> Values:
    n = x.shape[axis]
    at = _source(n, size, step, align_corners)
    low = np.floor(at)
    total = np.zeros([size if one == axis else length for one, length in enumerate(x.shape)])
    for offset in (-1, 0, 1, 2):
        near = np.take(x, np.clip(low + offset, 0, n - 1).astype(int), axis)
        total += near * _along(_keys(np.abs(at - low - offset)), axis, x.ndim)
    return total


def _keys(distance: Values) -> Values:
    """Return the weight of an element at each distance from it, by Keys' cubic convolution."""
    a = _SHARPNESS
    inner = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    outer = ((distance - 5) * distance + 8) * distance * a - 4 * a
    return np.where(distance <= 1, inner, outer)


_MODES: Mapping[str, Callable[..., Values]] = MappingProxyType(
    {
        "nearest": _nearest(0.0),
        "nearest-exact": _nearest(0.5),
        **dict.fromkeys(("linear", "bilinear", "trilinear"), _linear),
        "bicubic": _cubic,
    }
)


def _upsample(mode: str, align_corners: bool | None) -> Callable[..., Values]:
    def upsample(x: Values, size: Any = None, scale_factor: Any = None) -> Values:
        return _interpolate(x, size, scale_factor, mode, align_corners)

    return upsample


def _unpooled(rank: int) -> Callable[..., Values]:
    def unpool(
        x: Values, indices: Values, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
    ) -> Values:
        kernel, padding = each(kernel_size, rank), each(padding, rank)
        step = kernel if stride is None or stride == [] else each(stride, rank)
        spans = zip(x.shape[-rank:], kernel, step, padding, strict=True)
        sizes = [(n - 1) * s - 2 * p + k for n, k, s, p in spans]
        sizes = sizes if output_size is None else list(output_size)[-rank:]
        result = np.zeros((math.prod(x.shape[:-rank]), math.prod(sizes)), x.dtype)
        rows = indices.reshape(len(result), -1)
        if any(len(np.unique(row)) < row.size for row in rows):
            raise Unsupported  # if two values are written to one place, any of them may be the last
        np.put_along_axis(result, rows, x.reshape(len(result), -1), axis=1)
        return result.reshape(*x.shape[:-rank], *sizes)

    return unpool


RESIZING: Mapping[str, NumpyFunction] = MappingProxyType(
    {
        "interpolate": _interpolate,
        "upsample": _interpolate,
        "upsample_nearest": _upsample("nearest", None),
        "upsample_bilinear": _upsample("bilinear", True),
        **{f"max_unpool{rank}d": _unpooled(rank) for rank in (1, 2, 3)},
    }
)
