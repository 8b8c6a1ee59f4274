"""Assigns mismatches to the checks of a cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from autotest.comparison import Mismatch, TensorValue
from autotest.program import Program, Ref
from autotest.program.semantics import is_step
from autotest.recording.observation import Observed
from autotest.results.sweep import Check
from autotest.sweeping.undefined import slots_written

#: Matches exception messages about a call's signature, as opposed to the values of its arguments.
_SIGNATURE: Final = re.compile(
    r"unexpected keyword|positional argument|got an invalid combination|missing .*argument|takes .* argument"
    r"|must be .*, not |incompatible function arguments|signature|has no attribute|is not callable|unsupported operand"
)


def check_of(mismatch: Mismatch, program: Program) -> Check:
    """Return the check that a mismatch belongs to."""
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
    """Whether `slot` contains an input that no call is supposed to write into."""
    if program.calls[slot].kind != "tensor":
        return False
    if any(is_step(call) for call in program.calls):
        return False
    return not any(slot in slots_written(program, call) for call in program.calls)


def is_in_place_on_reference_only(slot: int, observed: Observed) -> bool:
    """Whether only the reference's value in `slot` is written into and returned by a later call.

    This happens if a module or a function with ``inplace=True`` works in place on one side only.
    """
    record = observed.record
    reference, candidate = record.pair.reference, record.pair.candidate
    own, theirs = record.expected[slot], record.actual[slot]
    return reference.is_tensor(own) and any(
        reference.same(own, record.expected[call.slot]) and not candidate.same(theirs, record.actual[call.slot])
        for call in record.calls[slot + 1 :]
    )


def repeats_tuple_item(mismatch: Mismatch, mismatches: Sequence[Mismatch], observed: Observed) -> bool:
    """Whether `mismatch`, of an item taken out of a tuple, repeats a mismatch of that item of the tuple."""
    record = observed.record
    call = record.calls[mismatch.slot] if mismatch.slot < len(record.calls) else None
    if call is None or call.target != "getitem" or mismatch.stage == "backward":
        return False
    owner, index = call.args
    if type(owner) is not Ref or not isinstance(record.expected[owner.slot], (tuple, list)):
        return False
    return any(
        item.slot == owner.slot and item.symptom == mismatch.symptom and item.place == f"[{index}]"
        for item in mismatches
    )


def follows(mismatch: Mismatch, mismatches: Sequence[Mismatch]) -> bool:
    """Whether `mismatch` is a refused backward that follows from a result of another shape or without a gradient."""
    if mismatch.symptom != "exception" or mismatch.stage != "backward":
        return False
    return any(item.stage == "forward" and item.symptom in ("shape", "requires_grad") for item in mismatches)


def has_nonfinite(observed: Observed) -> bool:
    """Whether a result of the reference contains a NaN or an infinity."""
    return any(
        item.stage == "forward"
        and item.defined
        and type(value) is TensorValue
        and value.data.dtype.kind in "fc"
        and observed.record.calls[item.slot].kind != "tensor"
        and not np.isfinite(value.data).all()
        for item, value in zip(observed.pairings, observed.expected, strict=False)  # shorter if no value could be read
    )
