"""Measures the errors of both sides against the reference in double precision, or NumPy in extended precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.frameworks import Pair
from autotest.program import Program
from autotest.program.paths import item_at
from autotest.program.rewriting import WIDER, widened
from autotest.replaying.replay import Replayed, replay
from autotest.results.accuracy import Accuracy, Errors, in_ulps, measurable
from autotest.sweeping.backward import results
from autotest.sweeping.extended_precision import exactly


def measured(program: Program, expected: Replayed, actual: Replayed, pair: Pair) -> Accuracy | None:
    """Return the errors of both sides' results for `program`; None if they cannot be measured.

    `program` has no backward. `expected` and `actual` are its replays on the reference and the candidate.
    """
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
    given = [
        (slot, path)
        for slot, path, tensor in results(program, expected)
        if slot not in program.undefined and (dtype := pair.reference.dtype_of(tensor)) in WIDER and measurable(dtype)
    ]
    if not given:
        return None
    wider = [(places[slot], path) for slot, path in given]
    read = (_values(expected, given), _values(actual, given), _values(exact, wider))
    found = Accuracy()
    for own, theirs, truth in zip(*read, strict=True):
        alike = theirs is not None and truth is not None and own.data.shape == theirs.data.shape == truth.data.shape
        if alike and theirs.dtype == own.dtype and truth.dtype == WIDER[own.dtype]:
            _add(found, own, theirs, truth.data)
    return found if found.elements else None


def _of_doubles(program: Program, expected: Replayed, actual: Replayed) -> Accuracy | None:
    """Return the errors of a single double-precision result, if NumPy can compute it in extended precision."""
    given = [place for place in results(program, expected) if place[0] not in program.undefined]
    if len(given) != 1 or given[0][1]:
        return None
    ((own,), (theirs,)) = (_values(ran, [(given[0][0], ())]) for ran in (expected, actual))
    truth = exactly(program, own.data) if own.dtype == "float64" else None
    if truth is None or theirs is None or (theirs.dtype, theirs.data.shape) != (own.dtype, own.data.shape):
        return None
    found = Accuracy()
    _add(found, own, theirs, truth)
    return found if found.elements else None


def _add(found: Accuracy, own: Any, theirs: Any, truth: np.ndarray[Any, Any]) -> None:
    """Add the errors of the values of both sides, which have the same dtype and shape."""
    errors = Errors()
    errors.add(in_ulps(own.data, truth, own.dtype))
    found.reference.merge(errors)
    if own.data.tobytes() == theirs.data.tobytes():
        found.candidate.merge(errors)
    else:
        found.candidate.add(in_ulps(theirs.data, truth, own.dtype))


def _values(ran: Replayed, places: Sequence[tuple[int, tuple[int, ...]]]) -> list[Any]:
    """Return the `TensorValue`s at these slots and paths of a replay, read in one batch; None for a missing tensor."""
    framework = ran.framework
    live = [item_at(framework.known(ran.values[slot]), path) for slot, path in places]
    read = iter(framework.values([value for value in live if isinstance(value, framework.tensor_types)]))
    return [next(read) if isinstance(value, framework.tensor_types) else None for value in live]
