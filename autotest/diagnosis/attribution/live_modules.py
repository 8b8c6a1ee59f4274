"""Finds the wrong module of a trial by calling its live modules one by one, for faults that no replay shows."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autotest.base.settings import Settings
from autotest.comparison import Comparison, Mismatch, Stage, TensorValue, compare_values
from autotest.diagnosis.attribution.influences import influences
from autotest.frameworks import Pair
from autotest.frameworks.freezing import frozen_copies
from autotest.program import Call, Ref
from autotest.program.semantics import is_module_call, returns_new_memory
from autotest.recording.record import Record
from autotest.replaying.agreement import Agreement
from autotest.replaying.module_alone import ModuleResults, call_module_alone, state_of
from autotest.results.layers import ByLayer, paths_of

#: The largest number of modules that are tried; each costs two calls.
_MOST = 200
#: A mismatch of the trial that is more than this factor greater than in the replay counts as not shown by the replay.
_TIMES = 10.0


def not_reproduced(mismatches: Sequence[Mismatch], agreement: Agreement) -> list[Mismatch]:
    """Return the mismatches of a trial that its replay does not show, or shows with a far smaller difference.

    Args:
        mismatches: the mismatches of the trial.
        agreement: the result of the replay.
    """
    new_memory = {call.slot for call in agreement.program.calls if returns_new_memory(call)}
    shown: dict[tuple[str, str], float] = {}
    for item in agreement.mismatches:
        shown[item.name, item.symptom] = math.inf if item.statistics is None else item.statistics.greatest_abs
    found = []
    for item in mismatches:
        numbers = item.statistics
        if new_memory and (item.name, item.symptom) in shown and new_memory & influences(agreement.program, item):
            continue  # by how much it differs depends on what was in memory that a call left as it was
        if numbers is None:  # a missing gradient, for example; an exception is not looked for in the replay
            missing = item.of_numbers and (item.name, item.symptom) not in shown
        else:
            # A mismatch barely above the tolerance may be barely below it when it runs again, and so may mere rounding
            # in a gradient that is zero.
            barely = numbers.atol + numbers.rtol * abs(numbers.abs_expected)
            again = shown.get((item.name, item.symptom), 0.0)
            missing = numbers.greatest_abs > max(_TIMES * max(barely, again), numbers.usual_atol)
        if missing:
            found.append(item)
    return found


def wrong_alone(record: Record, settings: Settings) -> ByLayer | None:
    """Return the first layer whose results differ on the reference's operands and weights.

    If there is none, return the last layer whose gradients differ, or None. This must run after the trial, because it
    discards the gradients of the modules.
    """
    paths = paths_of(record.calls)
    found: dict[Stage, list[Call]] = {"forward": [], "backward": []}
    for call in _calls(record):
        stage = _differs(record, call, settings)
        if stage is not None:
            found[stage].append(call)
    if found["forward"]:
        return ByLayer(paths.get(found["forward"][0].scope, ""), alone=True)
    if found["backward"]:
        return ByLayer(paths.get(found["backward"][-1].scope, ""), alone=True, stage="backward")
    return None


def _calls(record: Record) -> Iterator[Call]:
    """Yield the first call of each module in a network whose arguments are only tensors."""
    seen: set[int] = set()
    for call in record.calls:
        if not (call.scope and is_module_call(call)) or call.kwargs or {*map(type, call.args)} != {Ref}:
            continue
        slot = call.args[0].slot
        if slot not in seen and len(seen) < _MOST:
            seen.add(slot)
            yield call


def _differs(record: Record, call: Call, settings: Settings) -> Stage | None:
    pair = record.pair
    own, other = (values[call.args[0].slot] for values in (record.expected, record.actual))
    given = [record.expected[ref.slot] for ref in call.args[1:]]
    if not all(isinstance(value, pair.reference.tensor_types) for value in given):
        return None
    sides = (pair.reference, own), (pair.candidate, other)
    try:
        if pair.reference.draws(own) or pair.candidate.draws(other):
            return None
        operands = frozen_copies(pair.reference, given)
        with _same_state(pair, own, other):
            mine, theirs = (call_module_alone(side, module, operands, backward=True) for side, module in sides)
            left = [state_of(side, module) for side, module in sides]
    except Exception:  # noqa: BLE001 - a module that cannot be called alone is not known to be wrong
        return None
    return _stage(mine, theirs, left, settings)


@contextlib.contextmanager
def _same_state(pair: Pair, own: Any, other: Any) -> Iterator[None]:
    """Give the candidate's module the state of the reference's; restore the states of both at the end of the block."""
    before = [
        {name: value.as_array() for name, value in state_of(side, module).items()}
        for side, module in ((pair.reference, own), (pair.candidate, other))
    ]
    try:
        pair.candidate.load_state(other, before[0])
        yield
    finally:
        pair.reference.load_state(own, before[0])
        pair.candidate.load_state(other, before[1])


def _stage(
    mine: ModuleResults, theirs: ModuleResults, left: Sequence[Mapping[str, TensorValue]], settings: Settings
) -> Stage | None:
    def unlike(stage: Stage, expected: Any, actual: Any) -> bool:
        return bool(compare_values("", expected, actual, Comparison(stage, settings.tolerance_at(stage))))

    if unlike("forward", mine.outputs, theirs.outputs):
        return "forward"
    if any(name in left[1] and unlike("forward", value, left[1][name]) for name, value in left[0].items()):
        return "forward"
    if unlike("backward", mine.gradients, theirs.gradients):
        return "backward"
    both = [(mine.held[name], theirs.held[name]) for name in mine.held if name in theirs.held]
    return "backward" if any(unlike("backward", *pair) for pair in both) else None
