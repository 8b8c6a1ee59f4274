"""What one program showed, check by check."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from autotest.program import Program
from autotest.results.accuracy import Accuracy
from autotest.results.sweep import Check


class FailedCheck(NamedTuple):
    """One check that failed."""

    check: Check
    #: What differs, without what changes from sample to sample.
    key: str
    message: str
    program: Program


@dataclasses.dataclass(slots=True)
class SampleJudgement:
    """What one program showed."""

    program: Program
    #: Why there was nothing to judge, because the candidate lacks what it calls; empty if it has all.
    absent: str = ""
    #: The name of torch's that it lacks; empty where it is no name.
    lacks: str = ""
    #: Why there is no judgement although both sides ran; empty if there is one.
    left_out: str = ""
    #: Whether the reference refused it.
    refused: bool = False
    #: Whether the candidate refused what the reference accepts.
    failed: bool = False
    #: Whether the reference's results are empty or undefined.
    vacuous: bool = False
    rounded: bool = False
    #: How far both sides are from double precision; None where it was not measured.
    accuracy: Accuracy | None = None
    checks: dict[Check, bool] = dataclasses.field(default_factory=dict)
    failures: list[FailedCheck] = dataclasses.field(default_factory=list)

    def fail(self, check: Check, key: str, message: str, program: Program | None = None) -> None:
        """Note that `check` failed, shown by the judged program unless it is another."""
        self.checks[check] = False
        self.failures.append(FailedCheck(check, key, message, program or self.program))
