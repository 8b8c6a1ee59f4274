"""Says how large the operands are that each element of an answer depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from autotest.comparison.elementwise import Values
from autotest.program import leaves, map_operand

#: A call's answer to other operands, or None.
AnswerFunction = Callable[[Sequence[Any], Mapping[str, Any]], Any]

#: What numbers beyond them are replaced by: up to twice as much.
_CUTS: Final = (1e1, 1e3, 1e6, 1e10, 1e20, 1e50, 1e100)


def operand_scale(answer: AnswerFunction, args: Sequence[Any], kwargs: Mapping[str, Any], found: Values) -> Values:
    """For each element of `found`, which is ``answer(args, kwargs)``, a bound of the numbers that it depends on.

    What stays as it is when the numbers beyond a bound become others depends on none of them. These others are in the
    same order, so that what is selected by order stays where it is, and no two are alike, so that none cancel.
    """
    arrays = [item for item in leaves((tuple(args), dict(kwargs))) if isinstance(item, np.ndarray)]
    whole = greatest(item for item in arrays if item.dtype.kind in "iub")
    most = max(whole, greatest(item for item in arrays if item.dtype.kind == "f"))
    scale = np.full(found.shape, most)
    for cut in reversed(_CUTS):
        if cut < most / 2:
            other = _answered(answer, *_cut((tuple(args), dict(kwargs)), cut))
            if isinstance(other, np.ndarray) and other.shape == found.shape:
                scale[_alike(found, other)] = max(2 * cut, whole)
    return scale


def _answered(answer: AnswerFunction, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    try:
        return answer(args, kwargs)
    except Exception:  # noqa: BLE001 - it may know nothing of such numbers
        return None


def _alike(one: Values, other: Values) -> Values:
    return np.asarray((one == other) | ((one != one) & (other != other)))  # noqa: PLR0124 - NaN is not itself


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
    """The greatest magnitude of the finite numbers in `arrays`, and no zero, by which one may want to divide."""
    return max([1e-290, *(float(np.abs(item[np.isfinite(item)].astype(float)).max(initial=0)) for item in arrays)])


__all__ = ["greatest", "operand_scale"]
