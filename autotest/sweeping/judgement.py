"""The outcome of one program, check by check."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from autotest.program import Program
from autotest.results.accuracy import Accuracy
from autotest.results.sweep import Check


class FailedCheck(NamedTuple):
    """One check that failed."""

    check: Check
    #: The difference, without details that change from sample to sample.
    key: str
    message: str
    program: Program


@dataclasses.dataclass(slots=True)
class SampleJudgement:
    """The outcome of one program."""

    program: Program
    #: Why nothing could be judged, if the candidate lacks something the program calls; empty otherwise.
    absent: str = ""
    #: The torch name that the candidate lacks; empty if the absence has no name, such as a dtype.
    lacks: str = ""
    #: Why there is no judgement although the reference ran; empty if there is one.
    left_out: str = ""
    #: Whether the reference refused the program.
    refused: bool = False
    #: Whether the candidate refused a program that the reference accepts.
    failed: bool = False
    #: Whether the reference's results are empty or undefined.
    vacuous: bool = False
    rounded: bool = False
    #: The errors of both sides against double precision; None if they were not measured.
    accuracy: Accuracy | None = None
    checks: dict[Check, bool] = dataclasses.field(default_factory=dict)
    failures: list[FailedCheck] = dataclasses.field(default_factory=list)

    def fail(self, check: Check, key: str, message: str, program: Program | None = None) -> None:
        """Record that `check` failed; `program` shows the failure if it is not the judged program."""
        self.checks[check] = False
        self.failures.append(FailedCheck(check, key, message, program or self.program))
