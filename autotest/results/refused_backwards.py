"""Counts the trials of a test whose backward the reference refuses, so that a test that never compares one fails."""

from __future__ import annotations

import collections
import dataclasses

from autotest.base.plural import several
from autotest.comparison.rejection import Rejection


@dataclasses.dataclass(slots=True)
class RefusedBackwards:
    """How many trials of a test compared gradients, and why the others did not."""

    #: Reason -> number of trials whose forward was compared, and whose backward, which the trial adds, was refused.
    reasons: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Number of accepted trials that compared gradients, and in which the plan left out none.
    compared: int = 0

    def add_rejection(self, rejection: Rejection) -> None:
        """Count a rejected trial, if it was rejected for its backward, and the body did not ask for that."""
        if rejection.target in ("backward", "autograd.backward") and not rejection.place:
            self.reasons[rejection.reason] += 1

    def add(self, other: RefusedBackwards) -> None:
        """Add the counts of other trials."""
        self.reasons += other.reasons
        self.compared += other.compared

    @property
    def complaint(self) -> str:
        """The message about a test in which the reference refused each backward with gradients of all inputs, or ""."""
        if self.compared or not self.reasons:
            return ""
        (reason, _), *_ = self.reasons.most_common(1)
        return (
            "gradients were compared in no trial in which all inputs require grad: the reference refused the backward "
            f"of {several(self.reasons.total(), 'trial')}, with {reason.rstrip('.')}. Pass arguments whose gradients "
            "it computes, write requires_grad=False for the others, or mark the test @skip_grad_check(reason=...)."
        )


__all__ = ["RefusedBackwards"]
