"""The factors by which trials differ if a test leaves them open, the levels of each, and how often these occur.

In detail, the twenty trials of a test have the following.

- ``low``, ``high``: numbers of both signs from 1e-4 to 1e4; whole numbers, halves, numbers just beside them, ties,
  neighbouring floats, zeros; numbers close together far from zero; the greatest number with a finite exponential. In
  a few trials also NaN, ±infinity, -0.0, subnormal and the greatest numbers, numbers up to 1e10, whole rows of
  ±infinity or NaN, a row of -infinity but for one number, NaN after a block of eight and elsewhere, and in one trial
  only zeros. With two bounds: zero and numbers near it if they allow it. With one bound: infinity on the open side.
  Integers: negative numbers, beyond 2**24, the least and the greatest, also in whole rows; once only the last is not
  zero; except in 32 bits also many great numbers of one sign; with ``high`` alone from 0, as in ``torch.randint``.
  Booleans: half true, few true, all alike, all alike except the last.
- ``dim0``, ``dim1``, …: 2 to 6, in the second trial and in a transposed one all equal, if possible to the last one that
  the test gives; 1, once in all dimensions, once in both of two tensors with different arguments (matrices whose
  product is one number), and from three dimensions on once in the first open one of all tensors of one shape (a batch
  of one); 9, 17 and 33 (one more than a block of 8 or 16), of three dimensions also in the middle, and of four in each
  one; 8 and 32. In four trials the tensor has 4,000 to 6,000 elements (in two of them 1,000 if one dimension is open):
  four long rows (of both signs, around -300, around 300, and one with a NaN), twice many short rows, and once both many
  and long ones; in three of these trials several more than whole blocks, in one none.
- ``ndim``: 0 to 4.
- ``dtype``: float32; in a third of the trials float64, also with infinities, NaN and thousands of elements. The
  thorough profile adds float16 and bfloat16 after a test's first twenty trials (15 % each).
- ``requires_grad``: floating tensors require grad. In one trial none does, in one all but the first do, and in one each
  the first alone does, the second (if the test gives sizes), those after it, all but these, and all but the second
  (inputs and biases beside frozen weights). If the body needs a gradient that is missing, the trial runs with all of
  them.
- ``layout``: contiguous, transposed (from three dimensions on also channels last), strided, expanded (along the first
  or last dimension), with an offset, pitched (whole rows with gaps between them, from three dimensions on also in
  another order), from three dimensions on sliced (whole matrices with gaps between them, as after ``chunk``). Two
  tensors of a trial also both transposed, with channels last, strided or expanded, and one of two with channels last.
- shapes of several tensors: tensors with the same open arguments (and those of ``broadcast_tensors``) have one shape,
  or ones in the dimensions of the first, the second, both or the third (as in a column, a bias or a mask), or fewer
  dimensions. A column is once beside rows of 8 numbers, as the second, and of 17, as the first. In one trial the second
  alone is large. Open dimensions of two tensors of one rank agree; of two ranks the last ones in one trial, and the
  first ones in the next. ``random()`` as a dimension, or as the width of a module (``torch.nn.Linear(4, random())``),
  is 1 to 5, up to 17, and once each 1, 17, 33, 65 and more than 128; in one trial all are 65 to 80.
- numbers of several tensors: independent; in some trials a quarter of them is equal to those of the first tensor, and a
  quarter is next to them, and in one trial all are equal. NaN, infinities, zeros and ±1 meet each other, and zeros
  meet ordinary numbers. A single truth value meets both; the first of two is once true and once false. Tensors of two
  dtypes share numbers, and integers meet the floats that they round to; the greatest numbers meet each other, so that
  sums overflow.
- the gradients that a trial pushes back: numbers between -1 and 1. In every third trial: all 1 and expanded, as after a
  ``sum`` of all elements or along a dimension; or between -4 and 4 with zeros, transposed, strided or pitched (from
  three dimensions on sliced).
- the bounds of ``random()``: 1 to 5 and greater; if the parameter is a number and not a size, also zero, once beside
  NaN and infinities, negative numbers and fractions (``alpha`` of ``torch.add``). In every third trial a fraction is
  one of 0, ±1, ±0.5, ±2; between bounds also the lower one.
- values of ``random(low, high)``: with up to ten whole numbers, each has its turn; with up to 64, the least, the
  greatest and zero have.

Features of which one mostly hides the other, such as NaN and thousands of elements, are combined after 120 trials,
which longer runs reach. If sizes that the plan chose produce a result of more than two million elements, the trial ends
there.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, NamedTuple

#: Number of rows that are planned together: the default number of trials of a test.
BLOCK: Final = 20
#: First trial that has half-precision dtypes. Only the thorough profile runs trials from here on.
THOROUGH: Final = 1_000_000
#: The block of this trial.
FIRST_THOROUGH: Final = THOROUGH // BLOCK
#: Number of trials at the start of a test in which all factors, or all but one, have their plain level.
PLAIN_ROWS: Final = 2

#: The levels of each factor, the plain one first, with the number of rows in a block of `BLOCK` that have it.
FACTORS: Final = MappingProxyType(
    {
        "values": MappingProxyType(
            {
                "unit": 3,
                "signed": 4,
                "whole": 2,
                "wide": 2,
                "ties": 2,
                "zeros": 2,
                "nan": 2,
                "infinite": 1,
                "tiny": 1,
                "huge": 1,
            }
        ),
        "layout": MappingProxyType({"contiguous": 9, "transposed": 3, "strided": 3, "offset": 2, "expanded": 3}),
        "sizes": MappingProxyType({"small": 8, "ones": 3, "nine": 2, "seventeen": 3, "long": 2, "large": 2}),
        "rank": MappingProxyType({"2": 8, "1": 4, "3": 3, "4": 3, "0": 2}),
        "dtype": MappingProxyType({"single": 15, "double": 5, "half": 0, "bfloat16": 0}),
        "partner": MappingProxyType({"same": 10, "second": 2, "first": 2, "both": 2, "fewer": 3, "other": 1}),
    }
)
#: The same from trial `THOROUGH` on.
THOROUGH_FACTORS: Final = MappingProxyType(
    {**FACTORS, "dtype": MappingProxyType({"single": 10, "double": 4, "half": 3, "bfloat16": 3})}
)
NAMES: Final = tuple(FACTORS)
#: The position of each factor in `NAMES`, in `LEVELS` and in a `Row`.
PLACES: Final = MappingProxyType({name: place for place, name in enumerate(NAMES)})
LEVELS: Final = tuple(tuple(levels) for levels in FACTORS.values())
#: The number of levels of each factor that trials before `THOROUGH` use.
USUAL: Final = tuple(sum(times > 0 for times in levels.values()) for levels in FACTORS.values())
#: The number of levels of each factor that trials from `THOROUGH` on use: all of them.
THOROUGHLY: Final = tuple(map(len, LEVELS))

#: The levels of special numbers, without ``zeros``, which has -0.0.
SPECIAL: Final = ("nan", "infinite", "tiny", "huge")
#: The level and turn of values at which all numbers are zero: a norm has a gradient of its own there, nonzero() finds
#: nothing, and any() is false. At level ``zeros``, some numbers always differ from zero.
ALL_ZERO: Final = ("signed", 3)


class Row(NamedTuple):
    """The levels of one trial, as positions in `LEVELS`; 0 is the plain level."""

    values: int = 0
    layout: int = 0
    sizes: int = 0
    rank: int = 0
    dtype: int = 0
    partner: int = 0

    def level(self, factor: str) -> str:
        """Return the name of this row's level of `factor`."""
        position = PLACES[factor]
        return LEVELS[position][self[position]]
