"""Says to which check of a cell a mismatch belongs."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from autotest.comparison import Mismatch
from autotest.program import Program, Ref
from autotest.program.semantics import in_place, is_step
from autotest.recording.observation import Observed
from autotest.results.sweep import Check
from autotest.sweeping.undefined import flat

#: What an exception says when it is the arguments that were not understood, and not their values.
_SIGNATURE: Final = re.compile(
    r"unexpected keyword|positional argument|got an invalid combination|missing .*argument|takes .* argument"
    r"|must be .*, not |incompatible function arguments|signature|has no attribute|is not callable|unsupported operand"
)


def check_of(mismatch: Mismatch, program: Program) -> Check:
    """Which check a mismatch belongs to."""
    if mismatch.symptom in ("exception", "out of memory"):
        if mismatch.stage == "backward":
            return "gradient"
        return "signature" if _SIGNATURE.search(mismatch.message) else "errors"
    if mismatch.stage == "backward" or mismatch.symptom in ("gradient", "requires_grad"):
        return "gradient"
    if mismatch.symptom == "value":
        if _is_input(program, mismatch.slot):
            return "alias"
        numbers = mismatch.statistics
        return "nonfinite" if numbers is not None and numbers.nonfinite == numbers.mismatched else "value"
    if mismatch.symptom in ("dtype", "device"):
        return "dtype"
    return "shape"


def _is_input(program: Program, slot: int) -> bool:
    """Whether `slot` holds an input that no call is meant to write into."""
    if program.calls[slot].kind != "tensor":
        return False
    if any(is_step(call) for call in program.calls):
        return False
    written = any(in_place(call) and call.args[:1] == (Ref(slot),) for call in program.calls)
    return not written and not any(Ref(slot) in flat(call.kwargs.get("out")) for call in program.calls)


def has_nonfinite(observed: Observed) -> bool:
    """Whether a result of the reference holds a NaN or an infinity."""
    reference = observed.record.pair.reference
    tensors = [
        item.expected
        for item in observed.pairings
        if item.stage == "forward"
        and item.defined
        and isinstance(item.expected, reference.tensor_types)
        and observed.record.calls[item.slot].kind != "tensor"
    ]
    return any(
        value.data.dtype.kind in "fc" and not np.isfinite(value.data).all() for value in reference.values(tensors)
    )
