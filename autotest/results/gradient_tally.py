"""Counts the trials of a test that compared gradients, so that a test that never does so fails."""

from __future__ import annotations

import collections
import dataclasses

from autotest.base.plural import several
from autotest.comparison.rejection import Rejection, is_absence


@dataclasses.dataclass(slots=True)
class GradientTally:
    """How many trials of a test compared gradients, and why the others did not."""

    #: The argument with which the test asks for a further check of gradients, such as ``grad_order=2``; "" if none.
    asked: str = ""
    #: Number of accepted trials that compared gradients, and in which the plan left out none.
    compared: int = 0
    #: Number of trials that agreed and compared none.
    without: int = 0
    #: Reason -> number of trials whose forward was compared, and whose backward, which the trial adds, was refused.
    refused: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)

    def add_accepted(self, gradients: int, *, agrees: bool) -> None:
        """Count an accepted trial in which the plan left out no gradient.

        Args:
            gradients: number of gradients that it compared.
            agrees: whether the two sides agree; otherwise a known difference may have ended the trial early.
        """
        self.compared += bool(gradients)
        self.without += agrees and not gradients

    def add_rejection(self, rejection: Rejection) -> None:
        """Count a rejected trial, if it was rejected for its backward, and the body did not ask for that."""
        if rejection.target in ("backward", "autograd.backward") and not rejection.place:
            self.refused[rejection.reason] += 1

    def add(self, other: GradientTally) -> None:
        """Add the counts of other trials of the test."""
        self.asked = self.asked or other.asked
        self.compared += other.compared
        self.without += other.without
        self.refused += other.refused

    @property
    def complaint(self) -> str:
        """The message about a test that compared no gradients in all of its trials, although it has to; else ""."""
        if self.compared:
            return ""
        if self.refused:
            (reason, _), *_ = self.refused.most_common(1)
            trials = several(self.refused.total(), "trial")
            if is_absence(reason):
                why = f"{reason.split(': ', 2)[2]}, which the backward of {trials} needs. Add it to the adapter"
            else:
                why = (
                    f"the reference refused the backward of {trials}, with {reason.rstrip('.')}. Pass arguments whose "
                    "gradients it computes"
                )
            return (
                f"gradients were compared in no trial in which all inputs require grad: {why}, write "
                "requires_grad=False for the others, or mark the test @skip_grad_check(reason=...)."
            )
        if self.asked and self.without:
            return (
                f"{self.asked} checked nothing, because none of {several(self.without, 'trial')} had a gradient to "
                "compare. Let an input require grad and return a result that depends on it, leave out "
                f"{self.asked}, or mark the test @skip_grad_check(reason=...)."
            )
        return ""
