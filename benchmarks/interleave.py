"""Times contenders side by side."""

from __future__ import annotations

import dataclasses
import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

#: Does that many trials.
Trials = Callable[[int], object]
#: Seconds since whenever.
Clock = Callable[[], float]

#: Seconds that one turn should take: long enough for what a batch costs once, short beside what disturbs a machine.
TURN = 0.03


@dataclasses.dataclass(frozen=True)
class Spread:
    """Quartiles of what was measured once a round."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        if len(values) < 2:
            return cls(values[0], values[0], values[0])
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(low, median, high)


@dataclasses.dataclass(frozen=True)
class Timed:
    """Seconds a trial of each contender, one for each round."""

    seconds: Mapping[str, Sequence[float]]

    def spread(self, name: str) -> Spread:
        return Spread.of(self.seconds[name])

    def ratio(self, name: str, to: str) -> Spread:
        """How many times longer `name` takes than `to`, round by round."""
        return Spread.of([one / other for one, other in zip(self.seconds[name], self.seconds[to], strict=True)])


def interleaved(
    contenders: Mapping[str, Trials],
    rounds: int,
    turn: float = TURN,
    clock: Clock = time.perf_counter,
    count: int | None = None,
) -> Timed:
    """Give each contender `rounds` turns of `count` trials or of about `turn` seconds, every round in another order.

    `clock` may be `time.thread_time` for what waits for nobody: then a busy machine disturbs less.
    """
    counts = {name: _count(trials, turn, clock) if count is None else count for name, trials in contenders.items()}
    for trials in contenders.values():
        trials(1)
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders)
    for number in range(rounds):
        gc.collect()  # so that nobody's turn clears up what another left
        shift = number % len(order)
        for name in order[shift:] + order[:shift]:
            seconds[name].append(_turn(contenders[name], counts[name], clock))
    return Timed(seconds)


def _count(trials: Trials, turn: float, clock: Clock) -> int:
    """How many trials fill a turn."""
    trials(1)
    count = 2
    while True:
        once = _turn(trials, count, clock)
        if once * count >= turn / 4 or count >= 1 << 16:
            return max(1, round(turn / once))
        count *= 2


def _turn(trials: Trials, count: int, clock: Clock) -> float:
    begin = clock()
    trials(count)
    return (clock() - begin) / count
