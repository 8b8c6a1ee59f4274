"""Which operators of a test suite have their gradients compared: an account by operator."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable
from typing import Literal, NamedTuple

#: ``numeric``: also held against differences. ``exempt``: it has no gradient, or the test says why none is compared.
GradientState = Literal["numeric", "compared", "exempt", "missing"]
GRADIENT_STATES: tuple[GradientState, ...] = ("missing", "exempt", "compared", "numeric")
#: The reason of a use that was checked numerically, but not on as many elements as it should.
SMALL = "an input of fewer than 100 elements"


class Use(NamedTuple):
    """One operator in one trial, and what became of its gradient; `reason` where that is less than it might be."""

    operator: str
    state: GradientState
    reason: str = ""
    #: The ledger's key of the divergence that its trial ended in, where nothing was compared because of that.
    divergence: str = ""


@dataclasses.dataclass(slots=True)
class OperatorAccount:
    """All uses of one operator."""

    operator: str
    trials: collections.Counter[GradientState] = dataclasses.field(default_factory=collections.Counter)
    reasons: collections.Counter[tuple[GradientState, str]] = dataclasses.field(default_factory=collections.Counter)
    #: Tests that use it without comparing its gradient, and without a reason.
    tests: dict[str, None] = dataclasses.field(default_factory=dict)
    #: The ledger's key of the first known divergence that kept its gradient from being compared; empty without one.
    divergence: str = ""

    @property
    def state(self) -> GradientState:
        """The best that any trial did for it; what is exempt in one place and missing in another is missing.

        Unless a known divergence is why: then there is a test for it, which the ledger holds to account.
        """
        for state in ("numeric", "compared"):
            if self.trials[state]:
                return state
        return "missing" if self.trials["missing"] and not self.divergence else "exempt"

    @property
    def reason(self) -> str:
        """Why nothing was compared, the commonest reason of its state; or what was checked on too few elements."""
        if self.state == "exempt" and self.divergence:
            return f"known divergence {self.divergence}"
        if self.state == "numeric":
            small = self.reasons["numeric", SMALL]
            return f"{SMALL} in {small} of {self.trials['numeric']}" if small else ""
        own = [(count, reason) for (state, reason), count in self.reasons.items() if state == self.state and reason]
        return max(own)[1] if own else ""


@dataclasses.dataclass(slots=True)
class GradientAccount:
    """The accounts of a suite, and the tests that forgot their gradients or could not be run."""

    operators: dict[str, OperatorAccount] = dataclasses.field(default_factory=dict)
    trials: int = 0
    #: test -> what the gate has against it
    refused: dict[str, str] = dataclasses.field(default_factory=dict)
    #: test -> the error
    broken: dict[str, str] = dataclasses.field(default_factory=dict)
    #: test -> the ledger's key for the death that it is known to end in: it was not run
    spared: dict[str, str] = dataclasses.field(default_factory=dict)
    #: test -> why it skips itself
    skips: dict[str, str] = dataclasses.field(default_factory=dict)
    #: test -> how the process ended that ran it
    died: dict[str, str] = dataclasses.field(default_factory=dict)

    def add(self, test: str, uses: Iterable[Use]) -> None:
        """Enter what one trial of `test` did."""
        self.trials += 1
        for use in uses:
            account = self.operators.setdefault(use.operator, OperatorAccount(use.operator))
            account.trials[use.state] += 1
            account.reasons[use.state, use.reason] += 1
            account.divergence = account.divergence or use.divergence
            if use.state == "missing":
                account.tests[test] = None

    def take(self, other: GradientAccount) -> None:
        """Enter what another account holds."""
        self.trials += other.trials
        for name in ("refused", "broken", "spared", "skips", "died"):
            getattr(self, name).update(getattr(other, name))
        for operator, theirs in other.operators.items():
            account = self.operators.setdefault(operator, OperatorAccount(operator))
            account.trials += theirs.trials
            account.reasons += theirs.reasons
            account.divergence = account.divergence or theirs.divergence
            account.tests.update(theirs.tests)

    def of(self, state: GradientState) -> list[OperatorAccount]:
        """The accounts in one state, by name."""
        return sorted((one for one in self.operators.values() if one.state == state), key=lambda one: one.operator)
