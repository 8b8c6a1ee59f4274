"""For each operator of a test suite, whether its gradients are compared."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable
from typing import Literal, NamedTuple

#: ``numeric``: also checked against finite differences. ``exempt``: the operator has no gradient, or the test gives a
#: reason why none is compared.
GradientState = Literal["numeric", "compared", "exempt", "missing"]
GRADIENT_STATES: tuple[GradientState, ...] = ("missing", "exempt", "compared", "numeric")
#: The reason of a use that was checked numerically, but on fewer elements than it should be.
SMALL = "an input of fewer than 100 elements"


class Use(NamedTuple):
    """The gradient state of one operator in one trial; `reason` says why it is not better."""

    operator: str
    state: GradientState
    reason: str = ""
    #: The ledger key of the known divergence that ended the trial, if nothing was compared because of it.
    divergence: str = ""


@dataclasses.dataclass(slots=True)
class OperatorAccount:
    """All uses of one operator."""

    operator: str
    trials: collections.Counter[GradientState] = dataclasses.field(default_factory=collections.Counter)
    reasons: collections.Counter[tuple[GradientState, str]] = dataclasses.field(default_factory=collections.Counter)
    #: Tests that use it without comparing its gradient and without giving a reason.
    tests: dict[str, None] = dataclasses.field(default_factory=dict)
    #: The ledger key of the first known divergence that prevented comparing its gradient; empty without one.
    divergence: str = ""

    @property
    def state(self) -> GradientState:
        """The best state of any trial; an operator that is exempt in one trial and missing in another is missing.

        With a known divergence it is exempt instead, since a test for it exists and the ledger checks that test.
        """
        for state in ("numeric", "compared"):
            if self.trials[state]:
                return state
        return "missing" if self.trials["missing"] and not self.divergence else "exempt"

    @property
    def reason(self) -> str:
        """The most frequent reason of its state; for ``numeric``, how many trials used too few elements."""
        if self.state == "exempt" and self.divergence:
            return f"known divergence {self.divergence}"
        if self.state == "numeric":
            small = self.reasons["numeric", SMALL]
            return f"{SMALL} in {small} of {self.trials['numeric']}" if small else ""
        own = [(count, reason) for (state, reason), count in self.reasons.items() if state == self.state and reason]
        return max(own)[1] if own else ""


@dataclasses.dataclass(slots=True)
class GradientAccount:
    """The accounts of all operators of a suite, and the tests that compare no gradients or could not be run."""

    operators: dict[str, OperatorAccount] = dataclasses.field(default_factory=dict)
    trials: int = 0
    #: test -> why the gradient gate rejects it
    refused: dict[str, str] = dataclasses.field(default_factory=dict)
    #: test -> the error that it raises
    broken: dict[str, str] = dataclasses.field(default_factory=dict)
    #: test -> the ledger key of the crash that it is known to cause; it was not run
    spared: dict[str, str] = dataclasses.field(default_factory=dict)
    #: test -> why it skips itself
    skips: dict[str, str] = dataclasses.field(default_factory=dict)
    #: test -> the first reason why none of its trials was accepted, so that its operators are not listed
    never: dict[str, str] = dataclasses.field(default_factory=dict)
    #: test -> how the process that ran it ended
    died: dict[str, str] = dataclasses.field(default_factory=dict)

    def add(self, test: str, uses: Iterable[Use]) -> None:
        """Add the uses of operators in one trial of `test`."""
        self.trials += 1
        for use in uses:
            account = self.operators.setdefault(use.operator, OperatorAccount(use.operator))
            account.trials[use.state] += 1
            account.reasons[use.state, use.reason] += 1
            account.divergence = account.divergence or use.divergence
            if use.state == "missing":
                account.tests[test] = None

    def take(self, other: GradientAccount) -> None:
        """Add all entries of another account."""
        self.trials += other.trials
        for name in ("refused", "broken", "spared", "skips", "never", "died"):
            getattr(self, name).update(getattr(other, name))
        for operator, theirs in other.operators.items():
            account = self.operators.setdefault(operator, OperatorAccount(operator))
            account.trials += theirs.trials
            account.reasons += theirs.reasons
            account.divergence = account.divergence or theirs.divergence
            account.tests.update(theirs.tests)

    def of(self, state: GradientState) -> list[OperatorAccount]:
        """Return the operators in one state, sorted by name."""
        return sorted((one for one in self.operators.values() if one.state == state), key=lambda one: one.operator)
