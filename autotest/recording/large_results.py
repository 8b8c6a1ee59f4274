"""Ends a trial whose sizes the plan chose large, when an operator makes far more of them than each has."""

from __future__ import annotations

from typing import Any

from autotest.base.errors import TrialEnd
from autotest.comparison.rejection import TOO_LARGE, Rejection
from autotest.recording import refusals
from autotest.recording.lowering import LiveRecord

#: Elements of a result that takes no time worth telling; two tensors of a few thousand have as many in their outer
#: product as take seconds, and gigabytes.
MOST_ELEMENTS = 1 << 21
#: Tensors of no more elements than this give no such results.
ORDINARY = 1 << 9


def stop_at_large(record: LiveRecord, target: str, expected: Any) -> None:
    """Reject the trial where a result of the reference has more than `MOST_ELEMENTS`, before the candidate makes it."""
    reference = record.pair.reference
    for item in expected if isinstance(expected, (tuple, list)) else (expected,):
        if isinstance(item, reference.tensor_types):
            count = reference.numel([item])
            if count > MOST_ELEMENTS:
                said = f"a result of {count} elements, from sizes that were drawn large; {MOST_ELEMENTS} are enough"
                record.rejection = Rejection(target, TOO_LARGE, said, refusals.place(record.pair.packages))
                raise TrialEnd
