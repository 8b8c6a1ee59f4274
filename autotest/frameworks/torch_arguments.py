"""Reads arguments of torch's functions that may be given in several forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def sizes(given: Sequence[Any]) -> tuple[int, ...]:
    """Return sizes or dimensions that are given one by one, or as one tuple or list."""
    return tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else tuple(given)


def operands_of(given: Sequence[Any]) -> Sequence[Any]:
    """Return the operands of ``einsum``, which are given one by one, or as one tuple or list."""
    return given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given


def reduction_of(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """Return the reduction of a loss: as in torch, either deprecated argument overrides ``reduction=``."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is not None and not reduce:
        return "none"
    return "mean" if size_average is None or size_average else "sum"


def single_or_each(value: Any) -> Any:
    """Return a setting of a convolution as one number for all dimensions, or as a tuple with one for each of them."""
    if not isinstance(value, (tuple, list)):
        return value
    return value[0] if len(value) == 1 else tuple(value)


def same_padding(kernel: Sequence[int], dilation: Any) -> list[tuple[int, int]]:
    """Return the padding at both ends of each dimension that ``padding="same"`` of a convolution means."""
    given = single_or_each(dilation)
    steps = given if isinstance(given, tuple) else [given] * len(kernel)
    whole = [step * (size - 1) for step, size in zip(steps, kernel, strict=True)]
    return [(size // 2, size - size // 2) for size in whole]


def axes(dim: Any) -> Any:
    """Return NumPy's ``axis=`` for torch's ``dim=``: no dimensions mean all of them."""
    return tuple(dim) or None if isinstance(dim, (tuple, list)) else dim


def is_all_of(array: Any, dim: Any) -> bool:
    """Whether `dim` is the dimension 0 that torch accepts for an `array` without dimensions, unlike NumPy."""
    return array.ndim == 0 and dim in (0, -1, (0,), (-1,), [0], [-1])


def axes_of(array: Any, dim: Any) -> Any:
    """Return NumPy's ``axis=`` for torch's ``dim=`` of a reduction of `array`."""
    return None if is_all_of(array, dim) else axes(dim)


def spread_of(dim: Any, unbiased: bool, correction: Any) -> tuple[Any, Any]:
    """Return the dimensions and the correction of a variance: as in torch, a single truth value is ``unbiased=``."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return dim, int(unbiased) if correction is None else correction


def softmax_dim(dim: int | None, rank: int) -> int:
    """Return the dimension of a softmax. If none is given, torch chooses one by the number of dimensions."""
    if dim is not None:
        return dim
    return 0 if rank in (0, 1, 3) else 1
