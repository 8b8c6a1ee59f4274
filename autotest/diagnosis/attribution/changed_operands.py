"""Tells whether a call of the candidate changes an earlier value, as a kernel does that works in place by mistake."""

from __future__ import annotations

from autotest.comparison import TensorValue
from autotest.frameworks import Framework, Pair
from autotest.program import Program, operator_of, same_bits
from autotest.program.rewriting import upto
from autotest.program.semantics import is_module_call, is_setting, is_step, written
from autotest.replaying.agreement import results_of_side
from autotest.replaying.replay import Place


def changing_operator(program: Program, place: Place, writer: int | None, pair: Pair) -> str:
    """Return the operator in slot `writer` if it changes the value at `place` on the candidate only; else ""."""
    if writer is None or writer <= place[0]:
        return ""
    call = program.calls[writer]
    # A module may have been told to work in place, and what an optimizer is for is to change its parameters.
    if is_module_call(call) or is_step(call) or is_setting(call) or any(written(call)):
        return ""
    reference, candidate = (_is_changed(program, place, writer, side, pair) for side in pair.frameworks)
    return operator_of(program.calls, writer) if reference is False and candidate else ""


def _is_changed(program: Program, place: Place, writer: int, side: Framework, pair: Pair) -> bool | None:
    """Return whether the call in slot `writer` changes the value at `place` on `side`; None if it is no tensor."""
    before, after = (
        results_of_side(cut, side, pair, place).get(place) for cut in (upto(program, writer), upto(program, writer + 1))
    )
    if type(before) is not TensorValue or type(after) is not TensorValue:
        return None
    return not same_bits(before.data, after.data)
