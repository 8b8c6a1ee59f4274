"""Faults that are easily missed: each is found on either side, shrunk, attributed to the right side, and shown by
a script that reports nothing once the fault is repaired.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from autotest import Divergence, autotest, random_tensor, skip_grad_check, torch
from autotest.diagnosis import scripted_finding
from autotest.results.finding import Finding
from autotest.results.verification import State, Verification
from tests.support import subtle
from tests.support.subtle import CASES, Case

#: torch's warnings about empty modules, and about reading a gradient that is not kept.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Initializing zero-element tensors:UserWarning"),
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning"),
]


def name(case: Case) -> str:
    return case.fault.__name__


def caught(case: Case) -> Finding:
    with pytest.raises(Divergence) as raised:
        skip_grad_check(reason="planted faults")(autotest(**{"n": 3, **case.settings})(case.body))()
    return raised.value.finding


def status(script: str, folder: Path) -> int:
    """Return the exit status of `script`, run in this process, which has imported torch already."""
    file = folder / "repro.py"
    file.write_text(script, encoding="utf-8")
    try:
        runpy.run_path(str(file), run_name="__main__")
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def shown_until_repaired(finding: Finding, case: Case, folder: Path) -> None:
    assert status(finding.script, folder) == 1
    repaired = finding.script.replace(f"subtle.{name(case)}()", "subtle.none()")
    assert repaired != finding.script
    assert status(repaired, folder) == 0


@pytest.mark.parametrize("case", CASES, ids=name)
def test_a_subtle_fault_of_the_candidate(against, monkeypatch, tmp_path, case):
    monkeypatch.setenv("AUTOTEST_SHRINK", "5")
    against()
    skip_grad_check(reason="planted faults")(autotest(**{"n": 3, **case.settings})(case.body))()
    against(case.fault())
    finding = caught(case)
    assert finding.first.symptom == case.symptom
    assert finding.operator == case.operator or not case.operator
    assert finding.blame in case.blames
    shown_until_repaired(finding, case, tmp_path)
    if finding.first.symptom in ("shape", "dtype", "requires_grad", "exception"):
        assert len(finding.script.splitlines()) < 30


#: An exception of the reference only rejects a trial.
SEEN = [case for case in CASES if case.symptom != "exception"]


@pytest.mark.parametrize("case", SEEN, ids=name)
def test_a_subtle_fault_of_the_reference(against, tmp_path, case):
    against(reference=case.fault())
    finding = caught(case)
    assert finding.blame != "candidate"
    shown_until_repaired(finding, case, tmp_path)


def test_there_is_none_where_nothing_is_planted(against):
    against(subtle.none())
    for case in CASES:
        skip_grad_check(reason="planted faults")(autotest(**{"n": 1, **case.settings})(case.body))()


def test_what_one_side_alone_has_is_named(against):
    against(subtle.buffer_later())
    finding = caught(next(case for case in CASES if case.fault is subtle.buffer_later))
    assert "m0.calls: expected nothing of that name, actual a float32 tensor of shape (1,)" in finding.first.message


def test_what_only_the_references_module_has_is_told_once(against):
    against(subtle.renamed_parameter())
    finding = caught(next(case for case in CASES if case.fault is subtle.renamed_parameter))
    (only,) = finding.mismatches
    assert "expected ['bias', 'weight'], actual ['bias', 'kernel']" in only.message


def _in_this_process(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let findings be shrunk, and their scripts be verified in this process."""

    def verify(script, finding):
        return Verification(State.VERIFIED if status(script, folder) == 1 else State.MISSED)

    monkeypatch.setenv("AUTOTEST_VERIFY", "1")
    monkeypatch.setenv("AUTOTEST_SHRINK", "5")
    monkeypatch.setattr(scripted_finding, "verify", verify)


def test_what_only_the_whole_program_shows_is_told_of_by_it(against, monkeypatch, tmp_path):
    _in_this_process(monkeypatch, tmp_path)
    against(subtle.wrong_after_the_first_call())

    def body():
        x = random_tensor(shape=(2, 3), requires_grad=False)
        return torch.abs(x), torch.abs(x + 1)

    with pytest.raises(Divergence, match="Shrunk:     no: smaller programs do not show the difference") as raised:
        skip_grad_check(reason="planted faults")(autotest(n=3)(body))()
    assert raised.value.finding.verified.holds
    assert raised.value.finding.script.count("torch.abs(") == 2


def test_a_gradient_that_only_the_whole_program_shows_is_named_after_the_call_with_the_wrong_backward(
    against, monkeypatch, tmp_path
):
    _in_this_process(monkeypatch, tmp_path)
    against(subtle.gradient_wrong_after_the_first())

    def body():
        x = random_tensor(shape=(2, 3), low=-1, high=1)
        return torch.exp(x.clone()) + torch.exp(x.clone() + 1)

    with pytest.raises(Divergence, match="Shrunk:     no: smaller programs do not show the difference") as raised:
        autotest(n=3)(body)()
    assert raised.value.finding.verified.holds
    assert raised.value.finding.operator == "exp"
    assert re.search(r"torch\.exp\(v\d\)  # <-- first divergent call", str(raised.value))
