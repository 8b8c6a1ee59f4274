"""How an array lies in memory: the same values behind other strides."""

from __future__ import annotations

import builtins
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from generators.dtypes import Array
from generators.errors import GeneratorError, of_the_test
from generators.where import here, text

# Errors of a test's own making are told at its line: what raises them here is no part of the traceback.
__tracebackhide__ = of_the_test

#: ``("transpose", dim0, dim1)``, ``("slice", dim, start, stop, step)`` with step > 0, ``("expand", sizes)``.
Step = builtins.tuple[Any, ...]
Steps = builtins.tuple[Step, ...]

LAYOUTS: Final = ("contiguous", "transposed", "channels_last", "strided", "offset", "expanded")
#: The least rank that an array which lies so can have: of fewer dimensions than four, channels last is transposed.
LEAST_RANK: Final = MappingProxyType({"transposed": 2, "channels_last": 4, "strided": 1, "offset": 1})

#: What lies in the gaps of a base, where nothing should ever read: finite, held by every dtype, and far from what is
#: drawn.
_GAP: Final = 113


def check_layout(layout: Any) -> str:
    """`layout`, if it is the name of one; raises `GeneratorError` if not."""
    if layout not in LAYOUTS:
        raise GeneratorError(f"layout={layout!r} at {text(here())}: expected one of {', '.join(LAYOUTS)}")
    return str(layout)


def fitting(shape: builtins.tuple[int, ...], layout: str) -> str:
    """`layout` if an array of `shape` can lie so, else ``"contiguous"``.

    A transposed array needs two dimensions, one with its channels last four, one that is strided or has an offset one,
    an expanded one a size above 1.
    """
    if len(shape) < LEAST_RANK.get(layout, 0) or (layout == "expanded" and not any(size > 1 for size in shape)):
        return "contiguous"
    return check_layout(layout)


def expanded_dim(shape: builtins.tuple[int, ...], *, last: bool = False) -> int:
    """The dimension along which an expanded array of `shape` repeats itself: the first or last with a size above 1."""
    dims = [dim for dim, size in enumerate(shape) if size > 1]
    return dims[-1 if last else 0]


def lay_out(array: Array, layout: str) -> builtins.tuple[Array, Steps]:
    """A contiguous base array, and the steps that make `array` out of it, laid out so.

    Where `array` cannot lie so (see `fitting`), it is its own base and there are no steps. Raises `GeneratorError`
    for an unknown layout, or when `array` is to be expanded but repeats itself along no dimension.
    """
    layout = fitting(array.shape, layout)
    if layout == "transposed":
        last = array.ndim - 1
        return np.ascontiguousarray(array.swapaxes(last - 1, last)), (("transpose", last - 1, last),)
    if layout == "channels_last":
        last = array.ndim - 1
        # Dimension 1 is the last in memory, and those between go back to where they were, one by one.
        back = tuple(("transpose", dim, last) for dim in range(1, last))
        return np.ascontiguousarray(array.transpose(0, *range(2, array.ndim), 1)), back
    if layout == "strided":
        dim = array.ndim - 1
        base = _gaps(array, dim, 2 * array.shape[dim] + 1)
        # From 1, so that an offset which gets lost shows in a strided view as well.
        steps: Steps = (("slice", dim, 1, 2 * array.shape[dim] + 1, 2),)
    elif layout == "offset":
        size = array.shape[0]
        base = _gaps(array, 0, size + 2)
        steps = (("slice", 0, 1, size + 1, 1),)
    elif layout == "expanded":
        return _repeated(array), (("expand", array.shape),)
    else:
        return np.ascontiguousarray(array).reshape(array.shape), ()
    apply_steps(base, steps)[...] = array
    return base, steps


def _repeated(array: Array) -> Array:
    """What `array` repeats along the first dimension in which it does."""
    held = array.tobytes()
    for dim, size in enumerate(array.shape):
        if size > 1:
            base = array.take([0], axis=dim)
            if base.repeat(size, axis=dim).tobytes() == held:
                return base
    raise GeneratorError(
        f"layout='expanded': expected an array that repeats itself along some dimension, shape {array.shape}"
    )


def _gaps(array: Array, dim: int, size: int) -> Array:
    base = np.empty((*array.shape[:dim], size, *array.shape[dim + 1 :]), array.dtype)
    base.fill(_GAP)
    return base


def apply_steps(base: Array, steps: Steps) -> Array:
    """The view of `base` that `steps` make, for NumPy; what every framework has to do with its own tensors."""
    view = base
    for step in steps:
        if step[0] == "transpose":
            view = view.swapaxes(step[1], step[2])
        elif step[0] == "slice":
            _, dim, start, stop, stride = step
            view = view[(slice(None),) * dim + (slice(start, stop, stride),)]
        elif step[0] == "expand":
            view = np.broadcast_to(view, step[1])
        else:
            raise GeneratorError(f"step {step!r} of a layout: expected transpose, slice or expand")
    return view
