"""Distinguishes an index that selects another of several equal values from a wrong index."""

from __future__ import annotations

import numpy as np

from autotest.comparison import Mismatch, TensorValue
from autotest.comparison.elementwise import Values, same_array
from autotest.diagnosis.attribution.locating import operands
from autotest.frameworks import Pair
from autotest.program import operator_of
from autotest.program.rewriting import needed
from autotest.program.semantics import first_operand, pushes_gradients
from autotest.replaying.agreement import Agreement
from autotest.replaying.replay import Place

#: Operators whose integer result is right if it selects the right value.
_SELECTING = frozenset("argmax argmin argsort sort topk max min median kthvalue mode".split())
#: Operators that, as torch documents, return the index of the first of several equal values.
_FIRST = frozenset("argmax argmin max min".split())
#: Operators whose first integer argument is the count or rank `k`, not a dimension.
_COUNTED = frozenset(("topk", "kthvalue"))
#: Operators that select several elements of a row, each at most once.
_REORDERING = frozenset("argsort sort topk".split())


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
    read = first_operand(call)
    source = None if read is None else held.get(read.slot)
    if type(source) is not TensorValue or one.data.shape != other.data.shape:
        return False
    numbers = [item for item in call.args[1:] if type(item) is int]
    if operator in _COUNTED and "k" not in call.kwargs:
        numbers = numbers[1:]
    dim = call.kwargs.get("dim", next(iter(numbers), None))
    data = source.data
    try:
        if dim is None and one.data.ndim == 0:
            return all(_names(item.data, data.size) for item in (one, other)) and same_array(
                data.ravel()[one.data], data.ravel()[other.data]
            )
        axis = -1 if dim is None else dim
        if not all(_names(item.data, data.shape[axis]) for item in (one, other)):
            return False
        if operator in _REORDERING and not all(_is_once_each(item.data, axis) for item in (one, other)):
            return False
        selected = [_selected(data, index.data, axis) for index in (one, other)]
    except (IndexError, ValueError):
        return False
    return same_array(*selected)


def beside_ties(agreement: Agreement, first: int | None, pair: Pair) -> list[Mismatch]:
    """Return the mismatches of `agreement` that do not follow from a choice among equal elements.

    Args:
        agreement: the mismatches, the first of which follows from such a choice.
        first: the slot of the call that made it; None if it is that of the first mismatch.
        pair: the reference and the candidate.
    """
    program, found = agreement.program, agreement.mismatches
    tied = {found[0].slot if first is None else first}
    tied |= {item.slot for item in found if item.symptom == "value" and ties(agreement, item.at, pair)}
    needs = {call.slot: needed(program, [call.slot]) for call in program.calls}
    # A backward pass leaves other gradients of everything that a call after the choice computes with.
    after = [call.slot for call in program.calls if needs[call.slot] & (tied - {call.slot})]
    graded: set[int] = set().union(*(needs[slot] for slot in after if not pushes_gradients(program.calls[slot])))
    return [
        item for item in found if not (needs[item.slot] & tied or (item.stage == "backward" and item.slot in graded))
    ]


def _names(index: Values, size: int) -> bool:
    """Whether `index` names elements from the first on, of which there are `size`; NumPy also counts from the last."""
    return bool(((index >= 0) & (index < size)).all())


def _is_once_each(index: Values, axis: int) -> bool:
    """Whether `index` names no element twice along `axis`."""
    return bool((np.diff(np.sort(index, axis=axis), axis=axis) != 0).all())


def _selected(data: Values, index: Values, axis: int) -> Values:
    whole = np.expand_dims(index, axis) if index.ndim < data.ndim else index
    return np.take_along_axis(data, whole, axis=axis)
