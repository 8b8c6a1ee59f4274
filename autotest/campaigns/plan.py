"""How long a campaign runs, and which trials belong to it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

#: How many workers the same call may kill before it is no longer run, see `autotest.campaigns.deadly_calls`.
DEATHS_ALLOWED = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """The limits of a campaign, and the trials that belong to it."""

    base_seed: int
    #: Time limit in seconds; None runs until every test has run its trials.
    seconds: float | None = None
    #: Number of trials of each test; None runs until the time is over.
    trials: int | None = None
    #: `(part, parts)`: this run executes the trials whose index modulo `parts` is `part - 1`.
    shard: tuple[int, int] = (1, 1)
    fail_fast: bool = False
    #: How many workers the same call may kill before it is no longer run.
    deaths: int = DEATHS_ALLOWED
    #: Name of the candidate, which selects the ledger entries that apply; "" selects those of any candidate.
    candidate: str = ""
    #: A ledger that applies to all tests, in addition to the ledgers stored beside them.
    ledger: Path | None = None
    #: Count, in every trial, the features of the arguments that operators are given.
    coverage: bool = False
    #: Return what each trial drew.
    drawn: bool = False
    #: Run no trial of a task after one whose body the reference refuses.
    until_refused: bool = False
    #: Let all tensors require grad for which the test leaves it open.
    all_require_grad: bool = False

    def index(self, position: int) -> int:
        """Return the trial index at `position` of this shard."""
        return self.shard[0] - 1 + position * self.shard[1]
