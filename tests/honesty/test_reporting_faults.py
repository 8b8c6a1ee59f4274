"""Faults of reports and reproducers (24, 25 and 27): reports must be true, complete and usable."""

from __future__ import annotations

import re

import numpy as np
import pytest

from autotest import Divergence, autotest, random, random_tensor, torch
from autotest.diagnosis.verification import run_script
from tests.support import faults
from tests.support.bodies import relu
from tests.support.faulty import FaultyTorch, plus, returning, with_gradient


def failing(body, **settings):
    with pytest.raises(Divergence) as raised:
        autotest(**{"n": 3, **settings})(body)()
    return raised.value


@pytest.mark.slow
@pytest.mark.usefixtures("importable_elsewhere", "warm")
@pytest.mark.parametrize("fault", [faults.wrong_relu, faults.wrong_relu_gradient])
def test_the_reproducer_runs_and_shows_it(against, quick, monkeypatch, fault):
    monkeypatch.setenv("AUTOTEST_VERIFY", "1")
    against(fault())
    raised = failing(relu)
    assert raised.finding.verified.holds
    (script,) = quick.rglob("repro.py")
    text = script.read_text()
    assert "autotest" not in "".join(line for line in text.splitlines() if line.startswith(("import", "from")))
    status, output = run_script(text)
    assert status == 1, output
    # Once the fault is repaired, the exit status says so.
    status, output = run_script(text.replace(f"faults.{fault.__name__}()", "faults.none()"))
    assert status == 0, output


@pytest.mark.usefixtures("importable_elsewhere", "warm")
def test_a_script_that_does_not_reproduce_says_so(against, monkeypatch):
    monkeypatch.setenv("AUTOTEST_VERIFY", "1")
    monkeypatch.delenv("TESTS_FAULT_HOME", raising=False)
    fault = faults.wrong_in_this_process()
    monkeypatch.setenv("TESTS_FAULT_HOME", "another")
    against(fault)
    raised = failing(relu)
    assert str(raised.finding.verified).startswith("DOES NOT REPRODUCE")
    assert "DOES NOT REPRODUCE" in str(raised)


def test_an_unverified_script_does_not_claim_to_be(against):
    against(faults.wrong_relu())
    assert "(not verified)" in str(failing(relu))


def test_the_report_has_position_count_and_maximum(against):
    def wrong(result):
        result = result.clone()
        result[1, 2] += 0.5
        result[0, 1] += 0.25
        return result

    against(FaultyTorch({"relu": returning(wrong)}))
    text = str(failing(relu))
    assert "Mismatched 2 / 6 (33.3%)" in text
    assert "Greatest absolute difference 0.5 at (1, 2)" in text
    assert "allowed" in text
    assert len(text) < 4000


def test_the_script_holds_every_number_exactly(against, quick):
    against(faults.wrong_relu())
    finding = failing(lambda: torch.relu(random_tensor(shape=(3,), low=0.1, high=0.3))).finding
    (script,) = quick.rglob("repro.py")
    written = {np.float32(number) for number in re.findall(r"\d+\.\d+(?:e-?\d+)?", script.read_text())}
    assert set(finding.program.arrays[0].data.ravel()) <= written


def test_the_first_failure_hides_no_other(caught):
    def body():
        return torch.relu(random_tensor(shape=(2,))), torch.exp(random_tensor(shape=(3,))), torch.sin(random_tensor())

    wrong = {"relu": plus(1.0), "exp": returning(lambda y: y[:1]), "sin": with_gradient(lambda gradient: gradient * 3)}
    raised = caught(body, FaultyTorch(wrong), auto_backward=False)
    symptoms = [mismatch.symptom for mismatch in raised.finding.mismatches]
    assert symptoms == ["value", "shape"]
    raised = caught(body, FaultyTorch({**wrong, "exp": plus(1.0)}))
    assert [mismatch.symptom for mismatch in raised.finding.mismatches] == ["value", "value", "gradient"]
    for mismatch in raised.finding.mismatches:
        told = re.split(r"[:.]", mismatch.message)[0]
        assert told in str(raised)


def test_a_divergence_of_infinities_is_told(caught):
    raised = caught(relu, FaultyTorch({"relu": returning(lambda y: y / 0.0)}), "value")
    assert "inf" in str(raised).lower()


def test_the_replay_line_brings_back_that_very_trial(against, monkeypatch, tmp_path):
    ran = []

    def body():
        ran.append(random(0, 100).to(int).value())
        return torch.relu(torch.ones(2)) if ran[-1] < 10 else torch.ones(2)

    against(faults.wrong_relu())
    monkeypatch.setenv("AUTOTEST_SEED", "3")
    text = str(failing(body, n=200))
    drawn = ran[-1]
    line = next(line for line in text.splitlines() if "AUTOTEST_TRIAL=" in line)
    for setting in line.split():
        if setting.startswith("AUTOTEST_"):
            monkeypatch.setenv(*setting.split("=", 1))
    monkeypatch.setenv("AUTOTEST_DIR", str(tmp_path / "empty"))
    ran.clear()
    failing(body, n=200)
    assert ran[0] == drawn


@pytest.mark.parametrize("seed", range(3))
def test_shrinking_keeps_to_the_failure(against, monkeypatch, seed):
    def body():
        x = random_tensor(ndim=2, low=1, high=2)
        y = torch.exp(x) + 1
        return torch.relu(y).sum(), torch.sin(x)

    # sin is wrong for every input, and relu only for large ones. Shrinking must keep to the fault that was found.
    against(
        FaultyTorch(
            {"relu": lambda relu: lambda x: relu(x) + 2.0 * (x.numel() > 3), "sin": with_gradient(lambda g: 2 * g)}
        )
    )
    monkeypatch.setenv("AUTOTEST_SEED", str(seed))
    whole = failing(body, n=20).finding
    monkeypatch.setenv("AUTOTEST_SHRINK", "3")
    shrunk = failing(body, n=20).finding
    assert (shrunk.operator, shrunk.first.symptom) == (whole.operator, whole.first.symptom)
    assert len(shrunk.program.calls) <= len(whole.program.calls)


def test_a_report_survives_a_test_that_cannot_be_replayed(against):
    def body():
        return torch.relu(torch.ones(2).apply_(lambda value: value + 1))

    against(faults.wrong_relu())
    raised = failing(body)
    assert "not close" in str(raised)
    assert raised.finding.script is None
    assert "cannot be replayed" in str(raised)
    assert raised.finding.operator == raised.finding.identity.operator == "relu"
