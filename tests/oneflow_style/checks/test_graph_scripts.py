"""A difference of a graph has a script that does not need this library, and shows the difference."""

from __future__ import annotations

from typing import Any

import pytest

from autotest.replaying import graph_check
from autotest.diagnosis.graph_finding import script_of
from autotest.diagnosis.verification import run_script
from autotest.emission.checker import ONCE, Runs
from autotest.emission.graph_script import ComparedResult
from autotest.results.divergence import Divergence
from autotest.oneflow import autotest, random_tensor, torch
from autotest.oneflow.framework_pair import style_pair
from autotest.base.settings import Settings
from autotest.replaying.graph_capture import divide
from autotest.trials.trial import run_trial


#: Each imports both frameworks in a new interpreter.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("warm")]


def test_a_call_that_graphs_refuse_is_shrunk_and_its_script_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOTEST_SHRINK", "3")

    @autotest(n=2, auto_backward=False)
    def emptied(case: object) -> object:
        x = random_tensor(2, 3, 4, requires_grad=False)
        y = torch.exp(x) + 1
        y.zero_()  # in OneFlow 0.9.0 for eager tensors only
        return y * 2

    with pytest.raises(Divergence) as raised:
        emptied(None)
    finding = raised.value.finding
    assert finding is not None
    assert finding.first.symptom == "graph"
    assert str(finding.verified) == "verified in a fresh interpreter"
    assert "autotest" not in (finding.script or "").replace(finding.test, "").replace("test_graph_scripts", "")
    assert finding.program is not None
    assert len(finding.program.calls) == 2


def layers() -> Any:
    m = torch.nn.Linear(4, 3)
    m.train()
    x = random_tensor(2, 2, 4)
    first, second = torch.split(m(x), (1, 1))
    return first.tanh() * x.shape[0], second


@pytest.fixture(scope="module")
def script() -> str:
    """Of a program that a graph does as eager mode does: modules, gradients, several results pushed into."""
    pair = style_pair()
    settings = Settings(n=1)
    divided = divide(run_trial(layers, 1, settings, pair).recorder)
    compared = [ComparedResult(name, *settings.tolerance.of(dtype)) for name, dtype in graph_check.results(divided)]
    assert sum(one.name.endswith(".grad") for one in compared) == 3
    return script_of(divided, compared, "Nothing.", ())


def test_a_script_exits_0_where_the_modes_agree(script: str) -> None:
    status, output = run_script(script)
    assert (status, output.splitlines()[-1]) == (0, "same")


def test_a_script_exits_1_where_they_differ_and_names_each_result(script: str) -> None:
    status, output = run_script(script.replace("return [result for", "return [result * 2 for"))
    assert status == 1, output
    assert "x0.grad:" in output
    assert "m0.weight.grad:" in output


@pytest.mark.parametrize("runs", [ONCE, Runs(2, 3)], ids=["once", "often"])
def test_a_script_about_a_death_exits_1_while_the_graph_kills_and_0_when_it_does_not(runs: Runs) -> None:
    pair = style_pair()
    divided = divide(run_trial(layers, 1, Settings(n=1), pair).recorder)
    compared = [ComparedResult(name, 0.0, 0.0) for name, _ in graph_check.results(divided)]
    lives = script_of(divided, compared, "Nothing.", (), runs)
    dies = lives.replace("results = [*program(", "os.abort()\n        results = [*program(")
    said = [run_script(script) for script in (lives, dies)]
    assert [status for status, _ in said] == [0, 1], said
