"""How long a campaign goes on, and which trials are its own."""

from __future__ import annotations

import dataclasses
from pathlib import Path

#: How many workers the same call may kill before it is not tried any more, see `autotest.campaigns.deadly_calls`.
DEATHS_ALLOWED = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """How long a campaign goes on, and which trials are its own."""

    base_seed: int
    #: Seconds; None goes on until every test has run its trials.
    seconds: float | None = None
    #: Trials of each test; None goes on until the time is over.
    trials: int | None = None
    #: This run's trials are those whose index, divided by the second number, leaves the first less one.
    shard: tuple[int, int] = (1, 1)
    fail_fast: bool = False
    #: How many workers the same call may kill.
    deaths: int = DEATHS_ALLOWED
    #: The name of the candidate, whose ledgers count; "" for those of any.
    candidate: str = ""
    #: A ledger that holds for all tests, beside those that lie with them.
    ledger: Path | None = None
    #: Count what operators are given, in every trial.
    coverage: bool = False

    def index(self, position: int) -> int:
        """The index of the trial at `position` of this shard."""
        return self.shard[0] - 1 + position * self.shard[1]
