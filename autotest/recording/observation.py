"""What a trial produced on either side, read once and compared."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autotest.base.settings import Settings
from autotest.comparison import Mismatch, Nothing, Stage, compare_values
from autotest.comparison.rejection import ABSENT as NO_NAME
from autotest.comparison.rejection import Rejection
from autotest.emission import names
from autotest.frameworks import ABSENT, Absent, Framework
from autotest.frameworks.base import CandidateDied
from autotest.frameworks.freezing import PLAIN, freeze, freezing
from autotest.program import LAYOUT, Call, operator_of, refs
from autotest.program.semantics import (
    is_backward,
    is_class,
    is_holder,
    is_module_call,
    is_step,
    reads_gradient,
    returns_gradients,
)
from autotest.program.semantics import written as written_by
from autotest.recording.record import Record, stage_of
from autotest.recording.special_values import marked

#: Calls whose result says nothing about agreement: inputs, assignments, the machinery of the record.
_SILENT = frozenset(("load_state", "overwrite", "setattr", "enter", "exit"))
#: Methods and operators that put modules into another.
_PUTTING = frozenset("add_module register_module append insert extend update setitem".split())


class Pairing(NamedTuple):
    """Two objects that should be alike: `name` follows the slot's own name."""

    slot: int
    suffix: str
    stage: Stage
    expected: Any
    actual: Any
    defined: bool


@dataclasses.dataclass(slots=True)
class Observed:
    """A record that has run, with neither side read yet."""

    record: Record
    pairings: list[Pairing]
    #: How many results (inputs do not count) there are, and how many gradients the reference has.
    compared: int
    gradients: int

    @property
    def elements(self) -> int:
        """How many numbers the reference's tensors hold: as long as this lives, the record keeps them alive."""
        reference = self.record.pair.reference
        types, shape = reference.tensor_types, reference.shape
        return sum([math.prod(shape(pairing.expected)) for pairing in self.pairings if type(pairing.expected) in types])


def compare_trial(record: Record, settings: Settings) -> list[Mismatch]:
    """Compare everything that `record` holds."""
    return compare([observe(record)], settings)[0]


def observe(record: Record) -> Observed:
    """Find out what there is to compare."""
    pairings, compared = pair_up(record)
    gradients = _read_gradients(record)
    for pairing in pairings:
        if pairing.stage == "backward" and pairing.expected is not None:
            gradients += 1
    return Observed(record, pairings, compared, gradients)


def compare(trials: Sequence[Observed], settings: Settings) -> list[list[Mismatch]]:
    """Read both sides of some trials of one pair, waiting for each side once, and compare each of them."""
    pair = trials[0].record.pair
    try:
        read = freezing(pair.candidate, [pairing.actual for trial in trials for pairing in trial.pairings])
    except CandidateDied:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the candidate's
        return _unreadable(trials, settings, error)
    # An asynchronous candidate works meanwhile.
    expected = freeze(pair.reference, [pairing.expected for trial in trials for pairing in trial.pairings])
    try:
        actual = read()
    except CandidateDied:
        raise
    except Exception as error:  # noqa: BLE001 - as before
        return _unreadable(trials, settings, error)
    found, start = [], 0
    for trial in trials:
        end = start + len(trial.pairings)
        failed = pair.candidate.first_failure(trial.record.actual)
        if failed is not None:
            found.append(failed_there(trial.record, *failed))
        else:
            found.append(_compare(trial, expected[start:end], actual[start:end], settings))
        start = end
    return found


def failed_there(record: Record, slot: int, error: Exception) -> list[Mismatch]:
    """What is said of call `slot`, of which the candidate told only when it was read that it failed."""
    name = operator_of(record.calls, slot)
    if isinstance(error, Absent):
        record.rejection = Rejection(name, NO_NAME, str(error))
        return []
    reference, candidate = record.pair.sides
    message = f"{name}: {reference} accepts, {candidate} raised {error}. expected={reference} actual={candidate}"
    stage = stage_of(record.calls[slot].kind, record.calls[slot].target, None)
    return [*record.mismatches, Mismatch(name, slot, "exception", stage, "candidate", message)]


def _unreadable(trials: Sequence[Observed], settings: Settings, error: Exception) -> list[list[Mismatch]]:
    """An asynchronous framework reports when it is read what went wrong in a call made long before."""
    if len(trials) > 1:
        found = [compare([trial], settings)[0] for trial in trials]
        # Told once, it may not be told again: then it is not known whose it was, and the last trial has it.
        if any(mismatch.name == "results" for mismatches in found for mismatch in mismatches):
            return found
        return [*found[:-1], [*found[-1], _unread(trials[-1], error)]]
    return [[*trials[0].record.mismatches, _unread(trials[0], error)]]


def _unread(trial: Observed, error: Exception) -> Mismatch:
    slot = max((pairing.slot for pairing in trial.pairings), default=0)
    name = trial.record.pair.candidate.name
    message = f"{name} failed when its results were read: {type(error).__name__}: {error}"
    return Mismatch("results", slot, "exception", "forward", "candidate", message)


def _compare(trial: Observed, expected: Sequence[Any], actual: Sequence[Any], settings: Settings) -> list[Mismatch]:
    record, pairings = trial.record, trial.pairings
    of_values, of_gradients = settings.tolerance, settings.gradient_tolerance
    suspicious = [
        index
        for index, pairing in enumerate(pairings)
        if compare_values(
            pairing.suffix,
            pairing.slot,
            pairing.stage,
            expected[index],
            actual[index],
            of_gradients if pairing.stage == "backward" else of_values,
            check_dtype=settings.check_dtype,
            check_values=settings.check_values,
            defined=pairing.defined,
        )
    ]
    if not suspicious and not record.mismatches:
        return []
    # Names and messages are worked out only now that somebody will read them.
    named = names(record.snapshot())
    found = [
        mismatch
        for index in suspicious
        for mismatch in compare_values(
            named[pairings[index].slot] + pairings[index].suffix,
            pairings[index].slot,
            pairings[index].stage,
            expected[index],
            actual[index],
            settings.tolerance_at(pairings[index].stage),
            check_dtype=settings.check_dtype,
            check_values=settings.check_values,
            defined=pairings[index].defined,
            sides=record.pair.sides,
        )
    ]
    found = marked(record, found, wanted=settings.special_values)
    return _ordered(record, [*record.mismatches, *found])


def _ordered(recorder: Record, found: Sequence[Mismatch]) -> list[Mismatch]:
    """`found` in program order: what the forward gave, then gradients, then what an optimizer made of these."""
    end = len(recorder.calls)
    pushed = max((call.slot for call in recorder.calls if is_backward(call)), default=end)
    step = next((call.slot for call in recorder.calls if is_step(call)), end)
    if step < pushed:
        step = end  # the gradients that are there at the end come after that step

    def place(mismatch: Mismatch) -> tuple[bool, bool, int]:
        slot, gradient = mismatch.slot, mismatch.stage == "backward"
        stepped = step < end and not gradient
        return stepped and (slot > step or _is_trained(recorder, recorder.expected[slot])), gradient, slot

    return sorted(found, key=place)


def _is_trained(recorder: Record, value: Any) -> bool:
    """Whether an optimizer may have written into `value`, or into something in it."""
    reference = recorder.pair.reference
    if isinstance(value, (tuple, list)):
        return any(_is_trained(recorder, item) for item in value)
    return isinstance(value, reference.module_types) or _holds_gradient(reference, value)


def pair_up(recorder: Record) -> tuple[list[Pairing], int]:
    """Everything to compare, in program order, and how many of them are results."""
    reference, candidate = recorder.pair.reference, recorder.pair.candidate
    tensor_types, module_types = reference.tensor_types, reference.module_types
    pairings: list[Pairing] = []
    seen: set[tuple[int, int]] = set()
    #: ids of the candidate's tensors whose gradient is compared; a call may return a leaf that the reference copies.
    graded: set[int] = set()
    undefined = recorder.gradients_undefined()
    specified = not (recorder.undefined or recorder.undefined_slots)  # the rule: then no slot needs to be asked about
    compared = 0
    failed = {mismatch.slot for mismatch in recorder.mismatches}
    written = _written_by(recorder, failed) if failed else set()
    # Where the candidate's backward failed, its missing gradients are no findings of their own.
    pushed_back = not any(mismatch.stage == "backward" for mismatch in recorder.mismatches)
    for call in _holders_last(recorder.calls):
        slot, kind, target = call.slot, call.kind, call.target
        if kind in _SILENT or slot in failed:
            continue
        expected, actual = recorder.expected[slot], recorder.actual[slot]
        if kind != "tensor" and not is_backward(call) and call.note != LAYOUT:
            compared += 1
        if type(expected) not in tensor_types and isinstance(expected, PLAIN):
            if target == "type":
                # A framework says "torch.FloatTensor", and the other calls it otherwise because of itself.
                expected, actual = (str(side).rpartition(".")[2] for side in (expected, actual))
            if not is_backward(call):
                pairings.append(Pairing(slot, "", "forward", expected, actual, not recorder.is_undefined(slot)))
            continue
        identity = (id(expected), id(actual))
        if identity in seen or id(expected) in written:
            continue
        seen.add(identity)
        if isinstance(expected, tensor_types):
            defined = specified or not recorder.is_undefined(slot)
            pairings.append(Pairing(slot, "", "forward", expected, actual, defined))
            held = reference.holds_gradient(expected)
            if pushed_back and (held or (id(actual) not in graded and _holds_gradient(candidate, actual))):
                graded.add(id(actual))
                gradient = reference.gradient(expected) if held else None
                pairings.append(_gradient(candidate, slot, "", gradient, actual, slot not in undefined))
        elif isinstance(expected, module_types):
            compared -= 1  # a module is compared by its state, which is no result by itself
            for own, other in (
                (reference.parameters(expected), candidate.parameters(actual)),
                (reference.buffers(expected), candidate.buffers(actual)),
            ):
                for name in own:
                    identity = (id(own[name]), id(other.get(name)))
                    if identity in seen or id(own[name]) in written:
                        continue
                    seen.add(identity)
                    suffix = f".{name}"
                    defined = id(own[name]) not in recorder.undefined
                    pairings.append(Pairing(slot, suffix, "forward", own[name], other.get(name, Nothing()), defined))
                    if pushed_back and reference.holds_gradient(own[name]):
                        gradient = reference.gradient(own[name])
                        pairings.append(
                            _gradient(candidate, slot, suffix, gradient, other.get(name), slot not in undefined)
                        )
                extra = sorted(other.keys() - own.keys())
                pairings.extend(Pairing(slot, f".{name}", "forward", Nothing(), other[name], True) for name in extra)
        elif _is_data(reference, expected):
            pairings.append(Pairing(slot, "", "forward", expected, actual, not recorder.is_undefined(slot)))
        else:
            compared -= 1
    if not (reference.holds_values and candidate.holds_values):
        pairings = [item if isinstance(item.expected, PLAIN) else item._replace(defined=False) for item in pairings]
    return pairings, compared


def _holders_last(calls: Sequence[Call]) -> Sequence[Call]:
    """What is in modules that only hold others is told of where it was made; then come those that nothing holds."""
    holders = {call.slot for call in calls if is_holder(call)}
    if not holders:
        return calls
    held = {ref.slot for call in calls if _holds(call) for ref in [*refs(call)][call.kind != "function" :]}
    return [
        *(call for call in calls if call.slot not in holders),
        *(call for call in calls if call.slot in holders and call.slot not in held),
    ]


def _holds(call: Call) -> bool:
    """Whether `call` puts modules into another."""
    return call.kind == "setattr" or is_class(call) or call.target in _PUTTING


def _read_gradients(recorder: Record) -> int:
    """How many gradients the body itself took hold of, so that they are compared as results."""
    taken = [recorder.expected[call.slot] for call in recorder.calls if returns_gradients(call) or reads_gradient(call)]
    flat = [item for value in taken for item in (value if isinstance(value, (tuple, list)) else (value,))]
    return sum(1 for item in flat if isinstance(item, recorder.pair.reference.tensor_types))


def _written_by(recorder: Record, failed: set[int]) -> set[int]:
    """ids of the reference's tensors that a call has written into which failed on the candidate.

    That the candidate's are as they were is no finding beside the failure.
    """
    written: set[int] = set()
    for slot in failed:
        if slot >= len(recorder.calls):
            continue
        call = recorder.calls[slot]
        operands = [recorder.expected[ref.slot] for ref in refs(call)]
        if is_module_call(call) and isinstance(operands[0], recorder.pair.reference.module_types):
            written |= {id(buffer) for buffer in recorder.pair.reference.buffers(operands[0]).values()}
        if call.kind == "overwrite":
            continue  # this library's own doing: that it fails says something of the value which was to be replaced
        written |= {id(recorder.expected[ref.slot]) for ref in written_by(call)}
        if any(map(recorder.pair.reference.works_in_place, operands)):
            written |= {id(operand) for operand in operands}
    return written


def _gradient(candidate: Framework, slot: int, suffix: str, expected: Any, actual: Any, defined: bool) -> Pairing:
    """The gradient `expected` of a tensor of the reference beside that of `actual`, the candidate's tensor."""
    gradient = candidate.gradient(actual) if isinstance(actual, candidate.tensor_types) else None
    return Pairing(slot, f"{suffix}.grad", "backward", expected, gradient, defined)


def _holds_gradient(framework: Framework, value: Any) -> bool:
    return isinstance(value, framework.tensor_types) and framework.holds_gradient(value)


def _is_data(framework: Framework, value: Any) -> bool:
    """Whether `value` holds something to compare: containers of tensors and plain values, dtypes, sizes."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return not value or any(_is_data(framework, item) for item in value)
    if isinstance(value, (*PLAIN, np.ndarray, *framework.tensor_types)):
        return True
    return framework.literal(value) is not ABSENT
