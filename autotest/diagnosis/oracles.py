"""Second opinions on a gradient, by differences of each side's own forward, and on ties among equal values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.comparison import Mismatch, TensorValue
from autotest.comparison.elementwise import distance
from autotest.diagnosis.agreement import Agreement, Place, results
from autotest.diagnosis.locating import operands
from autotest.diagnosis.verdict import Witness
from autotest.frameworks import Framework, Pair
from autotest.program import Array, Program, Ref, operator_of
from autotest.program.rewriting import with_arrays
from autotest.program.semantics import is_backward
from autotest.replaying.replay import replay

#: Operators whose integer result is right when it selects the right value.
_SELECTING = frozenset("argmax argmin argsort sort topk max min median kthvalue mode".split())


def _worst(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> tuple[int, ...] | None:
    if one.shape != other.shape or not one.size:
        return None
    flat = int(np.argmax(distance(one, other.astype(one.dtype))))
    return tuple(int(i) for i in np.unravel_index(flat, one.shape))


# -- differences --------------------------------------------------------------------------------------------


def numeric_gradient(wide: Program, place: Place, pair: Pair, first: Mismatch) -> tuple[Witness | None, bool]:
    """How far each side's gradient is from central differences of its own forward, and whether there is a kink."""
    leaf = _leaf(wide, place)
    if leaf is None:
        return None, False
    sides = (pair.reference, pair.candidate)
    own = [results(wide, side).get(place) for side in sides]
    shape = wide.arrays[leaf].data.shape
    gradients = [_gradient(item, shape) for item in own]
    if any(item is None for item in gradients) or not wide.arrays[leaf].data.size:
        return None, False
    one, other = (item for item in gradients if item is not None)
    at = _worst(one, other)
    if at is None:
        return None, False
    found: list[float] = []
    kinks: list[bool] = []
    for side in sides:
        derivative, kink = _derivative(wide, leaf, at, side)
        if derivative is None:
            return None, False
        found.append(derivative)
        kinks.append(kink)
    scale = max(abs(found[0]), abs(found[1]), 1e-3)
    errors = (abs(float(one[at]) - found[0]), abs(float(other[at]) - found[1]))
    agreed = abs(found[0] - found[1]) <= 1e-4 * scale
    witness = Witness("difference of its own forward", f"{found[0]:.6g} at {at}", errors, 1e-4 * scale)
    return (None if any(kinks) or not agreed else witness), any(kinks)


def _gradient(value: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any] | None:
    """A gradient as an array; a missing one stands for zeros."""
    if value is None:
        return np.zeros(shape)
    fits = type(value) is TensorValue and value.data.shape == shape and value.data.dtype.kind == "f"
    return value.data if fits else None


def _leaf(program: Program, place: Place) -> int | None:
    """The captured array that the gradient at `place` belongs to."""
    slot, suffix = place
    call = program.calls[slot]
    name = suffix.removesuffix(".grad")
    if not suffix.endswith(".grad"):
        return None
    if call.kind == "tensor":
        index: int = call.args[0].index
        return index
    for later in program.calls:
        if later.kind == "load_state" and later.args[0] == Ref(slot) and name[1:] in later.args[1]:
            return int(later.args[1][name[1:]].index)
    return None


def _derivative(program: Program, leaf: int, at: tuple[int, ...], side: Framework) -> tuple[float | None, bool]:
    """Central difference of what is pushed back, by element `at` of array `leaf`; and whether it has a kink there.

    None where a smaller step gives another difference: then the forward is too steep there for any.
    """
    centre = float(program.arrays[leaf].data[at])
    step = 1e-5 * max(1.0, abs(centre))
    wide, narrow = (_differences(program, leaf, at, side, centre, size) for size in (step, step / 8))
    if wide is None or narrow is None:
        return None, False
    (left, right), (inner_left, inner_right) = wide, narrow
    derivative, inner = (left + right) / 2, (inner_left + inner_right) / 2
    if abs(derivative - inner) > 1e-2 * max(abs(derivative), abs(inner), 1e-3):
        return None, False
    return derivative, abs(right - left) > 1e-2 * max(abs(left), abs(right), 1e-3)


def _differences(
    program: Program, leaf: int, at: tuple[int, ...], side: Framework, centre: float, step: float
) -> tuple[float, float] | None:
    """The slopes to the left and to the right; None where one of the values is not finite."""
    values = []
    for offset in (-step, 0.0, step):
        data = program.arrays[leaf].data.copy()
        data[at] = centre + offset
        arrays = [Array(data, array.dtype) if i == leaf else array for i, array in enumerate(program.arrays)]
        pushed = _pushed(with_arrays(program, arrays), side)
        if pushed is None or not np.isfinite(pushed):
            return None
        values.append(pushed)
    return (values[1] - values[0]) / step, (values[2] - values[1]) / step


def _pushed(program: Program, side: Framework) -> float | None:
    """The sum of all results that cotangents are pushed into, weighed by these."""
    backward = next((call for call in program.calls if is_backward(call)), None)
    if backward is None:
        return None
    replayed = replay(program, side, upto=backward.slot)
    if replayed.error is not None:
        return None
    roots, cotangents = (*backward.args, None)[:2]
    pairs: Sequence[tuple[Any, Any]] = [(roots, cotangents)]
    if isinstance(roots, (list, tuple)):
        pairs = list(zip(roots, cotangents or [None] * len(roots), strict=True))
    total = 0.0
    for root, cotangent in pairs:
        wanted = [replayed.values[item.slot] for item in (root, cotangent) if type(item) is Ref]
        arrays = [np.asarray(value.data, dtype=np.float64) for value in side.values(wanted)]
        with np.errstate(all="ignore"):  # what is not finite is no difference, and left out by whoever asked
            total += float((arrays[0] * (arrays[1] if len(arrays) > 1 else 1.0)).sum())
    return total


# -- ties ---------------------------------------------------------------------------------------------------


def ties(focus: Agreement, place: Place, pair: Pair) -> bool:
    """Whether an integer result differs only in which of several equal values it points at."""
    slot = place[0]
    call = focus.program.calls[slot]
    pairing = focus.read().get(place)
    if operator_of(focus.program.calls, slot) not in _SELECTING or pairing is None:
        return False
    one, other = pairing
    if type(one) is not TensorValue or type(other) is not TensorValue or one.data.dtype.kind not in "iu":
        return False
    held, _ = operands(focus.program, pair.reference, slot)
    source = held.get(call.args[0].slot) if call.args and type(call.args[0]) is Ref else None
    if type(source) is not TensorValue or one.data.shape != other.data.shape:
        return False
    dim = call.kwargs.get("dim", next((item for item in call.args[1:] if type(item) is int), None))
    data = source.data
    try:
        if dim is None and one.data.ndim == 0:
            return bool(data.ravel()[one.data] == data.ravel()[other.data])
        axis = -1 if dim is None else dim
        selected = [_selected(data, index.data, axis) for index in (one, other)]
    except (IndexError, ValueError):
        return False
    return bool(np.array_equal(selected[0], selected[1]))


def _selected(data: np.ndarray[Any, Any], index: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    whole = np.expand_dims(index, axis) if index.ndim < data.ndim else index
    return np.take_along_axis(data, whole, axis=axis)


__all__ = ["numeric_gradient", "ties"]
