"""The features that each trial of a test has if the test leaves them open: a covering array, plain trials first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from generators.errors import GeneratorError

#: Number of rows that are planned together: the default number of trials of a test.
BLOCK: Final = 20
#: First trial that has half-precision dtypes. Only the thorough profile runs trials from here on.
THOROUGH: Final = 1_000_000
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

#: Levels whose numbers, or missing dimensions, hide the effect of other features. A sum with a NaN is only NaN.
_HIDING: Final = frozenset(
    (("values", "nan"), ("values", "infinite"), ("values", "tiny"), ("values", "huge"), ("rank", "0"))
)
#: For a level, the factors whose effect it hides. Rows should not combine it with other than plain levels of these.
_USELESS: Final = MappingProxyType(
    {
        ("values", "nan"): ("layout", "sizes", "dtype", "partner"),
        ("values", "infinite"): ("sizes", "dtype", "partner"),
        ("values", "tiny"): ("layout", "sizes", "dtype", "partner"),
        ("values", "huge"): ("layout", "sizes", "dtype", "partner"),
        ("values", "zeros"): ("layout", "sizes", "partner"),
        ("layout", "expanded"): ("sizes",),
        ("partner", "both"): ("rank",),
        ("partner", "fewer"): ("rank",),
        ("sizes", "long"): ("partner", "layout"),
        ("sizes", "large"): ("partner", "rank"),
        ("rank", "0"): ("layout",),
    }
)
#: Levels that no other level hides: these dtypes have extreme values of their own, and operators convert them.
_NARROW: Final = frozenset((("dtype", "half"), ("dtype", "bfloat16")))
_COST_OF_USELESS: Final = 3.0
_TRANSPOSED: Final = LEVELS[PLACES["layout"]].index("transposed")
_DOUBLE: Final = LEVELS[PLACES["dtype"]].index("double")
#: The levels of special numbers, without ``zeros``, which has -0.0.
SPECIAL: Final = ("nan", "infinite", "tiny", "huge")
#: The level and turn of values at which all numbers are zero: a norm has a gradient of its own there, nonzero() finds
#: nothing, and any() is false. At level ``zeros``, some numbers always differ from zero.
ALL_ZERO: Final = ("signed", 3)
#: Number of trials whose rows are cached. Most tests use the same few trials.
_REMEMBERED: Final = 16 * BLOCK


#: The positions of a factor, its level, another factor and its level.
FactorPair = tuple[int, int, int, int]
#: The names of a factor and of one of its levels.
FactorLevel = tuple[str, str]


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
    first = _FIRST_THOROUGH if block >= _FIRST_THOROUGH else 0
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


#: Number of blocks after which the rows repeat. The values drawn in the repeated rows are new.
_BLOCKS: Final = 12
#: Number of trials with different rows.
DIFFERENT_TRIALS: Final = _BLOCKS * BLOCK
_FIRST_THOROUGH: Final = THOROUGH // BLOCK


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
    before = 0 if number == _FIRST_THOROUGH else number - 1
    covered = Counter(_block(before)[1]) if number else Counter()
    dealt = _new_rows(covered, number)
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
    may lose NaN; and every second row of NaN also has infinities, so that doubles have all three.
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


def _new_rows(covered: Counter[FactorPair], number: int) -> list[Row]:
    """Return `BLOCK` rows in which every level has its number of rows, and add the pairs in them to `covered`."""
    factors = THOROUGH_FACTORS if number >= _FIRST_THOROUGH else FACTORS
    left = [[*levels.values()] for levels in factors.values()]
    rows: list[Row] = []
    plain = [Row(), Row(values=1)] if number == 0 else []
    # Levels that can be combined with few others are assigned first, while all other levels are still available.
    difficult = [
        (PLACES[factor], LEVELS[PLACES[factor]].index(level))
        for factor, level in _USELESS
        for _ in range(FACTORS[factor][level])
    ]
    for place in range(BLOCK):
        chosen = [*plain.pop()] if plain else _next_row(left, covered, difficult, place + BLOCK * number)
        for factor, level in enumerate(chosen):
            left[factor][level] -= 1
        covered.update(_pairs(chosen))
        rows.append(Row(*chosen))
    return rows


def _next_row(
    left: list[list[int]], covered: Counter[FactorPair], difficult: list[tuple[int, int]], place: int
) -> list[int]:
    while difficult and left[difficult[0][0]][difficult[0][1]] <= 0:
        difficult.pop(0)
    fixed = difficult.pop(0) if difficult else None
    best: list[int] = []
    best_score = -math.inf
    # Build a few rows, each starting from another factor, and take the one with most new pairs.
    for start in range(len(NAMES)):
        chosen = [-1] * len(NAMES)
        score = 0.0
        if fixed is not None:
            chosen[fixed[0]] = fixed[1]
        for step in range(len(NAMES)):
            factor = (start + step) % len(NAMES)
            if chosen[factor] < 0:
                chosen[factor], gain = _best_level(chosen, factor, left, covered, place)
                score += gain
        if score > best_score:
            best, best_score = chosen, score
    return best


def _best_level(
    chosen: list[int], factor: int, left: list[list[int]], covered: Counter[FactorPair], place: int
) -> tuple[int, float]:
    best, best_score = 0, -math.inf
    for level, remaining in enumerate(left[factor]):
        if remaining <= 0:
            continue
        # Frequent levels are preferred, so that none of their rows are left over. The last term breaks ties.
        score = remaining / BLOCK + (place * 7 + level * 3 + factor) % 5 * 1e-3
        for other, taken in enumerate(chosen):
            if taken >= 0:
                score += _pair_score(factor, level, other, taken, covered, place)
        if score > best_score:
            best, best_score = level, score
    return best, best_score


def _pair_score(factor: int, level: int, other: int, taken: int, covered: Counter[FactorPair], place: int) -> float:
    fit = _fit(factor, level, other, taken)
    if fit is None:
        return -_COST_OF_USELESS
    pair, narrow = fit
    times = covered.get(pair, 0)
    return float(not times) if narrow is None else _evenly(*narrow, times, place)


@cache
def _fit(
    factor: int, level: int, other: int, taken: int
) -> tuple[FactorPair, tuple[FactorLevel, FactorLevel] | None] | None:
    """Return a pair of levels, and if one is a narrow dtype, that and the other; None if rows should not combine them.

    Cached, because a plan asks for the few hundred pairs a hundred thousand times.
    """
    one, two = (NAMES[factor], LEVELS[factor][level]), (NAMES[other], LEVELS[other][taken])
    if (taken and _hides(one, two)) or (level and _hides(two, one)) or (one in _HIDING and two in _HIDING):
        return None
    pair = (factor, level, other, taken) if factor < other else (other, taken, factor, level)
    if one in _NARROW:
        return pair, (one, two)
    return pair, (two, one) if two in _NARROW else None


def _evenly(narrow: FactorLevel, other: FactorLevel, times: int, place: int) -> float:
    """Return the worth of a pair with a narrow dtype. It should occur, over all blocks, in proportion to its levels."""
    share = THOROUGH_FACTORS[narrow[0]][narrow[1]] / BLOCK
    wanted = share * THOROUGH_FACTORS[other[0]][other[1]] * (1 + (place - THOROUGH) / BLOCK)
    return max(-1.0, 1.0 - times / wanted)


def _hides(one: FactorLevel, two: FactorLevel) -> bool:
    """Return whether feature `one` hides the effect of feature `two`."""
    return two[0] in _USELESS.get(one, ()) and two not in _NARROW


def _pairs(chosen: list[int]) -> list[FactorPair]:
    return [
        (factor, level, other, chosen[other])
        for factor, level in enumerate(chosen)
        for other in range(factor + 1, len(chosen))
    ]


def _oddness(row: Row) -> int:
    return sum(1 for level in row if level)
