"""Combines levels into the rows of a block, so that every two levels of different factors meet: a covering array."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from types import MappingProxyType
from typing import Final

from generators.levels import BLOCK, FACTORS, FIRST_THOROUGH, LEVELS, NAMES, PLACES, THOROUGH, THOROUGH_FACTORS, Row

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
#: The first block, of those before the rows repeat, in which such pairs are worth as much as others until they have
#: occurred: a loop for strided memory may lose NaN. The trials of usual tests do not get that far.
_FIRST_WITH_USELESS: Final = 6

#: The positions of a factor, its level, another factor and its level.
FactorPair = tuple[int, int, int, int]
#: The names of a factor and of one of its levels.
FactorLevel = tuple[str, str]


def new_rows(covered: Counter[FactorPair], number: int) -> list[Row]:
    """Return the rows of block `number`, and add the pairs in them to `covered`.

    Every level has its number of rows, and pairs of levels that no earlier row has are preferred.
    """
    factors = THOROUGH_FACTORS if number >= FIRST_THOROUGH else FACTORS
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
    pair, is_useless, narrow = _fit(factor, level, other, taken)
    times = covered.get(pair, 0)
    if is_useless:
        block = place // BLOCK
        late = block - (FIRST_THOROUGH if block >= FIRST_THOROUGH else 0) >= _FIRST_WITH_USELESS
        return 1.0 if late and not times else -_COST_OF_USELESS
    return float(not times) if narrow is None else _evenly(*narrow, times, place)


@cache
def _fit(
    factor: int, level: int, other: int, taken: int
) -> tuple[FactorPair, bool, tuple[FactorLevel, FactorLevel] | None]:
    """Return a pair of levels, whether one hides the other's effect, and if one is a narrow dtype, that and the other.

    Cached, because a plan asks for the few hundred pairs a hundred thousand times.
    """
    one, two = (NAMES[factor], LEVELS[factor][level]), (NAMES[other], LEVELS[other][taken])
    hidden = (taken and _hides(one, two)) or (level and _hides(two, one)) or (one in _HIDING and two in _HIDING)
    pair = (factor, level, other, taken) if factor < other else (other, taken, factor, level)
    if one in _NARROW:
        return pair, bool(hidden), (one, two)
    return pair, bool(hidden), (two, one) if two in _NARROW else None


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
