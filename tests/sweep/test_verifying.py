"""The scripts of a sweep's findings: what a script says counts, however soon its process ends afterwards."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest

from autotest.processes.client import ServerLost
from autotest.program import Program
from autotest.results.sweep_findings import SweepFinding
from autotest.results.verification import State
from autotest.sweeping.verifying import RunningScript


class Ending:
    """A process that ends between two looks at it, after it has sent `answer`."""

    def __init__(self, answer: Sequence[Any], *, lost: bool = False) -> None:
        self._answer, self._lost = answer, lost
        self._looks = 0
        self.connection = self

    def poll(self) -> bool:
        self._looks += 1
        return self._looks > 1

    def status(self) -> int:
        self._looks += 1
        if self._lost:
            raise ServerLost("the process server ended")
        return 0

    def recv(self) -> Sequence[Any]:
        if not self._answer:
            raise EOFError
        return self._answer


@pytest.mark.parametrize(
    ("process", "state"),
    [
        (Ending((1, "DIFFERS: 1, not 2")), State.VERIFIED),
        (Ending((0, "same")), State.MISSED),
        (Ending((1, "DIFFERS: 1, not 2"), lost=True), State.VERIFIED),
        (Ending(()), State.UNCLEAR),
    ],
    ids=["differs", "same", "without its server", "dies"],
)
def test_an_answer_counts_although_its_process_has_ended_when_it_is_asked(process: Any, state: State) -> None:
    finding = SweepFinding(1, "relu", "value", "key", "differs", "sample 1", [], 1, 1, Program((), ()), script="...")
    verified = RunningScript(finding, process, time.monotonic()).outcome()
    assert verified is not None
    assert verified.state is state
