"""Gives a changed program's modules the same initial numbers on both sides, as a trial does.

A module that is constructed with other arguments (``bias=True``) may have parameters that the program never loads. Each
side draws its own, so that such a program would differ whatever is wrong.
"""

from __future__ import annotations

from autotest.base.settings import Settings
from autotest.comparison import TensorValue
from autotest.frameworks import Pair
from autotest.program import Call, Captured, Program, Ref
from autotest.program.paths import member_of
from autotest.program.rewriting import assembled, upto
from autotest.program.semantics import is_class
from autotest.replaying.agreement import Agreement, agree


def modules_that_differ(agreement: Agreement) -> list[int]:
    """Return the slots of the modules in whose own numbers the sides of `agreement` differ."""
    calls = agreement.program.calls
    return sorted(
        {item.slot for item in agreement.mismatches if item.symptom == "value" and is_class(calls[item.slot])}
    )


def with_initial_state(agreement: Agreement, pair: Pair, settings: Settings) -> Program | None:
    """Return the program of `agreement` with the reference's initial numbers in modules whose own ones differ.

    Return None if the sides do not differ in initial numbers.
    """
    program = agreement.program
    arrays, loaded = [*program.arrays], dict[int, Call]()
    for slot in modules_that_differ(agreement):
        new = agree(upto(program, slot + 1), pair, settings)
        held = {item.place: new.read().get((slot, item.place), (None,))[0] for item in new.mismatches}
        content = {}
        for place, value in held.items():
            if type(value) is TensorValue:
                content[member_of(place)] = Captured(len(arrays))
                arrays.append(value.as_array())
        if content:
            loaded[slot] = Call("load_state", "", (Ref(slot), content), {}, len(program.calls) + len(loaded))
    if not loaded:
        return None
    calls = [one for call in program.calls for one in (call, loaded.get(call.slot)) if one is not None]
    return assembled(calls, tuple(arrays), program.undefined)[0]
