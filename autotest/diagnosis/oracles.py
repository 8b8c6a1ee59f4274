"""Third opinions on a mismatch: NumPy's counterpart of the call, and differences of each side's own forward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.comparison import Mismatch, TensorValue
from autotest.comparison.elementwise import distance
from autotest.diagnosis.agreement import Agreement, Place, results
from autotest.diagnosis.locating import operands
from autotest.diagnosis.numpy_counterparts import vote
from autotest.diagnosis.verdict import Witness
from autotest.frameworks import Framework, Pair
from autotest.program import Array, Program, Ref, Root, map_operand, operator_of
from autotest.program.rewriting import with_arrays
from autotest.program.semantics import in_place, is_backward, is_module_call
from autotest.replaying.replay import replay

#: Stands for no rounding at all where one divides by what is allowed.
_LEAST = 1e-300
#: Operators whose integer result is right when it selects the right value.
_SELECTING = frozenset("argmax argmin argsort sort topk max min median kthvalue mode".split())


# -- NumPy --------------------------------------------------------------------------------------------------


def third_voter(
    program: Program, place: Place, pair: Pair, *, about: str = "value", writer: int | None = None
) -> Witness | None:
    """How far each side is from NumPy's result of the call at `place`.

    `about` is what is asked: the value (of a program in double precision), the shape or the dtype. `writer` is the
    call to ask about when it wrote in place what is seen at `place`.
    """
    slot, suffix = place
    if writer is not None and in_place(program.calls[writer]):
        slot = writer
    elif writer is not None and writer > slot:
        return None  # what stands there now was written by a later call, of which its maker's counterpart knows nothing
    call = program.calls[slot]
    name = operator_of(program.calls, slot)
    if in_place(call):
        name = name.rstrip("_").removeprefix("i" if call.kind == "operator" else "")
    if call.kind not in ("function", "method", "operator"):
        return None
    held, _ = operands(program, pair.reference, slot)
    args = call.args[1:] if is_module_call(call) else call.args
    unknown = object()

    def leaf(item: Any) -> Any:
        if type(item) is Ref:
            value = held.get(item.slot, unknown)
            return value.data.copy() if type(value) is TensorValue else value
        return unknown if type(item) is Root else item

    values, named = map_operand(args, leaf), map_operand(call.kwargs, leaf)
    found = vote(name, values, named)
    if suffix:
        found = found[int(suffix[1:-1])] if isinstance(found, tuple) and suffix[1:-1].isdigit() else None
    if found is None:
        return None
    opinion = np.asarray(found)
    if opinion.dtype == object:
        return None
    one, other = (results(program, side).get(place) for side in (pair.reference, pair.candidate))
    if type(one) is not TensorValue or type(other) is not TensorValue:
        return None
    if about == "dtype":
        return _on_dtype(
            str(opinion.dtype), [value for value in held.values() if type(value) is TensorValue], one, other
        )
    if about == "shape":
        errors = [0.0 if side.data.shape == opinion.shape else float("inf") for side in (one, other)]
        return Witness("NumPy", f"shape {opinion.shape}", (errors[0], errors[1]), 0.0)
    held_sizes = [
        np.abs(item.data[np.isfinite(item.data)]).max(initial=0.0) for item in held.values() if _is_real(item)
    ]
    scale = max([1e-290, *map(float, held_sizes)])
    if opinion.dtype.kind in "biu":  # places and counts are exact, however large the operands are
        allowed = np.zeros(opinion.shape)
    else:
        # Where results cancel, the operands' size says what rounding is.
        allowed = 1e-9 * np.abs(np.nan_to_num(opinion, posinf=0.0, neginf=0.0)) + 5e-15 * scale
    return _on_values(opinion, np.maximum(allowed, _LEAST), one, other)


def _on_values(
    opinion: np.ndarray[Any, Any], allowed: np.ndarray[Any, Any], one: TensorValue, other: TensorValue
) -> Witness | None:
    """How far either side is from `opinion`, told at the element where one of them is furthest."""
    if not opinion.size:
        return None
    gaps = [_gap(opinion, side.data) for side in (one, other)]
    with np.errstate(over="ignore"):
        excesses = [gap / allowed for gap in gaps]
    at = tuple(int(i) for i in np.unravel_index(int(np.argmax(np.maximum(*excesses))), opinion.shape))
    # A side that is right here and wrong elsewhere is told of by how wrong it is there.
    errors = [
        float(gap[at] if (gap[at] > allowed[at]) == bool((excess > 1).any()) else excess.max() * allowed[at])
        for gap, excess in zip(gaps, excesses, strict=True)
    ]
    shown = f"{opinion[at].item():.9g}" + (f" at {at}" if at else "")
    limit = float(allowed[at])
    return Witness("NumPy", shown, (errors[0], errors[1]), limit if limit > _LEAST else 0.0)


def _is_real(value: Any) -> bool:
    return type(value) is TensorValue and value.data.dtype.kind in "fiu"


def _on_dtype(opinion: str, held: Sequence[TensorValue], one: TensorValue, other: TensorValue) -> Witness | None:
    """NumPy promotes as torch does only where there is nothing to promote, and no counterpart computed wider."""
    if len({value.dtype for value in held}) != 1 or not held[0].dtype.startswith("float"):
        return None
    if opinion not in (held[0].dtype, "bool"):
        return None
    errors = [0.0 if side.dtype == opinion else float("inf") for side in (one, other)]
    return Witness("NumPy", f"dtype {opinion}", (errors[0], errors[1]), 0.0)


def _gap(opinion: np.ndarray[Any, Any], actual: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """How far each element is from `opinion`; infinitely, where the shape is another."""
    if opinion.shape != actual.shape:
        return np.full(opinion.shape, np.inf)
    common = np.result_type(opinion, actual)
    return distance(opinion.astype(common), actual.astype(common))


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
    """Central difference of what is pushed back, by element `at` of array `leaf`; and whether it has a kink there."""
    centre = float(program.arrays[leaf].data[at])
    step = 1e-5 * max(1.0, abs(centre))
    values = []
    for offset in (-step, 0.0, step):
        data = program.arrays[leaf].data.copy()
        data[at] = centre + offset
        arrays = [Array(data, array.dtype) if i == leaf else array for i, array in enumerate(program.arrays)]
        pushed = _pushed(with_arrays(program, arrays), side)
        if pushed is None or not np.isfinite(pushed):
            return None, False
        values.append(pushed)
    left, right = (values[1] - values[0]) / step, (values[2] - values[1]) / step
    kink = abs(right - left) > 1e-2 * max(abs(left), abs(right), 1e-3)
    return (values[2] - values[0]) / (2 * step), kink


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


__all__ = ["numeric_gradient", "third_voter", "ties"]
