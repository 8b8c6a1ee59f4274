"""A finding: everything that is known of one failed trial, as data."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from autotest.comparison import Mismatch
from autotest.program import Program, operator_of
from autotest.results.identity import Identity, identity_of, operator_behind
from autotest.results.layers import ByLayer
from autotest.results.verification import Verification


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One divergence, from its trial to its verified reproducer."""

    test: str
    #: Base seed and index of the trial, and the seed derived from them; the index is -1 where it was no trial.
    base_seed: int
    index: int
    seed: int
    mismatches: tuple[Mismatch, ...]
    sides: tuple[str, str]
    #: The program that shows it (shrunk where that was possible); None when it cannot be replayed.
    program: Program | None
    versions: dict[str, str]
    #: What the test asked for, as keyword arguments of `autotest`.
    settings: dict[str, Any]
    #: The logged choices of the trial, to run it again although the generators may have changed.
    choices: Sequence[Any] = ()
    #: One line, then the numbers behind it; empty where no verdict was reached.
    verdict: tuple[str, ...] = ()
    #: How the program was made smaller, and what of it matters, one line each.
    shrinking: tuple[str, ...] = ()
    #: The features without which it does not happen: "only with strided memory", "needs 9 elements or more".
    happens: tuple[str, ...] = ()
    #: Whose fault it is, in one word or two of `autotest.diagnosis.verdict.Blame`; empty where that was not asked.
    blame: str = ""
    #: The slot of the first divergent call in `program`, where it was found.
    divergent: int | None = None
    #: Where in a network it begins, for a test of one.
    network: ByLayer | None = None
    #: Which failure it is, as its trial showed it: diagnosis may name the operator more exactly, and changes no key.
    shown: Identity | None = None
    #: Text of the standalone script, or why there is none.
    script: str | None = None
    #: Whether a fresh interpreter saw it.
    verified: Verification = dataclasses.field(default_factory=Verification)

    @property
    def origin(self) -> str:
        """Where it was found: a test and a trial, or what else was run."""
        return self.test if self.index < 0 else f"{self.test}, trial {self.index} of base seed {self.base_seed}"

    @property
    def first(self) -> Mismatch:
        """The mismatch that the finding is named after: the first in program order."""
        return self.mismatches[0]

    @property
    def identity(self) -> Identity:
        """What makes it the same failure as another, under every door."""
        return self.shown or identity_of(self.first, self.operator, self.program or Program((), ()), self.sides[1])

    @property
    def operator(self) -> str:
        """The operation that diverged, or else the one that the first mismatch is a result of."""
        if self.program is not None and self.divergent is not None:
            return operator_of(self.program.calls, self.divergent) or self.first.name
        return (operator_behind(self.program.calls, self.first) if self.program else "") or self.first.name
