"""Distinguishes an index that selects another of several equal values from a wrong index."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autotest.comparison.elementwise import Values, same_array
from autotest.comparison.mismatch import Mismatch
from autotest.program import Call, Program
from autotest.program.paths import is_gradient
from autotest.program.rewriting import needed
from autotest.program.semantics import pushes_gradients

#: Operators whose integer result is right if it selects the right value.
_SELECTING = frozenset("argmax argmin argsort sort topk max min median kthvalue mode".split())
#: Operators that, as torch documents, return the index of the first of several equal values.
_FIRST = frozenset("argmax argmin max min".split())
#: Operators whose first integer argument is the count or rank `k`, not a dimension.
_COUNTED = frozenset(("topk", "kthvalue"))
#: Operators that select several elements of a row, each at most once.
_REORDERING = frozenset("argsort sort topk".split())


def selects_alike(operator: str, call: Call, data: Values, one: Values, other: Values) -> bool:
    """Return whether two integer results of `call` select equal values.

    Args:
        operator: the operator that is called.
        call: the call.
        data: the values that it selects from.
        one: the result of one side.
        other: the result of the other side.
    """
    if operator not in _SELECTING or operator in _FIRST or call.kwargs.get("stable") is True:
        return False
    if {one.dtype.kind, other.dtype.kind} - {"i", "u"} or one.shape != other.shape:
        return False
    numbers = [item for item in call.args[1:] if type(item) is int]
    if operator in _COUNTED and "k" not in call.kwargs:
        numbers = numbers[1:]
    dim = call.kwargs.get("dim", next(iter(numbers), None))
    try:
        if dim is None and one.ndim == 0:
            return all(_names(item, data.size) for item in (one, other)) and same_array(
                data.ravel()[one], data.ravel()[other]
            )
        axis = -1 if dim is None else dim
        if not all(_names(item, data.shape[axis]) for item in (one, other)):
            return False
        if operator in _REORDERING and not all(_is_once_each(item, axis) for item in (one, other)):
            return False
        return same_array(*(_selected(data, item, axis) for item in (one, other)))
    except (IndexError, ValueError):
        return False


def besides(program: Program, tied: set[int], found: Sequence[Mismatch]) -> list[Mismatch]:
    """Return the mismatches in `found` that do not follow from choices among equal elements in the slots `tied`."""
    needs = {call.slot: needed(program, [call.slot]) for call in program.calls}
    # A backward pass leaves other gradients of everything that a call after the choice computes with.
    after = [call.slot for call in program.calls if needs[call.slot] & (tied - {call.slot})]
    graded: set[int] = set().union(*(needs[slot] for slot in after if not pushes_gradients(program.calls[slot])))

    def follows(item: Mismatch) -> bool:
        of_gradient = item.stage == "backward" or is_gradient(item.place)
        return bool(needs[item.slot] & tied) or (of_gradient and item.slot in graded)

    return [item for item in found if not follows(item)]


def _names(index: Values, size: int) -> bool:
    """Whether `index` names elements from the first on, of which there are `size`; NumPy also counts from the last."""
    return bool(((index >= 0) & (index < size)).all())


def _is_once_each(index: Values, axis: int) -> bool:
    """Whether `index` names no element twice along `axis`."""
    return bool((np.diff(np.sort(index, axis=axis), axis=axis) != 0).all())


def _selected(data: Values, index: Values, axis: int) -> Values:
    whole = np.expand_dims(index, axis) if index.ndim < data.ndim else index
    return np.take_along_axis(data, whole, axis=axis)
