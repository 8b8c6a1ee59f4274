"""The cotangents of checks that draw no random ones: fixed numbers that differ between elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from autotest.program.calls import Array
from autotest.program.dtypes import is_complex

#: A prime: the numbers of one period are all different, and no usual size is a multiple of it.
_PERIOD: Final = 61
_PLACES: Final = np.arange(_PERIOD**2)
#: Odd multiples of 1/64 below 1: exact even in bfloat16, and never zero. Each period is shifted by another amount, so
#: that rows as long as a period differ too. The signs nearly balance, so that sums over many elements stay small.
_REAL: Final = ((22 * _PLACES + (_PLACES // _PERIOD) ** 3) % _PERIOD - 31.5) / 32
#: With real cotangents, nobody would see that a gradient conjugates them.
_COMPLEX: Final = _REAL + 1j * np.roll(_REAL, 1)


def fixed_cotangent(shape: Sequence[int], dtype: str) -> Array:
    """Return the cotangent for a result. Its elements vary so that a permuted gradient is noticed."""
    size = math.prod(shape)
    numbers = _COMPLEX if is_complex(dtype) else _REAL
    # The length is a whole number of periods, so repeating the numbers continues the pattern.
    numbers = numbers[:size] if size <= numbers.size else np.resize(numbers, size)
    return Array(numbers.astype("float32" if dtype == "bfloat16" else dtype).reshape(shape), dtype)
