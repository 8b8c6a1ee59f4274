"""A death in a backward is named after the operator whose backward kills, not after the last operator before it."""

from __future__ import annotations

import signal

import numpy as np
import pytest

from autotest.diagnosis.shrinking.probing import Ending, ProbeOptions
from autotest.processes.client import Server
from autotest.processes.endings import ProcessDeath, death_from_status
from autotest.program import Array, Call, Captured, Program, Ref
from autotest.results.identity import Identity
from autotest.results.tasks import Conditions, DiagnoseDeath, Where
from autotest.running.deaths import deadly_backward, death_finding
from autotest.running.deaths.deadly_backward import deadly_operator
from autotest.running.deaths.tracing import TracedTrial
from autotest.storage.store import Store

CALLS = (
    Call("tensor", "float32", (Captured(0),), {"requires_grad": True, "device": "cpu"}, 0),
    *(Call("function", name, (Ref(at),), {}, at + 1) for at, name in enumerate(("exp", "cos", "sin", "tanh", "sum"))),
    Call("function", "relu", (Ref(0),), {}, 6),
    Call("method", "backward", (Ref(5),), {}, 7),
)
DIES = Program(CALLS, (Array(np.ones(2, np.float32), "float32"),))
SUITE = """
from autotest import autotest, random_tensor, torch


@autotest(n=5)
def test_it():
    return torch.cos(random_tensor(2))
"""


@pytest.fixture
def killing(monkeypatch):
    """Return ``killing(operator)``, which makes each program die that has a backward through `operator`."""

    def kill(operator):
        class Dying:
            def __init__(self, *given):
                pass

            def run(self, program):
                assert program.calls[-1].target == "autograd.backward"
                kills = any(call.target == operator for call in program.calls)
                return Ending(ProcessDeath("crash", "SIGABRT") if kills else None, True)

            def close(self):
                pass

        monkeypatch.setattr(deadly_backward, "Probe", Dying)

    return kill


@pytest.mark.parametrize("operator", ["exp", "cos", "sin", "tanh", "sum"])
def test_it_is_the_first_from_whose_result_a_backward_kills(operator, killing):
    killing(operator)
    assert deadly_operator(DIES, ProbeOptions(), Server()) == operator


def test_it_is_the_last_one_if_no_other_backward_kills_again(killing):
    killing("none of them")
    assert deadly_operator(DIES, ProbeOptions(), Server()) == "sum"


def test_the_finding_has_its_name(killing, tmp_path, monkeypatch, against):
    killing("cos")
    against()
    (tmp_path / "pyproject.toml").write_text("")
    file = tmp_path / "test_it.py"
    file.write_text(SUITE)
    traced = TracedTrial(death_from_status(-signal.SIGABRT), DIES, "")
    monkeypatch.setattr(death_finding, "trace", lambda *place, **more: traced)
    left = Identity("sum", "crash", "backward", "candidate", "SIGABRT", "")
    task = DiagnoseDeath(Where(file, "test_it.py::test_it", 0), 3, left, "sum: dies", thorough=True, shrink=False)
    found = death_finding.diagnose(task, Conditions(tmp_path / "kept"), Server())
    assert Store(tmp_path / "kept").load(found.identity.key).finding.operator == "cos"
    assert (found.identity.operator, found.identity.stage) == ("cos", "backward")
    assert found.message.startswith("cos: torch dies (SIGABRT)")
