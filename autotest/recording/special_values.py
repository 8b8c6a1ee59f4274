"""Separates mismatches that special numbers among the inputs may explain from those of ordinary numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from autotest.base.settings import Settings
from autotest.comparison import Mismatch
from autotest.program import Array
from autotest.recording.record import Record

#: Symptoms of mismatches in numbers.
ABOUT_NUMBERS = frozenset(("value", "gradient"))


def marked(record: Record, found: Sequence[Mismatch]) -> Sequence[Mismatch]:
    """Return `found` with the mismatches in numbers marked as special if an input contains special numbers."""
    ordinary = any(item.symptom in ABOUT_NUMBERS and not item.special for item in found)
    if not (ordinary and _has_special_inputs(record)):
        return found
    return [dataclasses.replace(item, special=True) if item.symptom in ABOUT_NUMBERS else item for item in found]


def wanted(found: Iterable[Mismatch], settings: Settings) -> list[Mismatch]:
    """Return `found` without mismatches that only special numbers show, unless the settings count these."""
    return [item for item in found if settings.special_values or not item.special]


def _has_special_inputs(record: Record) -> bool:
    inputs = (call.args[0].index for call in record.calls if call.kind == "tensor" and call.note != "cotangent")
    return any(has_special_numbers(record.arrays[index]) for index in inputs)


def has_special_numbers(array: Array) -> bool:
    """Return whether `array` contains NaN, an infinity, a subnormal number, or one whose square overflows its dtype.

    -0.0 does not count. It changes only the sign of a zero, or leads to an infinity, in which case the reference has no
    number either.
    """
    data = array.data
    if data.dtype.kind not in "fc" or not data.size:
        return False
    if data.dtype.kind == "c":
        data = np.stack([data.real, data.imag])
    about = np.finfo(np.float32 if array.dtype == "bfloat16" else data.dtype)
    magnitude = np.abs(data)
    return bool(
        not np.isfinite(data).all()
        or ((magnitude > 0) & (magnitude < about.tiny)).any()
        or (magnitude > np.sqrt(about.max)).any()
    )
