"""Plans which of a few alternatives each trial takes: all of them in a block, combined with the plan's features."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache

from generators.levels import BLOCK, LEVELS, NAMES, PLACES
from generators.plan import has_ordinary_numbers, is_tall, like, row
from generators.source import Alternatives, Source, trial_of

#: The choices of a trial up to and including one of them, which identify this one in all trials of a test.
Column = tuple[Alternatives, ...]

#: Maximum number of choices in a trial that the plan makes. Later ones, as in a long loop, are drawn at random.
MOST_PLANNED = 12
#: Greatest number of integers in a range for which each integer is an alternative of the plan.
MOST_IN_TURN = 10
#: Greatest number of integers in a range whose ends and zero are alternatives of the plan. Longer ranges, such as those
#: of seeds and keys, are there to give different numbers.
MOST_WITH_ENDS = 64
#: Chances of an integer between the ends of such a range, of its least, of its greatest, and of zero between them.
_ENDS, _ENDS_AND_ZERO = (16.0, 2.0, 2.0), (14.0, 2.0, 2.0, 2.0)
#: Least number of rows in a block, on average, that each alternative of a planned choice must have. If one has fewer,
#: the choice is drawn at random with the test's own chances.
_RARE = 0.5
#: A factor of the plan, or an earlier choice, with its level in a trial.
_Level = tuple[int, int]
#: What an alternative is combined with: one such level, or the levels of two earlier choices.
_Beside = _Level | tuple[_Level, _Level]
#: Worth of a new pair of two of the test's choices. A new pair of a choice and a feature of the plan is worth 1 if one
#: row has this feature, a quarter if two have, a ninth if three have: rare features have few rows to be paired in.
_OF_CHOICES = 20.0
#: Step from one row to the next while alternatives are assigned. In the order of the plan, the rows with the most
#: features would come last, when few alternatives are left.
_STEP = 7
#: Worth of a new triple of choices, and the number of earlier choices that triples are made with.
_OF_THREE, _MOST_IN_THREES = 10.0, 4
#: Worth of a new pair of a choice and "NaN or infinities among the numbers", which few trials have; and the level that
#: stands for both of these.
_OF_FEW, _AMONG_NOT_FINITE = 6.0, (-1, 0)
#: Worth of a pair of a choice and "matrices are tall", and the level that stands for these. The levels of sizes do not
#: tell them from wide ones, and algorithms do: `full_matrices` matters for a tall matrix.
_OF_TALL, _AMONG_TALL = 6.0, (-3, 0)
#: Greatest number of rows that have in common what each alternative should come beside at the cost of other pairs.
_FEW_ROWS = BLOCK // 2
#: Worth of the first row of a choice in which it can show a fault, and the level that stands for such rows. Special
#: numbers and zeros hide what most operators compute, so each choice is also needed with ordinary numbers.
_OF_ORDINARY, _AMONG_ORDINARY = 30.0, (-2, 0)
#: Worth of the first such row in which two choices with the same alternatives take the same one: two equal axes.
_OF_EQUAL = 5.0
#: Layouts that a dimension of size 1 hides: memory that is transposed or expanded along it is contiguous.
_HIDDEN_BY_ONE = frozenset(LEVELS[PLACES["layout"]].index(level) for level in ("transposed", "expanded"))
#: Cost of a size of 1 in a row with such a layout.
_OF_HIDDEN_LAYOUT = 12.0
#: More than rounding takes from a share of rows.
_ROUNDING = 1e-9
_VALUES, _LAYOUT = PLACES["values"], PLACES["layout"]
_NOT_FINITE = frozenset(LEVELS[_VALUES].index(level) for level in ("nan", "infinite"))


def choose(source: Source, count: int, weights: Sequence[float] | None = None, instead: int | None = None) -> int:
    """Return a position in ``range(count)`` from the plan of `source`'s trial, or at random if the plan has none.

    In the first trial of a test, all choices are random. `weights` are the relative chances, None if they are equal.
    `instead` is taken instead of the position in the plan, if it is given and the plan has one.
    """
    level = _planned(source, count, None if weights is None else (*weights,))
    if level is None:
        return source.index(count, weights)
    chosen = source.planned(level if instead is None else instead, count)
    source.features[source.alternatives] = chosen
    return chosen


def have_rows(chances: Sequence[float]) -> bool:
    """Return whether the plan can make a choice among alternatives with these chances: none of them is too rare."""
    return len(chances) <= BLOCK and min(chances) * BLOCK >= _RARE * sum(chances)


@contextmanager
def inside(source: Source) -> Iterator[None]:
    """While a chosen alternative is drawn: what it chooses by itself identifies no later choice of the trial."""
    before = source.alternatives
    source.nesting += 1
    try:
        yield
    finally:
        source.nesting -= 1
        source.alternatives = before


def parent(column: Column) -> Column:
    """Return the choice that has the choice `column` in one of its alternatives; empty if there is none."""
    depth = column[-1][-1]
    return next((column[:end] for end in range(len(column) - 1, 0, -1) if column[end - 1][-1] < depth), ())


def whole_number(source: Source, low: int, high: int, *, dimension: bool = False) -> int:
    """Return an integer in [low, high) from the plan of `source`'s trial, or at random if the plan has none.

    In a short range each integer has its turns, combined with all other choices. In a longer one only the least, the
    greatest and zero have. If the integer is the size of a `dimension`, it is rarely 1 in trials that have a layout.
    """
    count = high - low
    if count <= 1 or count > MOST_WITH_ENDS or not trial_of(source.seed):
        return source.integer(low, high)
    one = dimension and low == 1
    if count <= MOST_IN_TURN:
        level = _planned(source, count, None, 0 if one else -1)
        if level is None:
            return source.integer(low, high)
        chosen = source.integer_within(low + level, low + level + 1, low, high)
        level = chosen - low
    else:
        zero = low < 0 < high - 1
        level = _planned(source, 4 if zero else 3, _ENDS_AND_ZERO if zero else _ENDS, 1 if one else -1)
        if level is None:
            return source.integer(low, high)
        first, end = ((low + 1, high - 1), (low, low + 1), (high - 1, high), (0, 1))[level]
        chosen = source.integer_within(first, end, low, high)
    source.features[source.alternatives] = level
    return chosen


def _planned(source: Source, count: int, weights: tuple[float, ...] | None, one: int = -1) -> int | None:
    """Return which of `count` alternatives the plan takes, or None if the choice is drawn at random."""
    index = trial_of(source.seed)
    if not index or not 1 < count <= BLOCK or len(source.alternatives) >= MOST_PLANNED:
        return None
    column = (*source.alternatives, (count, weights, one, source.nesting))
    source.alternatives = column
    return planned_alternative(index, column)


def planned_alternative(index: int, column: Column) -> int | None:
    """Return the alternative that trial `index` takes at the last choice of `column`, or None if it is random."""
    block, place = divmod(index, BLOCK)
    dealt = _assigned(like(block), column)
    return None if dealt is None else dealt[place]


@lru_cache(maxsize=4096)
def _assigned(block: int, column: Column) -> tuple[int, ...] | None:
    """Return the alternative of each row of `block`, or None if the choice is random.

    Each alternative is used in its share of rows, and preferably in those where it forms most new pairs.
    """
    count, weights, one_at, _ = column[-1]
    left = _quotas(count, weights, turned=block + len(column))
    if left is None:
        return None
    earlier = [_assigned(block, column[:length]) for length in range(1, len(column))]
    choices_of = [
        [(len(NAMES) + at, -1 if other is None else other[place]) for at, other in enumerate(earlier)]
        for place in range(BLOCK)
    ]
    #: The earlier choices with the same alternatives that have not taken the same one as this one.
    unequal = {len(NAMES) + at for at, alternatives in enumerate(column[:-1]) if alternatives == column[-1]}
    had: Counter[tuple[int, _Beside]] = Counter()
    rows = [[*enumerate(row(block * BLOCK + place))] for place in range(BLOCK)]
    times = Counter(feature for features in rows for feature in features)
    worths = [_worth(block * BLOCK + place, rows[place], times, choices_of[place]) for place in range(BLOCK)]
    dealt = [0] * BLOCK
    for step in range(BLOCK):
        place = step * _STEP % BLOCK
        features, choices, worth = rows[place], choices_of[place], worths[place]
        unlike = unequal if has_ordinary_numbers(block * BLOCK + place) else set()
        hiding = one_at if features[_LAYOUT][1] in _HIDDEN_BY_ONE else -1

        def score(
            level: int,
            place: int = place,
            worth: list[tuple[_Beside, float]] = worth,
            choices: list[_Level] = choices,
            unlike: set[int] = unlike,
            hiding: int = hiding,
        ) -> float:
            gain = sum(value for beside, value in worth if not had[level, beside])
            # Pairs of the test's own choices come before pairs with features that the test does not mention.
            gain += sum(_OF_CHOICES / (1 + had[level, beside]) for beside in choices)
            gain += sum(_OF_EQUAL for one, other in choices if other == level and one in unlike)
            gain -= _OF_HIDDEN_LAYOUT if level == hiding else 0.0
            return gain + left[level] / BLOCK + (place * 7 + level * 3 + len(column)) % 5 * 1e-3

        chosen = max((level for level, quota in enumerate(left) if quota > 0), key=score)
        left[chosen] -= 1
        if block or place:  # the very first trial does not use the plan: its choices are random
            had.update((chosen, beside) for beside in [*(beside for beside, _ in worth), *choices])
            unlike.difference_update(one for one, other in choices if other == chosen)
        dealt[place] = chosen
    # Of more than two, each mostly comes beside what few rows have, and a test of few trials needs the order as it is.
    # A dimension's size of 1 stays where it hides no layout.
    return tuple(dealt if one_at >= 0 or count > 2 else _improved(block, dealt, worths, choices_of))


def _worth(
    index: int, features: Sequence[_Level], times: Mapping[_Level, int], choices: Sequence[_Level]
) -> list[tuple[_Beside, float]]:
    """Return what an alternative is combined with in trial `index`, other than a single choice, and what that is worth.

    `times` is the number of rows of the block that have a feature.
    """
    found: list[tuple[_Beside, float]] = [
        (beside, _OF_THREE) for beside in itertools.combinations(choices[:_MOST_IN_THREES], 2)
    ]
    if features[_VALUES][1] in _NOT_FINITE:
        found.append((_AMONG_NOT_FINITE, _OF_FEW))
    if has_ordinary_numbers(index):
        found.append((_AMONG_ORDINARY, _OF_ORDINARY))
    return [*found, *((feature, 1 / times[feature] ** 2) for feature in features)]


def _improved(
    block: int,
    dealt: list[int],
    worths: Sequence[Sequence[tuple[_Beside, float]]],
    choices_of: Sequence[Sequence[_Level]],
) -> list[int]:
    """Return `dealt` with alternatives swapped, so that both come beside what few rows have, if these suffice.

    Alternatives are dealt row by row, and the last rows have to take what is left.
    """

    def value(swapped: Sequence[int]) -> float:
        met: dict[tuple[int, _Beside], float] = {}
        for place in planned:
            met.update(((swapped[place], beside), worth) for beside, worth in worths[place])
            met.update(((swapped[place], choice), _OF_CHOICES) for choice in choices_of[place])
        return sum(met.values())

    planned = range(0 if block else 1, BLOCK)  # the choices of the very first trial are random
    tall = [(_AMONG_TALL, _OF_TALL)]
    worths = [[*worth, *tall] if is_tall(block * BLOCK + place) else worth for place, worth in enumerate(worths)]
    rows_of: dict[_Beside, list[int]] = {}
    for place in planned:
        for beside, worth in worths[place]:
            if worth >= _OF_TALL:
                rows_of.setdefault(beside, []).append(place)
    alternatives = sorted({*dealt})
    for rows in rows_of.values():
        if not len(alternatives) <= len(rows) <= _FEW_ROWS:
            continue
        for missing in alternatives:
            had = Counter(dealt[place] for place in rows)
            if not had[missing]:
                ones = [place for place in rows if had[dealt[place]] > 1]
                others = [place for place in planned if dealt[place] == missing]
                dealt = max([dealt, *(_swapped(dealt, one, other) for one in ones for other in others)], key=value)
    return dealt


def _swapped(dealt: Sequence[int], one: int, two: int) -> list[int]:
    """Return `dealt` with the alternatives of two rows exchanged."""
    found = [*dealt]
    found[one], found[two] = found[two], found[one]
    return found


def _quotas(count: int, weights: Sequence[float] | None, *, turned: int) -> list[int] | None:
    """Return the number of rows in a block for each alternative, or None if one is too rare to have a row."""
    chances = [1.0] * count if weights is None else [*weights]
    shares = [chance * BLOCK / sum(chances) for chance in chances]
    if any(0 < share < _RARE for share in shares):
        return None
    # The chances 0.9 and 1 - 0.9 make shares just below 18 and 2, because a float rounds them.
    quotas = [max(1, int(share + _ROUNDING)) if share else 0 for share in shares]
    order = [place for place in range(count) if quotas[place]]
    for step in range(BLOCK - sum(quotas)):  # the alternatives that get one row more change from block to block
        quotas[order[(turned + step) % len(order)]] += 1
    while sum(quotas) > BLOCK:
        quotas[max(order, key=lambda place: quotas[place])] -= 1
    return quotas
