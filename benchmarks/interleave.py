"""Times contenders in alternation."""

from __future__ import annotations

import dataclasses
import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

#: A function that runs the given number of trials.
Trials = Callable[[int], object]
#: A function that returns the seconds since an arbitrary time.
Clock = Callable[[], float]

#: Seconds that one turn should take: long enough to spread the fixed cost of a batch, and short compared with
#: disturbances of the machine.
TURN = 0.03


@dataclasses.dataclass(frozen=True)
class Spread:
    """Quartiles of a value that is measured once per round."""

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
    """Seconds per trial of each contender, one value for each round."""

    seconds: Mapping[str, Sequence[float]]

    def spread(self, name: str) -> Spread:
        return Spread.of(self.seconds[name])

    def ratio(self, name: str, to: str) -> Spread:
        """Return the ratio of the time of `name` to that of `to`, computed for each round."""
        return Spread.of([one / other for one, other in zip(self.seconds[name], self.seconds[to], strict=True)])


def interleaved(
    contenders: Mapping[str, Trials],
    rounds: int,
    turn: float = TURN,
    clock: Clock = time.perf_counter,
    count: int | None = None,
) -> Timed:
    """Time `rounds` turns of each contender, with a different order in each round.

    A turn is `count` trials, or about `turn` seconds if `count` is None. `clock` may be `time.thread_time` if the
    trials wait for no other thread or process: a busy machine then disturbs less.
    """
    counts = {name: _count(trials, turn, clock) if count is None else count for name, trials in contenders.items()}
    for trials in contenders.values():
        trials(1)
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders)
    for number in range(rounds):
        gc.collect()  # so that no turn includes the collection of another contender's garbage
        shift = number % len(order)
        for name in order[shift:] + order[:shift]:
            seconds[name].append(_turn(contenders[name], counts[name], clock))
    return Timed(seconds)


def _count(trials: Trials, turn: float, clock: Clock) -> int:
    """Return the number of trials that take about `turn` seconds."""
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
