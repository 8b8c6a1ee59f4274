"""Which of a few alternatives each trial takes: every one within a block, beside every feature of the plan."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from generators.plan import BLOCK, LEVELS, NAMES, like, row
from generators.source import Source, trial_of

#: How many alternatives there are, and their relative chances where they are not alike.
Alternatives = tuple[int, tuple[float, ...] | None]
#: The choices of a trial up to one of them, by which this one is known in the other trials of its test.
Column = tuple[Alternatives, ...]

#: Choices of a trial that the plan makes. What a loop draws beyond that is drawn at random.
MOST_PLANNED = 12
#: Of so many whole numbers each is an alternative of its own.
MOST_IN_TURN = 6
#: Of so many the ends and zero are; more of them are there to be different, as seeds and keys are.
MOST_WITH_ENDS = 64
#: The chances of a number between the ends of a longer range, of its least and greatest, and of zero between them.
_ENDS, _ENDS_AND_ZERO = (16.0, 2.0, 2.0), (14.0, 2.0, 2.0, 2.0)
#: A chance so small that its alternative does not come once in a block; then the test's own chances are kept.
_RARE = 0.5
#: A factor of the plan, or an earlier choice, with its level in some trial.
_Level = tuple[int, int]
#: What an alternative goes together with: such a level, or those of two choices.
_Beside = _Level | tuple[_Level, _Level]
#: What a new pair of two choices of a test is worth, where one of a choice and a feature of the plan is worth 1.
_OF_CHOICES = 20.0
#: The same of three choices together, and how many earlier ones any is so with.
_OF_THREE, _MOST_IN_THREES = 10.0, 4
#: The same of a choice with NaN or infinities among the numbers, whichever, which few trials have.
_OF_FEW, _AMONG_NOT_FINITE = 6.0, (-1, 0)
_VALUES = NAMES.index("values")
_NOT_FINITE = frozenset(LEVELS[_VALUES].index(level) for level in ("nan", "infinite"))


def choose(source: Source, count: int, weights: Sequence[float] | None = None) -> int:
    """A position in ``range(count)``, by the plan of the trial that `source` belongs to; at random in the first one."""
    level = _planned(source, count, None if weights is None else (*weights,))
    if level is None:
        return source.index(count, weights)
    chosen = source.planned(level, count)
    source.features[source.alternatives] = chosen
    return chosen


def whole_number(source: Source, low: int, high: int) -> int:
    """A whole number in [low, high), by the plan of the trial: where there are few, each of them has its turns beside
    every other choice; where there are many, the least, the greatest and zero have."""
    count = high - low
    if count <= 1 or count > MOST_WITH_ENDS or not trial_of(source.seed):
        return source.integer(low, high)
    if count <= MOST_IN_TURN:
        level = _planned(source, count, None)
        if level is None:
            return source.integer(low, high)
        chosen = source.integer_within(low + level, low + level + 1, low, high)
        level = chosen - low
    else:
        zero = low < 0 < high - 1
        level = _planned(source, 4 if zero else 3, _ENDS_AND_ZERO if zero else _ENDS)
        if level is None:
            return source.integer(low, high)
        first, end = ((low + 1, high - 1), (low, low + 1), (high - 1, high), (0, 1))[level]
        chosen = source.integer_within(first, end, low, high)
    source.features[source.alternatives] = level
    return chosen


def _planned(source: Source, count: int, weights: tuple[float, ...] | None) -> int | None:
    """Which of `count` alternatives the plan chose; None where chance does."""
    index = trial_of(source.seed)
    if not index or not 1 < count <= BLOCK or len(source.alternatives) >= MOST_PLANNED:
        return None
    column = (*source.alternatives, (count, weights))
    source.alternatives = column
    return planned_alternative(index, column)


def planned_alternative(index: int, column: Column) -> int | None:
    """What trial `index` chooses where it comes to `column`; None where chance does."""
    block, place = divmod(index, BLOCK)
    dealt = _dealt(like(block), column)
    return None if dealt is None else dealt[place]


@lru_cache(maxsize=4096)
def _dealt(block: int, column: Column) -> tuple[int, ...] | None:
    """For each row of `block` its alternative: as often as is its due, and where most pairs are new."""
    left = _dues(*column[-1], turned=block + len(column))
    if left is None:
        return None
    earlier = [_dealt(block, column[:length]) for length in range(1, len(column))]
    had: Counter[tuple[int, _Beside]] = Counter()
    dealt: list[int] = []
    for place in range(BLOCK):
        features = [*enumerate(row(block * BLOCK + place))]
        choices = [(len(features) + at, -1 if other is None else other[place]) for at, other in enumerate(earlier)]
        twos = [*itertools.combinations(choices[:_MOST_IN_THREES], 2)]
        alike = [_AMONG_NOT_FINITE] if features[_VALUES][1] in _NOT_FINITE else []

        def worth(
            level: int,
            place: int = place,
            news: tuple[tuple[float, Sequence[_Beside]], ...] = ((1.0, features), (_OF_THREE, twos), (_OF_FEW, alike)),
            choices: list[_Level] = choices,
        ) -> float:
            gain = sum(value for value, besides in news for beside in besides if not had[level, beside])
            # What a test chooses goes with what else it chooses before it goes with features that it does not speak of.
            gain += sum(_OF_CHOICES / (1 + had[level, beside]) for beside in choices)
            return gain + left[level] / BLOCK + (place * 7 + level * 3 + len(column)) % 5 * 1e-3

        chosen = max((level for level, due in enumerate(left) if due > 0), key=worth)
        left[chosen] -= 1
        if block or place:  # the first trial of all chooses at random
            besides: list[_Beside] = [*features, *choices, *twos, *alike]
            had.update((chosen, beside) for beside in besides)
        dealt.append(chosen)
    return tuple(dealt)


def _dues(count: int, weights: Sequence[float] | None, *, turned: int) -> list[int] | None:
    """In how many rows of a block each alternative is; None where one is too rare to be in any."""
    chances = [1.0] * count if weights is None else [*weights]
    shares = [chance * BLOCK / sum(chances) for chance in chances]
    if any(0 < share < _RARE for share in shares):
        return None
    dues = [max(1, int(share)) if share else 0 for share in shares]
    order = [place for place in range(count) if dues[place]]
    for step in range(BLOCK - sum(dues)):  # which have one more changes from block to block
        dues[order[(turned + step) % len(order)]] += 1
    while sum(dues) > BLOCK:
        dues[max(order, key=lambda place: dues[place])] -= 1
    return dues
