"""Memory layouts of arrays: views with the same values and other strides."""

from __future__ import annotations

import builtins
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from generators.code_position import call_site, location
from generators.dtypes import Array
from generators.errors import GeneratorError, is_test_mistake, nearest

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake

#: A view operation: ``("transpose", dim0, dim1)``, ``("slice", dim, start, stop, step)`` with step > 0, or
#: ``("expand", sizes)``.
Step = builtins.tuple[Any, ...]
Steps = builtins.tuple[Step, ...]

LAYOUTS: Final = ("contiguous", "transposed", "channels_last", "strided", "offset", "expanded", "pitched", "sliced")
#: The least rank of an array with the layout. With three dimensions the first one is last in memory, as in a single
#: image, and with two that would be transposed.
LEAST_RANK: Final = MappingProxyType(
    {"transposed": 2, "channels_last": 3, "strided": 1, "offset": 1, "pitched": 2, "sliced": 3}
)

#: Value of the unused elements of a base array, which no operator should read. It is finite, every dtype can represent
#: it, and it is far from the drawn values.
_GAP: Final = 113


def rank_for(layout: str | None) -> int:
    """Return the least rank with which an array can have `layout`; 0 if it is contiguous, or None, which is open."""
    return 0 if layout is None or layout == "contiguous" else LEAST_RANK.get(layout, 1)


def check_layout(layout: Any) -> str:
    """Return `layout` if it is a name from `LAYOUTS`; raise `GeneratorError` if not."""
    if layout not in LAYOUTS:
        expected = f"expected one of {', '.join(LAYOUTS)}{nearest(layout, LAYOUTS)}"
        raise GeneratorError(f"layout={layout!r} at {location(call_site())}: {expected}")
    return str(layout)


def fitting(shape: builtins.tuple[int, ...], layout: str) -> str:
    """Return `layout` if an array of `shape` can have it, else ``"contiguous"``.

    ``"transposed"`` and ``"pitched"`` require two dimensions, ``"channels_last"`` and ``"sliced"`` three, ``"strided"``
    and ``"offset"`` one, and ``"expanded"`` a size above 1.
    """
    if len(shape) < LEAST_RANK.get(layout, 0) or (layout == "expanded" and not any(size > 1 for size in shape)):
        return "contiguous"
    return check_layout(layout)


def expanded_dim(shape: builtins.tuple[int, ...], *, last: bool = False) -> int:
    """Return the dimension that is expanded in an array of `shape`: the first or the last with a size above 1."""
    dims = [dim for dim, size in enumerate(shape) if size > 1]
    return dims[-1 if last else 0]


def lay_out(array: Array, layout: str) -> builtins.tuple[Array, Steps]:
    """Return a contiguous base array, and the steps that turn it into a view with `array`'s values and `layout`.

    If `array` cannot have the layout (see `fitting`), the base is `array` itself and there are no steps.

    Raises:
        GeneratorError: if the layout is unknown, or if it is ``"expanded"`` and `array` does not repeat itself along
            any dimension.
    """
    shape, steps = base_of(array.shape, layout)
    if not steps:
        return np.ascontiguousarray(array).reshape(array.shape), ()
    if steps[0][0] == "expand":
        return _repeated(array), steps
    base = np.empty(shape, array.dtype)
    base.fill(_GAP)
    apply_steps(base, steps)[...] = array
    return base, steps


@lru_cache(maxsize=1024)  # the shapes of a test's trials are few, and each half of all inputs and gradients asks
def base_of(shape: builtins.tuple[int, ...], layout: str) -> builtins.tuple[builtins.tuple[int, ...], Steps]:
    """Return the shape of a contiguous base array, and the steps that turn it into a view of `shape` with `layout`.

    If an array of `shape` cannot have the layout (see `fitting`), the base has this shape and there are no steps.
    Raises `GeneratorError` if the layout is unknown.
    """
    layout, last = fitting(shape, layout), len(shape) - 1
    if layout == "transposed":
        return (*shape[:-2], shape[-1], shape[-2]), (("transpose", last - 1, last),)
    if layout == "channels_last":
        # The channels, dimension 1 or that of a single image, are last in memory. Each transposition moves one
        # dimension back to its place.
        at = min(len(shape) - LEAST_RANK["channels_last"], 1)
        base = (*shape[:at], *shape[at + 1 :], shape[at])
        return base, tuple(("transpose", dim, last) for dim in range(at, last))
    if layout == "strided":
        # Start at 1, so that a framework that ignores the offset also fails on a strided view.
        size = 2 * shape[-1] + 1
        return (*shape[:-1], size), (("slice", last, 1, size, 2),)
    if layout == "offset":
        return (shape[0] + 2, *shape[1:]), (("slice", 0, 1, shape[0] + 1, 1),)
    if layout == "pitched":
        # Each row is whole, with a gap before the next one, as in some columns of a matrix. With three dimensions or
        # more the rows are also in another order, as those of the heads of an attention.
        rows = (("slice", last, 1, shape[-1] + 1, 1),)
        if len(shape) == LEAST_RANK["pitched"]:
            return (shape[0], shape[1] + 2), rows
        return (*shape[:-3], shape[-2], shape[-3], shape[-1] + 2), (("transpose", last - 2, last - 1), *rows)
    if layout == "sliced":
        # A part of each matrix of a batch, as `narrow` and `chunk` take it: each is contiguous, with a gap before the
        # next one.
        return (shape[0], shape[1] + 2, *shape[2:]), (("slice", 1, 1, shape[1] + 1, 1),)
    if layout == "expanded":
        dim = expanded_dim(shape)
        return (*shape[:dim], 1, *shape[dim + 1 :]), (("expand", shape),)
    return shape, ()


def _repeated(array: Array) -> Array:
    """Return the part of `array` that it repeats, along the first dimension in which it repeats itself."""
    held = array.tobytes()
    for dim, size in enumerate(array.shape):
        if size > 1:
            base = array.take([0], axis=dim)
            if base.repeat(size, axis=dim).tobytes() == held:
                return base
    raise GeneratorError(
        f"layout='expanded': expected an array that repeats itself along some dimension, shape {array.shape}"
    )


def apply_steps(base: Array, steps: Steps) -> Array:
    """Return the view of `base` that results from `steps`. Each framework's adapter does the same with its tensors."""
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
