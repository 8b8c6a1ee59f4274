"""Computes a call on double-precision inputs in extended precision, as far as NumPy has its operator and the digits."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autotest.diagnosis.numpy_oracle import numpy_result
from autotest.diagnosis.numpy_values import Unsettled
from autotest.program import Operand, Program, Ref, map_operand
from autotest.program.semantics import OPERATIONS, base_name, in_place

#: Whether this machine's long double has more digits than a double: there it is one on most, and not on ARM or Windows.
HAS_MORE_DIGITS: Final = bool(np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant)
#: Their counterparts hold constants of double precision.
_INEXACT: Final = frozenset(("gelu", "erf", "erfc", "selu"))
#: What a counterpart may be off at most: more says that it means something else.
_CLOSE: Final = 1e-6
_TINY: Final = 1e-300


def exactly(program: Program, given: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """The result of `program`, of one call on float64 tensors, for which the reference gave `given`.

    None where there is no such thing: another program, an operator that NumPy does not have, no more digits.
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
        except Unsettled:
            return None
        if not isinstance(found, (np.ndarray, np.longdouble)) or found.dtype != np.longdouble:
            return None
        if found.shape != given.shape or not np.allclose(found, given, _CLOSE, _TINY, equal_nan=True):
            return None
    return np.asarray(found)
