"""Separates differences that special numbers in the inputs may explain from differences of ordinary numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from autotest.base.settings import Settings
from autotest.comparison import Mismatch
from autotest.program import COTANGENT, Array
from autotest.recording.record import Record


def marked_special(record: Record, found: Sequence[Mismatch]) -> Sequence[Mismatch]:
    """Return `found`, with all mismatches in numbers marked as special if an input contains special numbers."""
    ordinary = any(item.of_numbers and not item.special for item in found)
    if not (ordinary and _has_special_inputs(record)):
        return found
    return [dataclasses.replace(item, special=True) if item.of_numbers else item for item in found]


def counted_mismatches(found: Iterable[Mismatch], settings: Settings) -> list[Mismatch]:
    """Return `found` without mismatches that only special numbers show, unless `settings` include them."""
    return [item for item in found if settings.special_values or not item.special]


def _has_special_inputs(record: Record) -> bool:
    inputs = (call.args[0].index for call in record.calls if call.kind == "tensor" and call.note != COTANGENT)
    return any(has_special_numbers(record.arrays[index]) for index in inputs)


def has_special_numbers(array: Array) -> bool:
    """Return whether `array` contains NaN, an infinity, a subnormal number, or a number whose square overflows.

    -0.0 is not special: it changes only the sign of a zero, or an infinity where the reference has no finite number
    either.
    """
    data = array.data
    if data.dtype.kind not in "fc" or not data.size:
        return False
    if data.dtype.kind == "c":
        data = np.stack([data.real, data.imag])
    about = np.finfo(np.float32 if array.dtype == "bfloat16" else data.dtype)
    magnitude = np.abs(data)
    # The first comparison is false for NaN and infinities, too: each input of each trial is read here.
    ordinary = (magnitude <= np.sqrt(about.max)).all() and not ((magnitude > 0) & (magnitude < about.tiny)).any()
    return not ordinary
