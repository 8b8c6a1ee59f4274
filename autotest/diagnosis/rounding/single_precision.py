"""Compares a difference in double precision with that of the same program in single precision.

No more precise result shows whether a difference in double precision is rounding. In single precision, the referee can
tell, and rounding shrinks with the roundoff from there to double precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from autotest.comparison import Mismatch
from autotest.comparison.elementwise import distance
from autotest.diagnosis.rounding.double_precision import as_array
from autotest.diagnosis.rounding.measurement import SHRINKS
from autotest.diagnosis.rounding.roundoff import ROUNDOFF
from autotest.program import Array, Call, Operand, Program, Root, map_call
from autotest.replaying.agreement import Agreement
from autotest.replaying.replay import Place

_NARROWER: Final = MappingProxyType({"float64": "float32", "double": "float", "complex128": "complex64"})


def narrowed(program: Program) -> Program | None:
    """Return `program` in single precision, or None if it is not in double precision or has too great numbers."""
    arrays = [_narrow(array) for array in program.arrays]
    if not any(array.dtype in _NARROWER for array in program.arrays) or None in arrays:
        return None
    return Program(tuple(map(_call, program.calls)), tuple(filter(None, arrays)), program.undefined)


def shrink_with_the_roundoff(mismatches: Sequence[Mismatch], double: Agreement, single: Agreement) -> bool:
    """Return whether each of `mismatches` is smaller in `double` than in `single`, by about the ratio of the roundoffs.

    Args:
        mismatches: mismatches of `double`.
        double: the results of a program.
        single: those of the same program in single precision.
    """
    ratio = SHRINKS * ROUNDOFF["float64"] / ROUNDOFF["float32"]
    return all(0 < _gap(double, item.at) <= ratio * _gap(single, item.at) for item in mismatches)


def _gap(agreement: Agreement, place: Place) -> float:
    """Return the greatest difference between the sides at `place`; infinity if it is unknown or not finite."""
    expected, actual = map(as_array, agreement.read().get(place, (None, None)))
    if expected is None or actual is None or expected.shape != actual.shape or not np.isfinite(expected).all():
        return float("inf")
    return float(distance(expected, actual).max(initial=0.0))


def _narrow(array: Array) -> Array | None:
    """Return `array` in single precision, or None if a number of it becomes infinite."""
    dtype = _NARROWER.get(array.dtype)
    if dtype is None:
        return array
    with np.errstate(over="ignore"):
        data = array.data.astype(dtype)
    return Array(data, dtype) if (np.isfinite(data) == np.isfinite(array.data)).all() else None


def _call(call: Call) -> Call:
    def leaf(item: Operand) -> Operand:
        return Root(_NARROWER[item.path]) if type(item) is Root and item.path in _NARROWER else item

    names_dtype = call.kind == "tensor" or (call.kind == "method" and call.target == "double")
    target = _NARROWER.get(call.target, call.target) if names_dtype else call.target
    return map_call(call, leaf)._replace(target=target)
