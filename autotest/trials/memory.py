"""Frees what a trial held without waiting for Python's collector, where that is much."""

from __future__ import annotations

import gc

from autotest.recording.record import Record

#: So many captured numbers are not left to Python's collector.
MUCH = 1 << 18


def holds_much(record: Record) -> bool:
    """Whether `record` and its modules, which hold each other, hold many numbers, too."""
    return bool(record.modules.duals) and sum([array.data.size for array in record.arrays]) > MUCH


def free() -> None:
    """Free records that held much; to be called when nobody holds them any more.

    Python looks for what holds each other when it has made many containers, of which a trial of large modules makes no
    more than any other.
    """
    gc.collect(1)  # what was looked at while the trial ran is no longer among the youngest


__all__ = ["free", "holds_much"]
