"""The factors by which trials differ if a test leaves them open, the levels of each, and how often these occur."""

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
