"""Frees the memory of a large trial at once, without waiting for Python's garbage collector."""

from __future__ import annotations

import gc

from autotest.recording.record import Record

#: More captured numbers (array elements) than this are freed explicitly.
MUCH = 1 << 18


def holds_large_arrays(record: Record) -> bool:
    """Return whether `record` and its modules form a reference cycle and contain many numbers."""
    return bool(record.modules.duals) and sum([array.data.size for array in record.arrays]) > MUCH


def free() -> None:
    """Free large records. Call it when no reference to them from outside is left.

    Python collects cycles after a number of allocated containers, and a trial of large modules allocates no more of
    these than any other.
    """
    gc.collect(1)  # objects that survived a collection during the trial are in generation 1
