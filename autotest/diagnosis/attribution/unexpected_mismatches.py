"""Looks for new mismatches in a trial whose first mismatch the ledger expects.

A value that is known to differ is replaced by the reference's value on both sides, and the program is run again. A
mismatch that is still there is not a consequence of the known one.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from autotest.base.settings import Settings
from autotest.comparison import Mismatch, TensorValue
from autotest.diagnosis.attribution.inputs import as_inputs
from autotest.diagnosis.attribution.locating import locate
from autotest.frameworks import Pair, warnings_ignored
from autotest.program import Call, Captured, Program, Ref, reading, refs
from autotest.program.numpy_scalars import is_whole
from autotest.program.operator_names import first_use
from autotest.program.paths import member_of
from autotest.program.rewriting import assembled, bypassed, upto
from autotest.program.semantics import OPERATIONS, is_backward, is_class, overwritten_operand, writes_first_operand
from autotest.recording.recorder import Recorder
from autotest.replaying.agreement import Agreement, agree
from autotest.replaying.operator_of_mismatch import MismatchNames
from autotest.replaying.replay import Place
from autotest.results.ledger import Ledger, LedgerEntry
from autotest.trials.comparing import compare_outcomes
from autotest.trials.decorated import Test
from autotest.trials.outcome import Outcome
from autotest.trials.trial import run_without_comparison

#: The largest number of known mismatches that are repaired in one trial.
_MOST = 12
#: Symptoms after which the candidate runs no further call.
_ENDS = ("exception", "accepted", "out of memory")


@np.errstate(all="ignore")
@warnings_ignored()
def find_unexpected(test: Test, outcome: Outcome, pair: Pair, ledger: Ledger) -> bool:
    """Return whether `outcome`, whose first mismatch `ledger` expects, has a mismatch that the ledger does not expect.

    If so, `outcome.mismatches`, `outcome.repaired_program` and `outcome.ignored_differences` are set to the unexpected
    mismatches, the repaired program and the differences that are ignored in it. `outcome.further_expected` receives
    the ledger entries met.
    """
    try:
        return _repaired_until_unexpected(test, outcome, pair, _KnownMismatches(test, outcome, pair, ledger))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 - what cannot run on other operands, or a body that then skips, shows nothing new
        return False


class _KnownMismatches:
    """The mismatches that the ledger expects in a trial and in its repaired programs."""

    def __init__(self, test: Test, outcome: Outcome, pair: Pair, ledger: Ledger) -> None:
        self._test, self._pair, self._ledger = test, pair, ledger
        self._names = MismatchNames(outcome.shown, pair, test.settings, traces_gradients=False)

    def operator(self, program: Program, mismatch: Mismatch) -> str:
        if self._names.program is not program:
            self._names = MismatchNames(program, self._pair, self._test.settings)
        return self._names.operator(mismatch)

    def entry(self, program: Program, mismatch: Mismatch) -> LedgerEntry | None:
        """Return the entry that expects `mismatch` of `program`, or None."""
        return self._ledger.expects(self._test.id, mismatch, lambda: self.operator(program, mismatch))


def _repaired_until_unexpected(test: Test, outcome: Outcome, pair: Pair, known: _KnownMismatches) -> bool:
    """Repair the program at each expected mismatch until an unexpected one is the first; see `find_unexpected`."""
    is_refusal = outcome.mismatches[0].symptom == "exception"
    start = _continued_after_refusals(test, outcome.seed, pair, known) if is_refusal else outcome
    program = start.program
    if all(known.entry(program, mismatch) is not None for mismatch in start.mismatches):
        return False
    if outcome.update is not None:  # all that differs after the step may be a consequence of it
        program = upto(program, outcome.recorder.steps[0].slot)
    # The reference may reject a repaired program, which says nothing about the trial.
    parity = test.settings.check_errors and outcome.recorder.rejection is not None
    settings = dataclasses.replace(test.settings, check_errors=parity)
    for _ in range(_MOST):
        agreement = agree(program, pair, settings)
        if not agreement.mismatches:
            return False
        first = agreement.mismatches[0]
        entry = known.entry(program, first)
        if entry is None:
            outcome.mismatches, outcome.repaired_program = agreement.mismatches, program
            outcome.ignored_differences = settings.set_aside
            return True
        outcome.further_expected.append(entry)
        operator = known.operator(program, first)
        if any(known.entry(program, item) is None for item in _similar_in_same_call(agreement, first)):
            # Results of one call do not depend on each other: to know one mismatch does not explain the others.
            name = f"{first.symptom} {operator} {first.place} {first.operand}"
            settings = dataclasses.replace(settings, set_aside=(*settings.set_aside, name))
        else:
            program, settings = _corrected(agreement, first, operator, pair, settings)
    return False


def _continued_after_refusals(test: Test, seed: int, pair: Pair, known: _KnownMismatches) -> Outcome:
    """Run the trial again, and continue after calls that the candidate is known to reject."""

    def is_known_refusal(recorder: Recorder, mismatch: Mismatch) -> bool:
        return mismatch.symptom == "exception" and known.entry(recorder.snapshot(), mismatch) is not None

    outcome = run_without_comparison(test.body, seed, test.settings, pair, is_known_refusal=is_known_refusal)
    compare_outcomes([outcome], test.settings)
    return outcome


def _corrected(
    agreement: Agreement, first: Mismatch, operator: str, pair: Pair, settings: Settings
) -> tuple[Program, Settings]:
    """Return the program with the reference's value at the place of `first`, or settings that ignore that mismatch."""
    program = agreement.program
    if first.symptom in _ENDS:
        return upto(program, first.slot), settings
    aside = dataclasses.replace(settings, set_aside=(*settings.set_aside, f"{first.symptom} {operator}"))
    if any(item.name == first.name and item.symptom != first.symptom for item in agreement.mismatches):
        return program, aside  # its other mismatches are looked at before its value is replaced
    place = first.at
    slot = locate(program, pair, settings, first).slot
    if first.stage == "backward" and slot not in (reached := _computed_from(program, place[0])):
        slot = next(iter(reached), slot)  # the located call has a wrong gradient, too, but not that of this value
    call = program.calls[place[0] if slot is None else slot]
    if first.symptom == "structure" and overwritten_operand(call) is not None:
        return _reading_the_owner(program, call), aside  # its return value is missing, but the operand can be read
    if call.kind not in OPERATIONS or is_class(call):
        return program, aside
    if call.slot > place[0] and first.stage == "forward":
        right = _overwritten(program, call, place, agreement)
    else:
        right = _with_reference_results(program, call, agreement)
    return (program, aside) if right is None else (right, settings)


def _similar_in_same_call(agreement: Agreement, first: Mismatch) -> list[Mismatch]:
    """Return the mismatches like `first` in other results of its call, or in gradients of the call's other operands."""
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
    """Return the slots of the operations that depend on the value in `slot`, directly or not, in order."""
    found = [slot]
    for call in program.calls[slot + 1 :]:
        if not is_backward(call) and any(ref.slot in found for ref in refs(call)):
            found.append(call.slot)
    return found[1:]


def _reading_the_owner(program: Program, call: Call) -> Program:
    """Return `program` with each use of an in-place call's return value replaced by the operand it wrote into."""
    instead = {call.slot: overwritten_operand(call)}
    calls = tuple(reading(one, instead) for one in program.calls)
    return Program(calls, program.arrays, program.undefined)


def _with_reference_results(program: Program, call: Call, agreement: Agreement) -> Program | None:
    """Return `program` with the results of `call` as inputs that contain the reference's values."""
    read = agreement.read()
    if type(read.get((call.slot, ""), (None,))[0]) is TensorValue and not writes_first_operand(call):
        return as_inputs(program, {call.slot: read[call.slot, ""][0]})
    parts: dict[int, TensorValue] = {}
    for later in program.calls:
        if later.target == "getitem" and later.args[0] == Ref(call.slot) and is_whole(later.args[1]):
            value = read.get((later.slot, ""), (None,))[0]
            if type(value) is TensorValue:
                parts[later.slot] = value
    return _without_result(as_inputs(program, parts), call.slot) if parts else None


def _without_result(program: Program, slot: int) -> Program:
    """Return `program` without call `slot`, if no other call reads its result."""
    try:
        is_read = any(Ref(slot) in refs(call) for call in program.calls)
        return program if is_read else bypassed(program, slot, None)
    except (KeyError, ValueError):
        return program


def _overwritten(program: Program, call: Call, place: Place, agreement: Agreement) -> Program | None:
    """Return `program` with the reference's content written over the value at `place` after `call` changed it."""
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
