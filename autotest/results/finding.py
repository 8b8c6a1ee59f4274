"""A finding: everything that is known of one failed trial, as data."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from autotest.comparison import Mismatch
from autotest.program import Program, operator_of
from autotest.program.paths import is_gradient
from autotest.results.identity import Identity, identity_of, operator_behind
from autotest.results.layers import ByLayer
from autotest.results.verification import Verification


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One divergence, from its trial to its verified reproducer.

    Attributes:
        test: the test's id, or what else found it.
        base_seed, index, seed: base seed and index of the trial, and the seed derived from them; the index is -1 where
            it was no trial.
        mismatches: what differs, in the order of the program; there is always one.
        sides: the names of the reference and of the candidate.
        program: the program that shows it, shrunk where that was possible; None when it cannot be replayed.
        versions: the version of each side, by its name.
        settings: what the test asked for, as keyword arguments of `autotest`.
        choices: the logged choices of the trial, to run it again although the generators may have changed.
        verdict: whose fault it is, in one line, then the numbers behind it; empty where no verdict was reached.
        shrinking: how the program was made smaller, and what of it matters, one line each.
        happens: the features without which it does not happen: "only with strided memory", "needs 9 elements or more".
        blame: the verdict in one word or two of `autotest.diagnosis.verdict.Blame`; empty where that was not asked.
        divergent: the slot of the first divergent call in `program`, where it was found.
        network: where in a network it begins, for a test of one.
        shown: which failure it is, as its trial showed it: diagnosis may name the operator more exactly, and changes
            no key.
        script: the text of the standalone reproducer; None where there is none, for which `verified` has the reason.
        verified: whether a fresh interpreter saw the script show it.
    """

    test: str
    base_seed: int
    index: int
    seed: int
    mismatches: tuple[Mismatch, ...]
    sides: tuple[str, str]
    program: Program | None
    versions: dict[str, str]
    settings: dict[str, Any]
    choices: Sequence[Any] = ()
    verdict: tuple[str, ...] = ()
    shrinking: tuple[str, ...] = ()
    happens: tuple[str, ...] = ()
    blame: str = ""
    divergent: int | None = None
    network: ByLayer | None = None
    shown: Identity | None = None
    script: str | None = None
    verified: Verification = dataclasses.field(default_factory=Verification)

    @property
    def origin(self) -> str:
        """Where it was found: a test and a trial, or what else was run."""
        return self.test if self.index < 0 else f"{self.test}, trial {self.index} of base seed {self.base_seed}"

    @property
    def versions_in_words(self) -> str:
        """``torch 2.0.1, oneflow 0.9.0``."""
        return ", ".join(f"{name} {version}" for name, version in self.versions.items())

    @property
    def provenance(self) -> str:
        """With which versions it was found, and where: a line of its script."""
        return f"{self.versions_in_words}; {self.origin}."

    @property
    def first(self) -> Mismatch:
        """The mismatch that the finding is named after: the first in program order."""
        return self.mismatches[0]

    @property
    def marked(self) -> int | None:
        """The slot of the call to point out as the first divergent one; None where no call is known to be wrong."""
        if self.divergent is not None:
            return self.divergent
        # A gradient is told at the tensor that it is of, whose call may be right.
        return None if self.first.symptom == "gradient" or is_gradient(self.first.name) else self.first.slot

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
