"""A finding: all information about one failed trial, as data."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autotest.comparison import Mismatch
from autotest.program import Program, operator_of
from autotest.program.paths import is_gradient
from autotest.program.rewriting import needed, upto
from autotest.program.semantics import differentiated_slots, pushes_gradients
from autotest.results.identity import Identity, identity_of, operator_behind
from autotest.results.layers import ByLayer
from autotest.results.verification import Verification


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One divergence, from its trial to its verified reproducer.

    Attributes:
        test: the id of the test, or the name of another run that found it.
        base_seed, index, seed: base seed and index of the trial, and the seed derived from them; the index is -1 if
            it was not found by a trial.
        mismatches: the differences in program order; at least one.
        sides: the names of the reference and of the candidate.
        program: the program that shows it, shrunk if possible; None if it cannot be replayed.
        versions: the version of each side, by its name.
        settings: the settings of the test, as keyword arguments of `autotest`.
        choices: the logged choices of the trial, with which it can be run again even if the generators change.
        verdict: one line that says whose fault it is, then the numbers behind it; empty if no verdict was reached.
        shrinking: lines that say how the program was shrunk and what of it matters.
        happens: the features without which it does not happen: "only with strided memory", "needs 9 elements or more".
        blame: the verdict as a value of `autotest.diagnosis.attribution.verdict.Blame`; empty if it was not determined.
        divergent: the slot of the first divergent call in `program`, if it was found.
        network: for a test of a network, where in it the divergence begins.
        shown: the identity as the trial showed it. Diagnosis may find a more exact operator, but does not change the
            finding's key.
        script: the text of the standalone reproducer; None if there is none, and `verified` contains the reason.
        verified: whether the script reproduced the finding in a fresh interpreter.
        file: the file of the test; None if no file contains it, or no test found it.
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
    file: Path | None = None

    @property
    def origin(self) -> str:
        """Where it was found: a test and a trial, or the name of another run."""
        return self.test if self.index < 0 else f"{self.test}, trial {self.index} of base seed {self.base_seed}"

    @property
    def versions_in_words(self) -> str:
        """The versions of both sides, such as ``torch 2.0.1, oneflow 0.9.0``."""
        return ", ".join(f"{name} {version}" for name, version in self.versions.items())

    @property
    def provenance(self) -> str:
        """The versions with which it was found, and where; one line of its script."""
        return f"{self.versions_in_words}; {self.origin}."

    @property
    def first(self) -> Mismatch:
        """The mismatch that the finding is named after: the first in program order."""
        return self.mismatches[0]

    @property
    def marked(self) -> int | None:
        """The slot of the call to mark as the first divergent one; None if no call is known to be wrong."""
        if self.divergent is not None:
            return self.divergent
        # A gradient mismatch has the slot of the tensor whose gradient differs, and the call there may be right.
        return None if self.first.symptom == "gradient" or is_gradient(self.first.name) else self.first.slot

    @property
    def identity(self) -> Identity:
        """The identity of the failure, which is the same for all ways of running a test."""
        return self.shown or identity_of(self.first, self.operator, self.program or Program((), ()), self.sides[1])

    @property
    def operator(self) -> str:
        """The operator that diverged, or else the one that the first mismatch is attributed to."""
        program, known = self.program, self.shown.operator if self.shown is not None else ""
        slot = self.first.slot if self.divergent is None else self.divergent
        if self.first.operator:
            found = self.first.operator
        elif program is None:
            found = known
        elif known and slot < len(program.calls) and _may_be_of(program, slot, known):
            found = known  # what a backward does, such as to die, belongs to the operator that it differentiates
        elif self.divergent is None:
            found = operator_behind(program.calls, self.first)
        else:
            found = operator_of(program.calls, self.divergent)
        return found or self.first.name


def _may_be_of(program: Program, slot: int, operator: str) -> bool:
    """Whether the call in `slot` is a backward pass that may pass `operator`, unless that is only elsewhere."""
    calls = program.calls
    if not pushes_gradients(calls[slot]):
        return False
    passed = needed(upto(program, slot), differentiated_slots(calls[slot]))
    named = {call.slot for call in calls if operator_of(calls, call.slot) == operator}
    return not named or operator == calls[slot].target or not passed.isdisjoint(named)
