"""NumPy's scalars among the operands of a call.

A program keeps them, because frameworks treat them otherwise than Python's numbers: ``torch.tensor(np.float64(0.1))``
is a tensor in double precision, and OneFlow refuses ``x * np.float32(2)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def is_scalar(value: Any) -> bool:
    """Whether `value` is a scalar of NumPy that programs keep: a boolean or a number, none of extended precision."""
    return isinstance(value, np.generic) and value.dtype.kind in "biufc" and value.dtype.char not in "gG"


def is_whole(value: Any) -> bool:
    """Whether `value` is an integer, of Python or of NumPy, and no boolean."""
    return type(value) is int or isinstance(value, np.integer)


def is_fraction(value: Any) -> bool:
    """Whether `value` is a floating-point number, of Python or of NumPy."""
    return isinstance(value, (float, np.floating))
