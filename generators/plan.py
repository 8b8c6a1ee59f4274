"""Which features each trial of a test has, where the test leaves them open: a covering array, plain trials first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from generators.errors import GeneratorError

#: How many rows are dealt at once: as many as a test has trials by default.
BLOCK: Final = 20
#: From this trial on, to which only the thorough profile comes, dtypes of half precision have their turns.
THOROUGH: Final = 1_000_000
#: In how many trials of a test everything is plain, or all but one thing.
PLAIN_ROWS: Final = 2

#: For each factor its levels, the plain one first, with how many of `BLOCK` rows have each.
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
LEVELS: Final = tuple(tuple(levels) for levels in FACTORS.values())
#: How many of them any trial before `THOROUGH` has.
USUAL: Final = tuple(sum(times > 0 for times in levels.values()) for levels in FACTORS.values())
#: The same from there on: all that there are.
THOROUGHLY: Final = tuple(map(len, LEVELS))

#: Levels whose numbers (or lack of a dimension) hide what other features would show: a NaN is all that a sum leaves.
_HIDING: Final = frozenset(
    (("values", "nan"), ("values", "infinite"), ("values", "tiny"), ("values", "huge"), ("rank", "0"))
)
#: What a row had better not have together, for the one leaves nothing of the other.
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
#: What nothing hides: these have greatest and least numbers of their own, and are converted on the way.
_NARROW: Final = frozenset((("dtype", "half"), ("dtype", "bfloat16")))
_COST_OF_USELESS: Final = 3.0
_TRANSPOSED: Final = LEVELS[NAMES.index("layout")].index("transposed")
_DOUBLE: Final = LEVELS[NAMES.index("dtype")].index("double")
_SPECIAL: Final = ("nan", "infinite", "tiny", "huge")
#: The rows of so many trials are kept: most tests have the same few.
_REMEMBERED: Final = 16 * BLOCK


#: Factor, level, another factor, its level.
FactorPair = tuple[int, int, int, int]
#: A factor and a level of it, by name.
FactorLevel = tuple[str, str]


class Row(NamedTuple):
    """The levels of one trial, as positions in `LEVELS`; 0 is the plain one."""

    values: int = 0
    layout: int = 0
    sizes: int = 0
    rank: int = 0
    dtype: int = 0
    partner: int = 0

    def level(self, factor: str) -> str:
        """The name of this row's level of `factor`."""
        position = NAMES.index(factor)
        return LEVELS[position][self[position]]


@lru_cache(maxsize=_REMEMBERED)
def row(index: int) -> Row:
    """The features of trial `index`: the same for every test, whatever it leaves open of them.

    Within every `BLOCK` rows each level of each factor has its turns; pairs that no row had before go first.
    Raises `GeneratorError` for a negative index.
    """
    if index < 0:
        raise GeneratorError(f"row({index!r}): expected the index of a trial, at least 0")
    block, place = divmod(index, BLOCK)
    return _block(like(block))[0][place]


def like(block: int) -> int:
    """The block whose rows are those of `block`: after `_BLOCKS` of them they come again."""
    first = _FIRST_THOROUGH if block >= _FIRST_THOROUGH else 0
    return first + (block - first) % _BLOCKS


@lru_cache(maxsize=_REMEMBERED)
def turns(index: int) -> tuple[int, ...]:
    """For each of `NAMES`, how many trials before `index`, in its block, have its level of that: for what these take
    turns in."""
    block, place = divmod(index, BLOCK)
    return _turns(like(block))[place]


#: After so many blocks they come again; what is drawn within them is new all the same.
_BLOCKS: Final = 12
_FIRST_THOROUGH: Final = THOROUGH // BLOCK


@lru_cache(maxsize=2 * _BLOCKS)
def _turns(block: int) -> tuple[tuple[int, ...], ...]:
    """`turns` of each row of a block."""
    of_factors = [
        [levels[:place].count(level) for place, level in enumerate(levels)]
        for levels in zip(*_block(block)[0], strict=True)
    ]
    return tuple(zip(*of_factors, strict=True))


@lru_cache(maxsize=2 * _BLOCKS)
def _block(number: int) -> tuple[tuple[Row, ...], Mapping[FactorPair, int]]:
    """The rows of one block, and the pairs that they and all before them have: those of trial 0 are before any."""
    before = 0 if number == _FIRST_THOROUGH else number - 1
    covered = Counter(_block(before)[1]) if number else Counter()
    dealt = _dealt(covered, number)
    # Plain ones first: what they show needs no features to be told of.
    ordered = sorted(dealt, key=_oddness) if number == 0 else dealt
    return tuple(_with_doubles_where_none_are(_with_layouts_that_show(ordered), number)), MappingProxyType(covered)


def _with_layouts_that_show(rows: list[Row]) -> list[Row]:
    """`rows`, of which every second one of NaN, if it is contiguous, is transposed: what takes NaN for a number among
    others shows there, as in `isnan`, though in most results nothing else does.

    Zeros with one number at the end repeat nowhere: such a row gives its expanded layout to a large one, whose arrays
    have one shape."""
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


def _with_doubles_where_none_are(rows: list[Row], number: int) -> list[Row]:
    """`rows` of block `number`, with one of special numbers and one of many elements in double precision.

    Loops for doubles are functions of their own, so they have faults of their own, and what hides the precision of a
    result does not hide these. Of special numbers another kind has its turn in each block. In the first block it is the
    last one: some tests have no more than a few trials, with layers of single precision.
    """
    found = [*rows]
    for factor, levels, turn in (("values", _SPECIAL, number - 1), ("sizes", ("long",), -1)):
        alike = [place for place, one in enumerate(found) if one.level(factor) in levels]
        chosen = alike[turn % len(alike)]
        several = levels if factor == "values" else ("long", "large")
        if all(one.dtype == 0 for one in found if one.level(factor) in several):
            found[chosen] = found[chosen]._replace(dtype=_DOUBLE)
    return found


def _dealt(covered: Counter[FactorPair], number: int) -> list[Row]:
    """`BLOCK` rows in which every level is used as often as it should be; counts the pairs they have in `covered`."""
    factors = THOROUGH_FACTORS if number >= _FIRST_THOROUGH else FACTORS
    left = [[*levels.values()] for levels in factors.values()]
    rows: list[Row] = []
    plain = [Row(), Row(values=1)] if number == 0 else []
    # What goes together with little else is dealt while everything is still there to go with it.
    difficult = [
        (NAMES.index(factor), LEVELS[NAMES.index(factor)].index(level))
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
    # A few rows are built, each from another factor on, and the one with most new pairs is taken.
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
        score = remaining / BLOCK + (place * 7 + level * 3 + factor) % 5 * 1e-3  # the most frequent are not left over
        for other, taken in enumerate(chosen):
            if taken >= 0:
                score += _worth(factor, level, other, taken, covered, place)
        if score > best_score:
            best, best_score = level, score
    return best, best_score


def _worth(factor: int, level: int, other: int, taken: int, covered: Counter[FactorPair], place: int) -> float:
    one, two = (NAMES[factor], LEVELS[factor][level]), (NAMES[other], LEVELS[other][taken])
    if (taken and _hides(one, two)) or (level and _hides(two, one)) or (one in _HIDING and two in _HIDING):
        return -_COST_OF_USELESS
    pair = (factor, level, other, taken) if factor < other else (other, taken, factor, level)
    if one in _NARROW:
        return _evenly(one, two, covered[pair], place)
    return _evenly(two, one, covered[pair], place) if two in _NARROW else float(not covered[pair])


def _evenly(narrow: FactorLevel, other: FactorLevel, times: int, place: int) -> float:
    """The worth of a pair that is to come as often as its levels are frequent, over as many blocks as there are."""
    share = THOROUGH_FACTORS[narrow[0]][narrow[1]] / BLOCK
    wanted = share * THOROUGH_FACTORS[other[0]][other[1]] * (1 + (place - THOROUGH) / BLOCK)
    return max(-1.0, 1.0 - times / wanted)


def _hides(one: FactorLevel, two: FactorLevel) -> bool:
    """Whether feature `one` leaves nothing of feature `two`."""
    return two[0] in _USELESS.get(one, ()) and two not in _NARROW


def _pairs(chosen: list[int]) -> list[FactorPair]:
    return [
        (factor, level, other, chosen[other])
        for factor, level in enumerate(chosen)
        for other in range(factor + 1, len(chosen))
    ]


def _oddness(row: Row) -> int:
    return sum(1 for level in row if level)
