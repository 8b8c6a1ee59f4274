"""What the trials of a test need beside the test: the pair, the options of the run, and what is known already."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from autotest.base.options import Options
from autotest.frameworks import Pair
from autotest.results import ledger
from autotest.results.ledger import Ledger


def ledger_of(file: Path, pair: Pair, common: Path | None = None) -> Ledger:
    """What is known, of the test file `file`, about the candidate of `pair` beside its reference.

    `common` is a ledger that holds for all tests.
    """
    reference, candidate = pair.reference, pair.candidate
    return ledger.find(file, candidate.name, lambda: candidate.version, lambda: reference.version, common)


@dataclasses.dataclass(frozen=True, slots=True)
class RunContext:
    """Handed down from the door of a run; nothing below it asks the environment."""

    pair: Pair
    options: Options = dataclasses.field(default_factory=Options)
    ledger: Ledger = dataclasses.field(default_factory=Ledger)
    #: The same run for the other candidates, where it has several.
    others: tuple[RunContext, ...] = ()

    def with_base_seed(self, seed: int) -> RunContext:
        """The same run for trials of another base seed, such as that of a stored failure."""
        return dataclasses.replace(self, options=dataclasses.replace(self.options, seed=seed))

    @property
    def each(self) -> tuple[RunContext, ...]:
        """The run for each candidate by itself."""
        return (dataclasses.replace(self, others=()), *self.others) if self.others else (self,)
