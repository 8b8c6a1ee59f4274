"""The context of a test's trials: the pair, the options of the run, and the known divergences."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from autotest.base.options import Options
from autotest.frameworks import Pair
from autotest.results import ledger
from autotest.results.ledger import Ledger


def ledger_of(file: Path, pair: Pair, common: Path | None = None) -> Ledger:
    """Return the ledger of the test file `file` for the candidate and the reference of `pair`.

    `common` is the path of a ledger that applies to all tests.
    """
    reference, candidate = pair.reference, pair.candidate
    return ledger.find(file, candidate.name, lambda: candidate.version, lambda: reference.version, common)


@dataclasses.dataclass(frozen=True, slots=True)
class RunContext:
    """The context of a run, created at its entry point. Code below it does not read the environment."""

    pair: Pair
    options: Options = dataclasses.field(default_factory=Options)
    ledger: Ledger = dataclasses.field(default_factory=Ledger)
    #: The contexts of the same run for the other candidates, if it has several.
    others: tuple[RunContext, ...] = ()

    def with_base_seed(self, seed: int) -> RunContext:
        """Return the same context with another base seed, such as the seed of a stored failure."""
        return dataclasses.replace(self, options=dataclasses.replace(self.options, seed=seed))

    @property
    def each(self) -> tuple[RunContext, ...]:
        """One context for each candidate."""
        return (dataclasses.replace(self, others=()), *self.others) if self.others else (self,)
