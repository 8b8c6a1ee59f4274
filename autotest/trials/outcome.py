"""The result of one trial."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import generators
from autotest.comparison import Mismatch
from autotest.comparison.rejection import Rejection
from autotest.program import Program
from autotest.recording.observation import Observed, observe
from autotest.recording.recorder import Recorder
from autotest.results.ledger import LedgerEntry
from autotest.results.zeros_tally import ZerosTally

if TYPE_CHECKING:
    from autotest.replaying.operator_of_mismatch import MismatchNames
    from autotest.replaying.updates import Update, Updates


@dataclasses.dataclass(slots=True)
class Outcome:
    """The result of one trial."""

    seed: int
    recorder: Recorder
    choices: Sequence[generators.Choice]
    #: The features that the trial covered among those that the test leaves open, see `generators.plan`.
    features: Mapping[Any, int] = dataclasses.field(default_factory=dict)
    mismatches: list[Mismatch] = dataclasses.field(default_factory=list)
    rejection: Rejection | None = None
    #: Whether the reference refused the body, and not only the backward that the trial adds. It is known before the
    #: comparison, and the order of later trials depends on it.
    refused_body: bool = False
    compared: int = 0
    gradients: int = 0
    #: Number of input/output pairs whose gradients were checked by finite differences, on both sides together.
    numeric_pairs: int = 0
    #: Inputs of that check with fewer than a hundred elements, because no larger ones are accepted.
    too_small_inputs: list[str] = dataclasses.field(default_factory=list)
    #: Whether the plan chose that some tensors require no grad. The gate does not judge such a trial.
    leaves_out_gradients: bool = False
    #: Complaint of the gradient gate about this trial, or "" if it may pass.
    complaint: str = ""
    #: The comparisons that zeros would pass; None unless the test gives a wide tolerance.
    zeros: ZerosTally | None = None
    #: The values to compare, or None once they are compared.
    pending: Observed | None = None
    #: If the recorded program does not show the mismatches: one that does, with the mismatches that the ledger expects
    #: corrected, or with what was drawn as inputs; and the differences that are not compared in it.
    repaired_program: Program | None = None
    ignored_differences: tuple[str, ...] = ()
    #: The ledger entries that were matched during this correction, in order.
    further_expected: list[LedgerEntry] = dataclasses.field(default_factory=list)
    #: The operators that name its mismatches, with the value of `repaired_program` to which they belong. They are kept
    #: because they are asked for several times, and each may take replays.
    names: tuple[Program | None, MismatchNames] | None = None
    #: Result of the comparison of its optimizers with the reference's, if it was made.
    updates: Updates | None = None

    @property
    def program(self) -> Program:
        """The program that shows the mismatches. Raises `NotReplayable` if it contains something that is not data."""
        return self.recorder.program() if self.repaired_program is None else self.repaired_program

    @property
    def shown(self) -> Program:
        """The same program, also if it contains something that is not data; it names the mismatches."""
        return self.recorder.snapshot() if self.repaired_program is None else self.repaired_program

    @property
    def update(self) -> Update | None:
        """The optimizer step that differs for equal gradients, or None if no such step was found."""
        return None if self.updates is None else self.updates.wrong


def uncompared_outcome(
    seed: int, recorder: Recorder, choices: Sequence[generators.Choice], features: Mapping[Any, int]
) -> Outcome:
    """Return the outcome of a finished trial that is not compared yet."""
    observed = observe(recorder)
    return Outcome(
        seed,
        recorder,
        choices,
        features,
        compared=observed.compared + recorder.refused,
        gradients=observed.gradients,
        pending=observed,
    )
