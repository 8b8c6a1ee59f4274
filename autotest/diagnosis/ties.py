"""Distinguishes an index that selects another of several equal values from a wrong index."""

from __future__ import annotations

from typing import Any

import numpy as np

from autotest.comparison import TensorValue
from autotest.diagnosis.locating import operands
from autotest.frameworks import Pair
from autotest.program import Ref, operator_of
from autotest.replaying.agreement import Agreement, Place

#: Operators whose integer result is right if it selects the right value.
_SELECTING = frozenset("argmax argmin argsort sort topk max min median kthvalue mode".split())
#: Operators that, as torch documents, return the index of the first of several equal values.
_FIRST = frozenset("argmax argmin max min".split())
#: Operators whose first integer argument is the count or rank `k`, not a dimension.
_COUNTED = frozenset(("topk", "kthvalue"))


def ties(focus: Agreement, place: Place, pair: Pair) -> bool:
    """Return whether the integer results at `place` select equal values on both sides.

    Args:
        focus: the agreement on the program.
        place: the place of the mismatch.
        pair: the reference and the candidate.
    """
    slot = place[0]
    call = focus.program.calls[slot]
    pairing = focus.read().get(place)
    operator = operator_of(focus.program.calls, slot)
    if operator not in _SELECTING or pairing is None:
        return False
    if operator in _FIRST or call.kwargs.get("stable") is True:
        return False
    one, other = pairing
    if type(one) is not TensorValue or type(other) is not TensorValue or one.data.dtype.kind not in "iu":
        return False
    held, _ = operands(focus.program, pair.reference, slot)
    source = held.get(call.args[0].slot) if call.args and type(call.args[0]) is Ref else None
    if type(source) is not TensorValue or one.data.shape != other.data.shape:
        return False
    numbers = [item for item in call.args[1:] if type(item) is int]
    if operator in _COUNTED and "k" not in call.kwargs:
        numbers = numbers[1:]
    dim = call.kwargs.get("dim", next(iter(numbers), None))
    data = source.data
    try:
        if dim is None and one.data.ndim == 0:
            return _same(data.ravel()[one.data], data.ravel()[other.data])
        axis = -1 if dim is None else dim
        selected = [_selected(data, index.data, axis) for index in (one, other)]
    except (IndexError, ValueError):
        return False
    return _same(*selected)


def _same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Whether all numbers are equal. NaN equals itself, as it is sorted as the greatest number."""
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))


def _selected(data: np.ndarray[Any, Any], index: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    whole = np.expand_dims(index, axis) if index.ndim < data.ndim else index
    return np.take_along_axis(data, whole, axis=axis)


__all__ = ["ties"]
