"""Programs that may kill the candidate run in another process, so that shrinking survives."""

from __future__ import annotations

import pytest

from autotest.diagnosis.shrinking import probing
from autotest.diagnosis.shrinking.probing import Ending, scout
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import Program
from tests.diagnosis.test_crashes import dying
from tests.support import faults


@pytest.fixture
def fragile(monkeypatch: pytest.MonkeyPatch, importable_elsewhere: None) -> Pair:
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.faults:dies_of_nothing")
    candidate = faults.dies_of_nothing()
    candidate.fragile = True
    return Pair(TorchFramework(), candidate, names=("torch", "tests.support.faults:dies_of_nothing"))


@pytest.mark.slow
def test_a_program_that_would_kill_this_process_is_found_out_elsewhere(fragile: Pair) -> None:
    with scout(fragile, dying(2)) as survives:
        assert survives(dying(2))
        assert not survives(dying(0))
        assert survives(dying(2)), "one death must not end the asking"


def test_a_framework_that_does_not_die_is_not_asked() -> None:
    with scout(Pair(TorchFramework(), TorchFramework()), Program((), ())) as survives:
        assert survives(Program((), ()))


def test_a_new_process_has_started_before_shrinking_begins(fragile: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Program] = []

    class Started:
        def __init__(self, *args: object, **kwargs: object) -> None:
            pass

        def run(self, program: Program, deadline: float | None = None) -> Ending:
            tried.append(program)
            return Ending("", accepted=True)

        def close(self) -> None:
            pass

    for name in ("Server", "Probe"):
        monkeypatch.setattr(probing, name, Started)
    fragile.candidate.forkable = False
    survived = dying(2)
    with scout(fragile, survived):
        assert [program is survived for program in tried] == [True]
