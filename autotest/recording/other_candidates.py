"""Makes values of another record again on this record's candidate, if they were made for another one.

What set-up, a fixture or the top of a file makes belongs to one candidate, while a run may have several, and a test one
of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotest.frameworks.recorded_calls import run_call
from autotest.program import Array, Call
from autotest.recording.one_sided import only_reference_accepts
from autotest.recording.record import Record
from autotest.recording.recorder import Recorder


def is_of_another_candidate(record: Record, other: Record) -> bool:
    """Return whether the candidate's values of `other` mean nothing to the candidate of `record`."""
    return other.pair.candidate is not record.pair.candidate


def made_again(record: Recorder, call: Call, values: Sequence[Any], arrays: Sequence[Array], expected: Any) -> Any:
    """Return the result of `call` on the candidate of `record`; the trial ends if it refuses the call.

    Args:
        record: the record of the trial.
        call: the call as another record has it, which is the next one of `record`.
        values: the candidate's results of that record's earlier calls.
        arrays: that record's arrays.
        expected: the reference's result.
    """
    try:
        return run_call(call, record.pair.candidate, values, arrays)
    except Exception as error:  # noqa: BLE001 - the framework may raise any exception
        slot = record.write(call._replace(slot=len(record.calls)), expected, None)
        record.end(only_reference_accepts(record, slot, None, error))
