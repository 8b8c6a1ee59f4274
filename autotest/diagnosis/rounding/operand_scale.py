"""Bounds the magnitude of the operands that each element of a result depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from autotest.comparison.elementwise import Values, same_numbers
from autotest.program import leaves, map_operand

#: A function that returns the result of a call for given operands, or None.
AnswerFunction = Callable[[Sequence[Any], Mapping[str, Any]], Any]

#: Bounds that are tried: numbers greater than a bound are replaced by numbers between once and twice the bound.
_CUTS: Final = (1e1, 1e3, 1e6, 1e10, 1e20, 1e50, 1e100)


def operand_scale(answer: AnswerFunction, args: Sequence[Any], kwargs: Mapping[str, Any], found: Values) -> Values:
    """Return, for each element of `found`, a bound on the magnitude of the numbers that it depends on.

    An element that keeps its value when all numbers above a bound are replaced does not depend on them. The
    replacements are in the same order, so that a selection by order does not change, and are distinct, so that they
    do not cancel.

    Args:
        answer: computes the result of the call for given operands.
        args: the positional arguments of the call.
        kwargs: the keyword arguments of the call.
        found: the result, ``answer(args, kwargs)``.

    Returns:
        An array of the shape of `found`.
    """
    arrays = [item for item in leaves((tuple(args), dict(kwargs))) if isinstance(item, np.ndarray)]
    whole = greatest(item for item in arrays if item.dtype.kind in "iub")
    most = max(whole, greatest(item for item in arrays if item.dtype.kind == "f"))
    scale = np.full(found.shape, most)
    for cut in reversed(_CUTS):
        if cut < most / 2:
            other = _answered(answer, *_cut((tuple(args), dict(kwargs)), cut))
            if isinstance(other, np.ndarray) and other.shape == found.shape:
                scale[same_numbers(found, other)] = max(2 * cut, whole)
    return scale


def _answered(answer: AnswerFunction, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    try:
        return answer(args, kwargs)
    except Exception:  # noqa: BLE001 - the function may not support such numbers
        return None


def _cut(operands: Any, cut: float) -> Any:
    random = np.random.Generator(np.random.SFC64(0))

    def replaced(item: Any) -> Any:
        if not (isinstance(item, np.ndarray) and item.dtype.kind == "f"):
            return item
        beyond = np.isfinite(item) & (np.abs(item) > cut)
        if not beyond.any():
            return item
        changed = item.copy()
        sizes = cut * (1 + np.sort(random.uniform(0, 1, int(beyond.sum()))))
        order = np.argsort(np.abs(item[beyond]), kind="stable")
        made = np.empty_like(sizes)
        made[order] = sizes
        changed[beyond] = np.copysign(made, item[beyond])
        return changed

    return map_operand(operands, replaced)


def greatest(arrays: Iterable[Values]) -> float:
    """Return the greatest magnitude of the finite numbers in `arrays`, and at least 1e-290, to be safe as a divisor."""
    return max([1e-290, *(float(np.abs(item[np.isfinite(item)].astype(float)).max(initial=0)) for item in arrays)])
