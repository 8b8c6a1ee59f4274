"""Measures how far the results of both sides lie from the reference's own in double precision, or NumPy's beyond."""

from __future__ import annotations

from typing import Any

from autotest.frameworks import Pair
from autotest.program import Program
from autotest.program.rewriting import WIDER, widened
from autotest.replaying.replay import Replayed, replay
from autotest.results.accuracy import Accuracy, in_ulps, measurable
from autotest.sweeping.backward import results
from autotest.sweeping.extended_precision import exactly


def measured(program: Program, expected: Replayed, actual: Replayed, pair: Pair) -> Accuracy | None:
    """The errors of what both sides gave for `program`, which has no backward; None where they cannot be told."""
    if not (pair.reference.holds_values and pair.candidate.holds_values):
        return None
    if not any(measurable(call.target) for call in program.inputs()):
        return None
    if all(call.target == "float64" for call in program.inputs() if measurable(call.target)):
        return _of_doubles(program, expected, actual)
    wide, places = widened(program)
    exact = replay(wide, pair.reference)
    if exact.error is not None:
        return None
    found = Accuracy()
    for slot, path, tensor in results(program, expected):
        dtype = pair.reference.dtype_of(tensor)
        if slot in program.undefined or dtype not in WIDER:
            continue
        own = _values(expected, slot, path)
        theirs, truth = _values(actual, slot, path), _values(exact, places[slot], path)
        alike = theirs is not None and truth is not None and own.data.shape == theirs.data.shape == truth.data.shape
        if alike and theirs.dtype == dtype and truth.dtype == WIDER[dtype]:
            found.reference.add(in_ulps(own.data, truth.data, dtype))
            found.candidate.add(in_ulps(theirs.data, truth.data, dtype))
    return found if found.elements else None


def _of_doubles(program: Program, expected: Replayed, actual: Replayed) -> Accuracy | None:
    """The errors of one result in double precision, where NumPy can compute it with more digits."""
    given = [place for place in results(program, expected) if place[0] not in program.undefined]
    if len(given) != 1 or given[0][1]:
        return None
    own, theirs = (_values(ran, given[0][0], ()) for ran in (expected, actual))
    truth = exactly(program, own.data) if own.dtype == "float64" else None
    if truth is None or theirs is None or (theirs.dtype, theirs.data.shape) != (own.dtype, own.data.shape):
        return None
    found = Accuracy()
    found.reference.add(in_ulps(own.data, truth, own.dtype))
    found.candidate.add(in_ulps(theirs.data, truth, own.dtype))
    return found if found.elements else None


def _values(ran: Replayed, slot: int, path: tuple[int, ...]) -> Any:
    """The `TensorValue` that a replay gave; None where it gave no tensor there."""
    value = ran.framework.known(ran.values[slot])
    for index in path:
        value = value[index] if isinstance(value, (tuple, list)) and len(value) > index else None
    return ran.framework.values([value])[0] if isinstance(value, ran.framework.tensor_types) else None
