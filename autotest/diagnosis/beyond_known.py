"""What else differs in a trial whose first difference the ledger expects.

What is known to differ is given the reference's value, on both sides, and the program is run again: what still differs
is not a consequence of what is known.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from autotest.base.errors import NotReplayable
from autotest.base.settings import Settings
from autotest.comparison import Mismatch, TensorValue
from autotest.diagnosis.agreement import Agreement, Place, agree, place_of
from autotest.diagnosis.inputs import as_inputs
from autotest.diagnosis.locating import locate
from autotest.frameworks import Pair, warnings_ignored
from autotest.program import Call, Captured, Program, Ref, map_operand, refs
from autotest.program.calls import first_use
from autotest.program.paths import member_of
from autotest.program.rewriting import assembled, bypassed, upto
from autotest.program.semantics import OPERATIONS, in_place, is_backward, is_class
from autotest.recording.recorder import Recorder
from autotest.replaying.operator_shown import operator_shown
from autotest.results.ledger import Ledger, LedgerEntry
from autotest.trials.trial import Outcome, Test, perform, settle

#: Known differences of one trial that are put right, at most.
_MOST = 12
#: After these the candidate went no further.
_ENDS = ("exception", "accepted", "out of memory")


@np.errstate(all="ignore")
@warnings_ignored()
def look_beyond(test: Test, outcome: Outcome, pair: Pair, ledger: Ledger) -> bool:
    """Whether `outcome`, whose first mismatch `ledger` expects, has one that it does not; these it has afterwards."""

    def known(program: Program, mismatch: Mismatch) -> LedgerEntry | None:
        return ledger.expects(test.id, mismatch, operator_shown(program, mismatch, pair))

    try:
        if outcome.mismatches[0].symptom == "exception":
            again = _past_refusals(test, outcome.seed, pair, known)
            if not again.mismatches:
                return False
            program, mismatches = again.program, again.mismatches
        else:
            program, mismatches = outcome.program, outcome.mismatches
        if all(known(program, mismatch) is not None for mismatch in mismatches):
            return False
        if outcome.update is not None:  # from which all that comes after a step may follow
            program = upto(program, outcome.recorder.steps[0].slot)
        # What was put right, the reference may refuse to go on with: that says nothing of the trial.
        parity = test.settings.check_errors and outcome.recorder.rejection is not None
        settings = dataclasses.replace(test.settings, check_errors=parity)
        for _ in range(_MOST):
            agreement = agree(program, pair, settings)
            if not agreement.mismatches:
                return False
            first = agreement.mismatches[0]
            entry = known(program, first)
            if entry is not None:
                outcome.met_beyond.append(entry)
            else:
                outcome.mismatches, outcome.beyond = agreement.mismatches, program
                outcome.set_aside = settings.set_aside
                return True
            if any(known(program, item) is None for item in _beside(agreement, first)):
                # Of results of one call none follows from another: what is known of one is not said of the others.
                name = f"{first.symptom} {operator_shown(program, first, pair)} {first.place} {first.operand}"
                settings = dataclasses.replace(settings, set_aside=(*settings.set_aside, name))
            else:
                program, settings = _put_right(agreement, first, pair, settings)
    except NotReplayable:
        return False
    except Exception:  # noqa: BLE001 - what cannot be run again with other operands has nothing beyond
        return False
    return False


def _past_refusals(
    test: Test, seed: int, pair: Pair, known: Callable[[Program, Mismatch], LedgerEntry | None]
) -> Outcome:
    """The trial once more, which goes on after calls that the candidate is known to refuse."""

    def is_known_refusal(recorder: Recorder, mismatch: Mismatch) -> bool:
        return mismatch.symptom == "exception" and known(recorder.snapshot(), mismatch) is not None

    outcome = perform(test.body, seed, test.settings, pair, is_known_refusal=is_known_refusal)
    settle([outcome], test.settings)
    return outcome


def _put_right(agreement: Agreement, first: Mismatch, pair: Pair, settings: Settings) -> tuple[Program, Settings]:
    """The program with the reference's value where `first` is, or the settings that do not compare it there."""
    program = agreement.program
    if first.symptom in _ENDS:
        return upto(program, first.slot), settings
    aside = dataclasses.replace(
        settings, set_aside=(*settings.set_aside, f"{first.symptom} {operator_shown(program, first, pair)}")
    )
    if any(item.name == first.name and item.symptom != first.symptom for item in agreement.mismatches):
        return program, aside  # what else is wrong with it is looked at before its value is another's
    place = place_of(first)
    slot = locate(program, pair, settings, first).slot
    if first.stage == "backward" and slot not in (reached := _computed_from(program, place[0])):
        slot = next(iter(reached), slot)  # that one has a wrong gradient, too, but not this one
    call = program.calls[place[0] if slot is None else slot]
    if in_place(call) and first.symptom == "structure" and type(call.args[0]) is Ref:
        return _reading_the_owner(program, call), aside  # it returns nothing, and what it wrote into is there
    if call.kind not in OPERATIONS or is_class(call):
        return program, aside
    if call.slot > place[0] and first.stage == "forward":
        right = _overwritten(program, call, place, agreement)
    else:
        right = _given(program, call, agreement)
    return (program, aside) if right is None else (right, settings)


def _beside(agreement: Agreement, first: Mismatch) -> list[Mismatch]:
    """What differs as `first` does in other results of its call, or gradients of its other operands or parameters."""
    calls = agreement.program.calls
    use = first_use(calls, first.slot) if first.operand else None
    found = []
    for item in agreement.mismatches:
        if (item.symptom, item.stage) == (first.symptom, first.stage):
            if item.slot == first.slot and item.place and item.place != first.place:
                found.append(item)
            elif use is not None and (other := first_use(calls, item.slot)) is not None and other != use:
                found += [item] if other[0] == use[0] else []
    return found


def _computed_from(program: Program, slot: int) -> list[int]:
    """The slots of the operations that the value in `slot` is an operand of, directly or not, in order."""
    found = [slot]
    for call in program.calls[slot + 1 :]:
        if not is_backward(call) and any(ref.slot in found for ref in refs(call)):
            found.append(call.slot)
    return found[1:]


def _reading_the_owner(program: Program, call: Call) -> Program:
    """`program` in which nobody reads what an in-place call returned, but what it wrote into."""
    owner = call.args[0]

    def leaf(item: object) -> object:
        return owner if type(item) is Ref and item.slot == call.slot else item

    calls = [
        one._replace(args=map_operand(one.args, leaf), kwargs=map_operand(one.kwargs, leaf)) for one in program.calls
    ]
    return Program(tuple(calls), program.arrays, program.undefined)


def _given(program: Program, call: Call, agreement: Agreement) -> Program | None:
    """`program` in which the results of `call` are inputs, with the values that the reference computed."""
    read = agreement.read()
    if type(read.get((call.slot, ""), (None,))[0]) is TensorValue and not in_place(call):
        return as_inputs(program, {call.slot: read[call.slot, ""][0]})
    parts: dict[int, TensorValue] = {}
    for later in program.calls:
        if later.target == "getitem" and later.args[0] == Ref(call.slot) and type(later.args[1]) is int:
            value = read.get((later.slot, ""), (None,))[0]
            if type(value) is TensorValue:
                parts[later.slot] = value
    return _without_result(as_inputs(program, parts), call.slot) if parts else None


def _without_result(program: Program, slot: int) -> Program:
    """`program` without call `slot`, if nobody reads what it gave."""
    try:
        return bypassed(program, slot, None) if not _is_read(program, slot) else program
    except (KeyError, ValueError):
        return program


def _is_read(program: Program, slot: int) -> bool:
    return any(Ref(slot) in set(refs(call)) for call in program.calls)


def _overwritten(program: Program, call: Call, place: Place, agreement: Agreement) -> Program | None:
    """`program` in which what `call` left in an earlier value is written into it, as the reference left it."""
    slot, suffix = place
    value = agreement.read().get(place, (None,))[0]
    if type(value) is not TensorValue:
        return None
    arrays = (*program.arrays, value.as_array())
    content = Captured(len(program.arrays))
    if suffix:
        if not is_class(program.calls[slot]):
            return None
        written = Call("load_state", "", (Ref(slot), {member_of(suffix): content}), {}, len(program.calls))
    else:
        written = Call("overwrite", "", (Ref(slot), content), {}, len(program.calls))
    calls = [*program.calls[: call.slot + 1], written, *program.calls[call.slot + 1 :]]
    return assembled(calls, arrays, program.undefined)[0]
