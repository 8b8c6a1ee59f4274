"""Gives new modules of both sides the same initial numbers, where those are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autotest.comparison import Mismatch
from autotest.frameworks import Framework, Pair
from autotest.frameworks.states import difference
from autotest.program import Ref
from autotest.recording.lowering import Lowered
from autotest.recording.record import Record
from autotest.recording.recorder import Recorder
from autotest.recording.unreadable import Unreadable, of_candidate, unreadable


def random_state_before(pair: Pair, path: str) -> bytes:
    """Return the reference's random state if `path` is that of a class; empty if it is not."""
    return pair.reference.random_state() if path.rpartition(".")[2][:1].isupper() else b""


def synchronize_module(record: Recorder, slot: int, random_state: bytes) -> None:
    """Give the candidate's new module those initial parameters and buffers of the reference's that were drawn.

    The others, such as the ones of a batch norm, are the candidate's own, so that wrong ones show in what it computes.

    Args:
        record: the record of the trial.
        slot: the slot of the new module.
        random_state: the reference's before it made the module; empty if all its values count as drawn.
    """
    reference, expected = record.pair.reference, record.expected[slot]
    if reference.draws(expected):
        record.random_modules.add(id(expected))
    unlike = unlike_state(record, slot)
    if unlike is not None:
        record.mismatches.append(unlike)
        record.end()
    own = reference.state(expected)
    fresh = {name: value for name, value in own.items() if id(value) not in record.synced}
    record.synced.update(map(id, own.values()))
    record.held.extend(own.values())
    if fresh:
        _give_drawn(record, slot, fresh, random_state)


def reset_parameters(record: Recorder, owner: Lowered) -> int:
    """Call ``reset_parameters`` of both modules, give the candidate's what the reference's drew; return the slot."""
    reference = record.pair.reference
    random_state = reference.random_state()
    slot = record.method("reset_parameters", owner)
    if isinstance(owner[0], reference.module_types) and type(owner[2]) is Ref:
        _give_drawn(record, owner[2].slot, reference.state(owner[0]), random_state)
    return slot


def _give_drawn(record: Recorder, slot: int, own: Mapping[str, Any], random_state: bytes) -> None:
    """Give the candidate's module in `slot` those of the reference's parameters and buffers `own` that were drawn.

    `random_state` is the reference's before it set them; empty if all of them count as drawn.
    """
    reference, candidate = record.pair.reference, record.pair.candidate
    compared = bool(random_state) and candidate.initialises_modules
    if compared and reference.random_state() == random_state:
        return
    values = zip(own, reference.values([*own.values()]), strict=True)
    state = {name: value.as_array() for name, value in values if not (compared and _is_constant(value.data))}
    if not state:
        return
    try:
        of_candidate(slot, candidate.load_state, record.actual[slot], state)
    except Unreadable as failed:
        record.mismatches.append(unreadable(record, failed))
        record.end()
    operands = {name: record.capture(array) for name, array in state.items()}
    record.write(record.next_call("load_state", "", (Ref(slot), operands), {}), None, None)


def _is_constant(data: np.ndarray[Any, Any]) -> bool:
    """Return whether all of several numbers are equal, which drawn ones are not."""
    return data.size > 1 and bool((data == data.flat[0]).all())


def unlike_state(record: Record, slot: int) -> Mismatch | None:
    """Return the difference that keeps the new modules in `slot` from sharing a state, or None.

    It is one of names or shapes, or the candidate's state cannot be read.
    """
    reference, candidate = record.pair.reference, record.pair.candidate
    expected, actual = record.expected[slot], record.actual[slot]
    if not isinstance(expected, reference.module_types) or not isinstance(actual, candidate.module_types):
        return None
    own = [_shapes(reference, held(expected)) for held in (reference.parameters, reference.buffers)]
    candidate.expect_state(actual, *own)
    try:
        other = of_candidate(
            slot, lambda: [_shapes(candidate, held(actual)) for held in (candidate.parameters, candidate.buffers)]
        )
    except Unreadable as failed:
        return unreadable(record, failed)
    what = difference({**own[0], **own[1]}, {**other[0], **other[1]})
    return None if what is None else state_differs(record, slot, what)


def _shapes(side: Framework, held: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: side.shape(value) for name, value in held.items()}


def state_differs(record: Record, slot: int, what: str) -> Mismatch:
    """Return the mismatch for a new module in `slot` with other parameters or buffers; `what` says which."""
    reference, candidate = record.pair.reference, record.pair.candidate
    target = record.calls[slot].target
    message = f"{target}: {what}. expected={reference.name} actual={candidate.name}"
    return Mismatch(target, slot, "structure", "build", "candidate", message, what=what)
