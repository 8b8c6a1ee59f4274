"""Rows of thousands of numbers that differ in kind, because operators take other paths for long rows."""

from __future__ import annotations

from typing import Final

import numpy as np

from generators.dtypes import Array, cast

#: Number of rows of an array with long rows: one of each kind.
UNLIKE_ROWS: Final = 4
#: Least length of a long row.
_LONG: Final = 1024
#: The distance of a row's numbers from zero: the exponentials of great ones are infinite, those of the others are zero
#: even as subnormal numbers, and their spread is small beside their mean.
_FAR: Final = 300.0


#: The place of a number that is NaN, as a part of its row: neither in the first block of a loop nor in the last one.
_OF_NAN: Final = 0.625


def has_long_rows(shape: tuple[int, ...]) -> bool:
    """Return whether an array of this shape has several long rows."""
    return len(shape) > 1 and shape[-1] >= _LONG and shape[-2] > 1


def make_rows_unlike(rows: Array, dtype: str) -> None:
    """Change every second of four `rows` of `dtype` to numbers far below zero, and every third to numbers far above.

    Small numbers of both signs hide a maximum that starts at zero, an exponential that overflows or underflows, and a
    variance that is computed from a mean of squares.
    """
    rows[1::UNLIKE_ROWS] = cast(-_FAR - np.abs(rows[1::UNLIKE_ROWS]), dtype)
    rows[2::UNLIKE_ROWS] = cast(rows[2::UNLIKE_ROWS] + _FAR, dtype)


def put_nan(values: Array) -> None:
    """Make one number of the last of the first four rows NaN; the other rows show what NaN hides.

    Arrays of special numbers are small, but a loop over long rows may lose NaN, too.
    """
    rows = values.reshape(-1, values.shape[-1])
    rows[UNLIKE_ROWS - 1 : UNLIKE_ROWS, int(_OF_NAN * rows.shape[1])] = np.nan
