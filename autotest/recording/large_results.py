"""Ends a trial with large drawn sizes if an operator returns a result that is much larger than its operands."""

from __future__ import annotations

from typing import Any

from autotest.base.errors import TrialEnd
from autotest.comparison.rejection import TOO_LARGE, Rejection
from autotest.recording import refusals
from autotest.recording.lowering import LiveRecord

#: Most elements of a result in a trial with large sizes: this many take no noticeable time. The outer product of two
#: tensors of a few thousand elements each would take seconds, and gigabytes.
MOST_ELEMENTS = 1 << 21
#: Tensors with at most this many elements do not lead to such results.
ORDINARY = 1 << 9


def stop_at_large(record: LiveRecord, target: str, expected: Any) -> None:
    """Reject the trial if a result of the reference has more than `MOST_ELEMENTS`, before the candidate computes it.

    Raises:
        TrialEnd: a result is too large.
    """
    reference = record.pair.reference
    for item in expected if isinstance(expected, (tuple, list)) else (expected,):
        if isinstance(item, reference.tensor_types):
            count = reference.numel([item])
            if count > MOST_ELEMENTS:
                said = f"a result of {count} elements, because large sizes were drawn; the limit is {MOST_ELEMENTS}"
                record.rejection = Rejection(target, TOO_LARGE, said, refusals.calling_line(record.pair.packages))
                raise TrialEnd
