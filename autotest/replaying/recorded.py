"""Builds a record from replays of one program on both sides."""

from __future__ import annotations

from autotest.frameworks import Pair
from autotest.program import Program
from autotest.program.semantics import is_backward
from autotest.recording.record import Record
from autotest.replaying.replay import Replayed


def record_of(program: Program, pair: Pair, expected: Replayed, actual: Replayed) -> Record:
    """Return the record that a live run of `program` would have made."""
    record = Record(pair)
    came = len(actual.values) + (actual.error is not None)
    record.calls = list(program.calls[:came])
    record.arrays = list(program.arrays)
    record.expected = expected.values[:came]
    record.actual = [*actual.values, None][:came]
    record.undefined_slots = {slot for slot in program.undefined if slot < came}
    record.backward_undefined = any(is_backward(program.calls[slot]) for slot in record.undefined_slots)
    return record
