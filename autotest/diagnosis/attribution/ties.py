"""Distinguishes an index that selects another of several equal values from a wrong index."""

from __future__ import annotations

from autotest.comparison import Mismatch, TensorValue
from autotest.comparison.equal_choices import besides, selects_alike
from autotest.diagnosis.attribution.locating import operands
from autotest.frameworks import Pair
from autotest.program import operator_of
from autotest.program.semantics import first_operand
from autotest.replaying.agreement import Agreement
from autotest.replaying.replay import Place


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
    if pairing is None:
        return False
    one, other = pairing
    if type(one) is not TensorValue or type(other) is not TensorValue:
        return False
    held, _ = operands(focus.program, pair.reference, slot)
    read = first_operand(call)
    source = None if read is None else held.get(read.slot)
    if type(source) is not TensorValue:
        return False
    return selects_alike(operator_of(focus.program.calls, slot), call, source.data, one.data, other.data)


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
    return besides(program, tied, found)
