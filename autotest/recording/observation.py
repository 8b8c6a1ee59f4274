"""Reads the results of a trial on both sides, once, and compares them."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Sequence
from itertools import chain
from typing import Any

from autotest.base.errors import AdapterWrong
from autotest.base.settings import EXACT, Settings, Tolerance
from autotest.comparison import Comparison, Mismatch, compare_values, surely_agree
from autotest.comparison.rejection import ABSENT as NO_NAME
from autotest.comparison.rejection import Rejection
from autotest.emission import cotangents, names
from autotest.frameworks import Absent
from autotest.frameworks.failures import CandidateDied, symptom_of
from autotest.frameworks.freezing import begin_freezing, freeze
from autotest.frameworks.states import StateDiffers
from autotest.program import COTANGENT, operator_of
from autotest.program.exact_conversions import exact_conversions
from autotest.program.operator_names import first_use
from autotest.program.semantics import give_gradients, gives_gradients, is_backward, is_step
from autotest.recording.adapter_errors import blame_adapter
from autotest.recording.initial_state import state_differs
from autotest.recording.pairing import Pairing, pair_up
from autotest.recording.precision import with_precision
from autotest.recording.record import Record, stage_of
from autotest.recording.special_values import counted_mismatches, marked_special
from autotest.recording.unreadable import Unreadable, unreadable


@dataclasses.dataclass(slots=True)
class Observed:
    """A record of calls that have run, with the pairs of values to compare, before any value is read."""

    record: Record
    pairings: list[Pairing]
    #: The number of results, without inputs, and the number of gradients that the reference has.
    compared: int
    gradients: int
    #: The reference's values of `pairings`; empty until `compare` has read them.
    expected: Sequence[Any] = ()

    @property
    def elements(self) -> int:
        """Number of elements in the reference's tensors, which the record keeps alive as long as this object exists."""
        reference = self.record.pair.reference
        types = reference.tensor_types
        return reference.numel([pairing.expected for pairing in self.pairings if type(pairing.expected) in types])


_expected, _actual = operator.attrgetter("expected"), operator.attrgetter("actual")


def compare_trial(record: Record, settings: Settings) -> list[Mismatch]:
    """Compare both sides of `record`; return the mismatches that count under `settings`."""
    return counted_mismatches(compare([observe(record)], settings)[0], settings)


def observe(record: Record) -> Observed:
    """Pair the values of both sides of `record`, without reading them.

    A value that the candidate cannot even look at becomes a mismatch of the record, and is left out.
    """
    try:
        paired = pair_up(record)
    except Unreadable as failed:
        record.mismatches.append(unreadable(record, failed))
        return observe(record)
    return Observed(record, paired.pairings, paired.results, paired.gradients + _read_gradients(record))


def compare(trials: Sequence[Observed], settings: Settings) -> list[list[Mismatch]]:
    """Read both sides of `trials`, which share one pair, waiting for each side once; return each trial's mismatches."""
    pair, pairings = trials[0].record.pair, [*chain.from_iterable(trial.pairings for trial in trials)]
    try:
        read = begin_freezing(pair.candidate, [*map(_actual, pairings)])
    except (AdapterWrong, CandidateDied):
        raise
    except Exception as error:  # noqa: BLE001 - any exception here comes from the candidate
        return _unreadable(trials, settings, error)
    # An asynchronous candidate computes while the reference is read.
    expected = freeze(pair.reference, [*map(_expected, pairings)])
    try:
        actual = read()
    except (AdapterWrong, CandidateDied):
        raise
    except Exception as error:  # noqa: BLE001 - as before
        return _unreadable(trials, settings, error)
    found, start = [], 0
    tolerances = settings.tolerance, settings.gradient_tolerance
    for trial in trials:
        end = start + len(trial.pairings)
        trial.expected = expected[start:end]
        failed = pair.candidate.first_failure(trial.record.actual)
        if failed is not None:
            found.append(failed_there(trial.record, *failed))
        else:
            found.append(_compare(trial, expected[start:end], actual[start:end], settings, tolerances))
        start = end
    return found


def failed_there(record: Record, slot: int, error: Exception) -> list[Mismatch]:
    """Return the mismatches of a trial in which the candidate reported the failure of call `slot` only when read.

    If the candidate lacks the operator, the record is rejected instead and the list is empty.
    """
    name = operator_of(record.calls, slot)
    if isinstance(error, Absent):
        record.rejection = Rejection(name, NO_NAME, str(error))
        return []
    if isinstance(error, StateDiffers):
        return [*record.mismatches, state_differs(record, slot, str(error))]
    reference, candidate = record.pair.sides
    told = str(error) if isinstance(error, CandidateDied) else f"{candidate} raised {error}"
    message = f"{name}: {reference} accepts, {told}. expected={reference} actual={candidate}"
    stage, what = stage_of(record.calls[slot]), str(error).partition("\n")[0]
    return [*record.mismatches, Mismatch(name, slot, symptom_of(error), stage, "candidate", message, what=what)]


def _unreadable(trials: Sequence[Observed], settings: Settings, error: Exception) -> list[list[Mismatch]]:
    """Return the mismatches of each trial after a read of the candidate raised `error`.

    An asynchronous framework reports the failure of a call only when a later result is read. Several trials are
    therefore compared again one by one, to find the trial that the error belongs to.
    """
    if len(trials) > 1:
        found = [compare([trial], settings)[0] for trial in trials]
        # The framework may report an error only once. Then its trial is unknown, and the last trial gets the error.
        if any(mismatch.name == "results" for mismatches in found for mismatch in mismatches):
            return found
        return [*found[:-1], [*found[-1], _unread(trials[-1], error)]]
    blame_adapter(trials[0].record.pair.candidate, error)
    return [[*trials[0].record.mismatches, _unread(trials[0], error)]]


def _unread(trial: Observed, error: Exception) -> Mismatch:
    slot = max((pairing.slot for pairing in trial.pairings), default=0)
    name = trial.record.pair.candidate.name
    what = f"{type(error).__name__}: {error}".partition("\n")[0]
    message = f"{name} failed when its results were read: {type(error).__name__}: {error}"
    return Mismatch("results", slot, "exception", "forward", "candidate", message, what=what)


def _compare(
    trial: Observed,
    expected: Sequence[Any],
    actual: Sequence[Any],
    settings: Settings,
    tolerances: tuple[Tolerance, Tolerance],
) -> list[Mismatch]:
    """Return the mismatches of `trial`; `tolerances` are those of results and of gradients."""
    record, pairings, check_values = trial.record, trial.pairings, settings.check_values
    of_values, of_gradients = tolerances
    exact = frozenset() if of_values.given else exact_conversions(record.calls)
    suspicious = [
        index
        for index, (pairing, one, other) in enumerate(zip(pairings, expected, actual, strict=True))
        if not surely_agree(
            one,
            other,
            of_gradients if pairing.stage == "backward" else EXACT if pairing.slot in exact else of_values,
            check_values=check_values and pairing.defined,
        )
    ]
    if not suspicious and not record.mismatches:
        return []
    # Computed only now, because precisions, names and messages are needed only if there is a mismatch.
    coarse = with_precision(record, pairings, expected, actual, suspicious)
    named = names(record.snapshot())
    found: list[Mismatch] = []
    for index in suspicious:
        pairing = pairings[index]
        exactly = pairing.stage == "forward" and pairing.slot in exact
        tolerance = EXACT if exactly else settings.tolerance_at(pairing.stage)
        how = Comparison(
            pairing.stage,
            tolerance,
            pairing.slot,
            settings.check_dtype,
            check_values and pairing.defined,
            record.pair.sides,
            pairing.suffix,
        )
        found += compare_values(named[pairing.slot], coarse.get(index, expected[index]), actual[index], how)
    if not record.pair.candidate.has_gradients:  # its results require none
        found = [item for item in found if item.symptom != "requires_grad"]
    found = [_of_operand(record, item) if item.stage == "backward" else item for item in found]
    return _ordered(record, [*record.mismatches, *marked_special(record, found)])


def _of_operand(record: Record, mismatch: Mismatch) -> Mismatch:
    """Return `mismatch` with `operand` set to the operand as which its leaf was first used, if it was used."""
    use = first_use(record.calls, mismatch.slot)
    return mismatch if use is None else dataclasses.replace(mismatch, operand=use[1])


def _ordered(recorder: Record, found: Sequence[Mismatch]) -> list[Mismatch]:
    """Return `found` in program order: results of the forward pass, gradients, values that an optimizer changed.

    Cotangents come after gradients: nothing but the backward that computes these, too, can have changed one.
    """
    end = len(recorder.calls)
    pushed = max((call.slot for call in recorder.calls if is_backward(call)), default=end)
    step = next((call.slot for call in recorder.calls if is_step(call)), end)
    if step < pushed:
        step = end  # the gradients compared at the end were computed after that step

    given_back = {call.slot for call in recorder.calls if call.note == COTANGENT} | cotangents(recorder.snapshot())

    def place(mismatch: Mismatch) -> tuple[bool, bool, bool, int]:
        slot, gradient = mismatch.slot, mismatch.stage == "backward"
        stepped = step < end and not gradient
        changed = stepped and (slot > step or _is_trained(recorder, recorder.expected[slot]))
        return changed, gradient or slot in given_back, slot in given_back, slot

    return sorted(found, key=place)


def _is_trained(recorder: Record, value: Any) -> bool:
    """Whether an optimizer may have written into `value` or one of its items."""
    reference = recorder.pair.reference
    if isinstance(value, (tuple, list)):
        return any(_is_trained(recorder, item) for item in value)
    return isinstance(value, reference.module_types) or (
        isinstance(value, reference.tensor_types) and reference.holds_gradient(value)
    )


def _read_gradients(recorder: Record) -> int:
    """Return the number of gradients that the body read itself, which are compared as results."""
    if not give_gradients(recorder.calls):
        return 0
    taken = [recorder.expected[call.slot] for call in recorder.calls if gives_gradients(call)]
    flat = [item for value in taken for item in (value if isinstance(value, (tuple, list)) else (value,))]
    return sum(1 for item in flat if isinstance(item, recorder.pair.reference.tensor_types))
