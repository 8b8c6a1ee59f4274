"""Which of a few alternatives each trial takes: every one within a block, beside every feature of the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from generators.plan import BLOCK, like, row
from generators.source import Source, trial_of

#: How many alternatives there are, and their relative chances where they are not alike.
Alternatives = tuple[int, tuple[float, ...] | None]
#: The choices of a trial up to one of them, by which this one is known in the other trials of its test.
Column = tuple[Alternatives, ...]

#: Choices of a trial that the plan makes. What a loop draws beyond that is drawn at random.
MOST_PLANNED = 12
#: A chance so small that its alternative does not come once in a block; then the test's own chances are kept.
_RARE = 0.5
#: What a new pair of two choices of a test is worth, where one of a choice and a feature of the plan is worth 1.
_OF_CHOICES = 5.0


def choose(source: Source, count: int, weights: Sequence[float] | None = None) -> int:
    """A position in ``range(count)``, by the plan of the trial that `source` belongs to; at random in the first one."""
    index = trial_of(source.seed)
    if index and 1 < count <= BLOCK and len(source.alternatives) < MOST_PLANNED:
        column = (*source.alternatives, (count, None if weights is None else (*weights,)))
        source.alternatives = column
        level = planned_alternative(index, column)
        if level is not None:
            chosen = source.planned(level, count)
            source.features[column] = chosen
            return chosen
    return source.index(count, weights)


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
    covered: Counter[tuple[int, int, int]] = Counter()
    dealt: list[int] = []
    for place in range(BLOCK):
        beside = [*row(block * BLOCK + place), *[-1 if other is None else other[place] for other in earlier]]
        features = len(beside) - len(earlier)

        def worth(level: int, place: int = place, beside: list[int] = beside, features: int = features) -> float:
            times = [covered[level, factor, other] for factor, other in enumerate(beside)]
            # What a test chooses goes with what else it chooses before it goes with features that it does not speak of.
            gain = sum(not had for had in times[:features]) + sum(_OF_CHOICES / (1 + had) for had in times[features:])
            return gain + left[level] / BLOCK + (place * 7 + level * 3 + len(column)) % 5 * 1e-3

        chosen = max((level for level, due in enumerate(left) if due > 0), key=worth)
        left[chosen] -= 1
        if block or place:  # the first trial of all chooses at random
            covered.update((chosen, factor, other) for factor, other in enumerate(beside))
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
