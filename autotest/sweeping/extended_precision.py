"""Computes a call on double-precision inputs in extended precision, for the operators that NumPy implements."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autotest.diagnosis.counterparts.numpy_result import numpy_result
from autotest.diagnosis.counterparts.values import OrderDependent
from autotest.program import Operand, Program, Ref, map_operand
from autotest.program.semantics import OPERATIONS, base_name, in_place

#: Whether this machine's long double has more digits than a double. It has on most platforms, not on ARM or Windows.
HAS_MORE_DIGITS: Final = bool(np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant)
#: Operators whose NumPy implementation contains constants of double precision.
_INEXACT: Final = frozenset(("gelu", "erf", "erfc", "selu", "sinc", "i0"))
#: Relative and absolute tolerance. A NumPy implementation with a larger error computes something else.
_CLOSE: Final = 1e-6
_TINY: Final = 1e-300


def exactly(program: Program, given: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Return the result of `program`, one call on float64 tensors, in extended precision.

    `given` is the reference's result. Return None for other programs, for operators that NumPy does not implement, if
    NumPy's result is not close to `given`, or if this machine has no extended precision.
    """
    *inputs, last = program.calls
    named = base_name(last)
    if not HAS_MORE_DIGITS or last.kind not in OPERATIONS or "out" in last.kwargs:
        return None
    if in_place(last) or named in _INEXACT or any(call.kind != "tensor" for call in inputs):
        return None

    def leaf(item: Operand) -> Any:
        if type(item) is not Ref:
            return item
        array = program.arrays[inputs[item.slot].args[0].index]
        return array.data.astype(np.longdouble) if array.dtype == "float64" else array.data

    with np.errstate(all="ignore"):
        try:
            found = numpy_result(last.target, map_operand(last.args, leaf), map_operand(last.kwargs, leaf))
        except OrderDependent:
            return None
        if not isinstance(found, (np.ndarray, np.longdouble)) or found.dtype != np.longdouble:
            return None
        if found.shape != given.shape or not np.allclose(found, given, _CLOSE, _TINY, equal_nan=True):
            return None
    return np.asarray(found)
