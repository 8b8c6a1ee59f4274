"""An exception in a fork that would be a death in a new interpreter is reported as this death."""

from __future__ import annotations

import os

import pytest

from autotest import random_tensor, torch
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis import death_elsewhere, scripted_finding
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.results.verification import State, Verification
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.trial import run_trial
from tests.support.dying_elsewhere import RAISES_IN, sinh

DIED = "what():  less memory than needed\nDIFFERS: faulty ends with status -6 (a negative one is the signal)\n"


def body():
    return torch.sinh(torch.exp(random_tensor(2, 3, 4, requires_grad=False)))


@pytest.fixture
def finding(monkeypatch):
    """Return ``finding(seconds)``: the finding of a body in which the candidate raises here, shrunk for that time."""
    monkeypatch.setenv(RAISES_IN, str(os.getpid()))
    pair, settings = Pair(TorchFramework(), sinh()), Settings(auto_backward=False)

    def found(seconds=0.0):
        outcome = run_trial(body, 0, settings, pair)
        assert [item.symptom for item in outcome.mismatches] == ["exception"]
        trial = FailedTrial(ATest("test_a.py::test_b", body, settings), outcome, pair)
        return trial.diagnosed(RunContext(pair, Options(shrink=seconds, verify=True)), 0)

    return found


@pytest.fixture
def said(monkeypatch):
    """Prepare the results of scripts in new interpreters; `asked` collects the scripts."""
    says, asked = [], []

    def verify(script, finding):
        asked.append(script)
        return Verification(says.pop(0) if len(says) > 1 else says[0])

    monkeypatch.setattr(scripted_finding, "verify", verify)
    return says, asked


def test_what_a_fresh_interpreter_dies_of_is_a_death(finding, said, monkeypatch):
    said[0][:] = [State.DIED]
    monkeypatch.setattr(death_elsewhere, "run_script", lambda script: (1, DIED))
    found = finding()
    assert (found.first.symptom, found.identity.symptom, found.verified.holds) == ("crash", "crash", True)
    assert found.first.message.startswith("sinh: faulty dies (SIGABRT): what():  less memory than needed")
    assert "faulty raised RuntimeError: less memory" in found.first.message
    assert found.verdict == ("faulty: crash; torch returns a result",)
    assert "subprocess.run(" in found.script


@pytest.mark.parametrize("ended", [(0, "same"), (2, "cannot tell"), (1, "DIFFERS: in another way"), (-11, "")])
def test_what_the_candidate_survives_in_a_process_of_its_own_is_none(finding, said, monkeypatch, ended):
    said[0][:] = [State.DIED]
    monkeypatch.setattr(death_elsewhere, "run_script", lambda script: ended)
    found = finding()
    assert (found.first.symptom, found.verified.state) == ("exception", State.DIED)


def test_a_script_that_shows_nothing_gives_way_to_one_whose_tensors_have_no_more_memory_than_the_trials(finding, said):
    said[0][:] = [State.MISSED, State.VERIFIED]
    found = finding()
    assert found.verified.holds
    first, second = said[1]
    assert "torch.tensor(" in first
    assert "torch.from_numpy(" in second
    assert found.script == second


def test_where_neither_shows_it_the_plain_script_stays(finding, said):
    said[0][:] = [State.MISSED]
    found = finding()
    assert found.verified.state is State.MISSED
    assert "torch.tensor(" in found.script


@pytest.mark.slow
@pytest.mark.usefixtures("importable_elsewhere")
def test_a_fresh_interpreter_is_asked(finding):
    found = finding(1.0)
    assert (found.first.symptom, str(found.verified)) == ("crash", "verified in a fresh interpreter")
    assert "dies (SIGABRT)" in found.first.message
