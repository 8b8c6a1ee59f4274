"""The features that each trial of a test has if the test leaves them open: a covering array, plain trials first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from generators.covering import FactorPair, new_rows
from generators.errors import GeneratorError
from generators.levels import ALL_ZERO, BLOCK, FIRST_THOROUGH, LEVELS, PLACES, SPECIAL, Row

_TRANSPOSED: Final = LEVELS[PLACES["layout"]].index("transposed")
_DOUBLE: Final = LEVELS[PLACES["dtype"]].index("double")
#: Number of trials whose rows are cached. Most tests use the same few trials.
_REMEMBERED: Final = 16 * BLOCK


@lru_cache(maxsize=_REMEMBERED)
def row(index: int) -> Row:
    """Return the features of trial `index`, which are the same for all tests.

    In each block of `BLOCK` rows every level of every factor has its share of rows. Pairs of levels that no earlier row
    has are preferred. Raises `GeneratorError` for a negative index.
    """
    if index < 0:
        raise GeneratorError(f"row({index!r}): expected the index of a trial, at least 0")
    block, place = divmod(index, BLOCK)
    return _block(like(block))[0][place]


def like(block: int) -> int:
    """Return the block that has the same rows as `block`: the rows repeat after `_BLOCKS` blocks."""
    first = FIRST_THOROUGH if block >= FIRST_THOROUGH else 0
    return first + (block - first) % _BLOCKS


@lru_cache(maxsize=_REMEMBERED)
def turns(index: int) -> tuple[int, ...]:
    """Return, for each of `NAMES`, the number of earlier trials in the block with the same level as trial `index`.

    Trials of the same level use this number to take turns, for instance in the dimensions that they change.
    """
    block, place = divmod(index, BLOCK)
    return _turns(like(block))[place]


def values_in(index: int) -> tuple[str, int]:
    """Return the level of values in trial `index`, and the number of earlier trials of the block that have it."""
    return row(index).level("values"), turns(index)[PLACES["values"]]


def has_ordinary_numbers(index: int) -> bool:
    """Return whether most numbers of trial `index` are neither special nor zero, so that they hide no results."""
    level, turn = values_in(index)
    return level not in (*SPECIAL, "zeros") and (level, turn) != ALL_ZERO


def is_tall(index: int) -> bool:
    """Return whether a matrix of open sizes has many more rows than columns in trial `index`, and ordinary numbers."""
    turn = turns(index)[PLACES["sizes"]]
    return (row(index).level("sizes"), turn) in _TALL and has_ordinary_numbers(index)


#: The levels of sizes, and their turns, at which a matrix has more rows than columns.
_TALL: Final = frozenset((("nine", 0), ("seventeen", 1), ("long", 1), ("large", 1)))
#: Number of blocks after which the rows repeat. The values drawn in the repeated rows are new.
_BLOCKS: Final = 12
#: Number of trials with different rows.
DIFFERENT_TRIALS: Final = _BLOCKS * BLOCK


@lru_cache(maxsize=2 * _BLOCKS)
def _turns(block: int) -> tuple[tuple[int, ...], ...]:
    """Return the `turns` of each row of a block."""
    of_factors = [
        [levels[:place].count(level) for place, level in enumerate(levels)]
        for levels in zip(*_block(block)[0], strict=True)
    ]
    return tuple(zip(*of_factors, strict=True))


@lru_cache(maxsize=2 * _BLOCKS)
def _block(number: int) -> tuple[tuple[Row, ...], Mapping[FactorPair, int]]:
    """Return the rows of one block, and how often each pair occurs in them and in the blocks before them.

    The first thorough block comes directly after block 0.
    """
    before = 0 if number == FIRST_THOROUGH else number - 1
    covered = Counter(_block(before)[1]) if number else Counter()
    dealt = new_rows(covered, number)
    # Plain rows first: a mismatch in them can be reported without naming any features.
    ordered = sorted(dealt, key=_oddness) if number == 0 else dealt
    rows = _with_doubles_where_none_are(_with_layouts_that_show(ordered), number)
    return tuple(rows if number else _with_double_nan(rows)), MappingProxyType(covered)


def _with_layouts_that_show(rows: list[Row]) -> list[Row]:
    """Return `rows` with some layouts changed to layouts that have an effect.

    Every second row of NaN is transposed if it is contiguous. Operators that treat NaN like other numbers, such as
    `isnan`, show the layout's effect, although NaN hides it in most other results. Zeros with one other number at the
    end do not repeat along a dimension and cannot be expanded. A row of these swaps its expanded layout with a row of
    large arrays that have one shape.
    """
    found, nans = [*rows], 0
    for place, one in enumerate(rows):
        if one.level("values") == "nan":
            nans += 1
            if nans % 2 == 0 and not one.layout:
                found[place] = one._replace(layout=_TRANSPOSED)
        if one.level("values") == "zeros" and one.level("layout") == "expanded":
            for other, large in enumerate(found):
                if large.level("sizes") == "large" and large.level("partner") == "same" and large.layout:
                    found[other], found[place] = large._replace(layout=one.layout), one._replace(layout=large.layout)
                    break
    return found


def _with_double_nan(rows: list[Row]) -> list[Row]:
    """Return `rows` with the numbers of the second row of NaN and those of the double row of special numbers swapped.

    This is for the first block, the only one that most tests run. Loops for doubles have their own comparisons, which
    may lose NaN. Every second row of NaN also has infinities, so that doubles get NaN and infinities of both signs.
    """
    found = [*rows]
    *_, nan = [place for place, one in enumerate(rows) if one.level("values") == "nan"]
    for place, one in enumerate(rows):
        if one.dtype and one.level("values") in SPECIAL:
            found[nan], found[place] = rows[nan]._replace(values=one.values), one._replace(values=rows[nan].values)
    return found


def _with_doubles_where_none_are(rows: list[Row], number: int) -> list[Row]:
    """Return `rows` of block `number` with a row of special numbers and a row of many elements in double precision.

    Loops for doubles are separate functions with faults of their own. Features that hide the precision of a result do
    not hide these faults. The row of special numbers that becomes double changes from block to block. In the first
    block it is the last such row, because some tests run only a few trials, with layers of single precision.
    """
    found = [*rows]
    for factor, levels, turn in (("values", SPECIAL, number - 1), ("sizes", ("long",), -1)):
        alike = [place for place, one in enumerate(found) if one.level(factor) in levels]
        chosen = alike[turn % len(alike)]
        several = levels if factor == "values" else ("long", "large")
        if all(one.dtype == 0 for one in found if one.level(factor) in several):
            found[chosen] = found[chosen]._replace(dtype=_DOUBLE)
    return found


def _oddness(row: Row) -> int:
    return sum(1 for level in row if level)
