"""Says to which check of a cell a mismatch belongs, and whether there was anything to check."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from autotest.comparison import Mismatch
from autotest.program import Program, Ref
from autotest.program.semantics import in_place, is_step
from autotest.recording.observation import Observed
from autotest.replaying.replay import Replayed
from autotest.results.sweep import Check
from autotest.sweeping.backward import results
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


def says_nothing(program: Program, expected: Replayed) -> bool:
    """Whether no result of the reference has an element whose contents are specified."""
    backward = ("backward", "autograd.backward")
    made = [call for call in program.calls if call.kind != "tensor" and call.target not in backward]
    values = [expected.values[call.slot] for call in made if call.slot not in program.undefined]
    types = expected.framework.tensor_types
    plain = any(value is not None and not isinstance(value, (*types, tuple, list)) for value in values)
    tensors = [value for value in values if isinstance(value, types)]
    tensors += [tensor for slot, _, tensor in results(program, expected) if slot not in program.undefined]
    return not plain and all(0 in tensor.shape for tensor in tensors)


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
