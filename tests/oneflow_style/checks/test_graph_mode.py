"""Any difference between a graph and eager mode fails the test, and an equal graph passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import autotest as at
from autotest.frameworks import Framework, Pair, oneflow_graph
from autotest.replaying import graph_check
from autotest.frameworks.requests import Build, Given, Graphed
from autotest.oneflow import random_tensor, torch
from autotest.oneflow.framework_pair import style_pair
from autotest.base.settings import Settings
from autotest.trials.trial import run_trial

SETTINGS = Settings(n=3, rtol=1e-4, atol=1e-5, check_graph=True)


def checked(
    body: Callable[[], Any], monkeypatch: pytest.MonkeyPatch | None = None, change: Any = None
) -> graph_check.GraphReport:
    """Return the result of the graph check for three trials of `body`; `change` is applied to the graphs' results."""
    pair: Pair = style_pair()
    if change is not None:
        assert monkeypatch is not None
        kind = type(pair.candidate)
        run = kind.run_in_graph
        monkeypatch.setattr(kind, "run_in_graph", lambda self, *given: [*map(change, run(self, *given))])
    outcomes = [run_trial(body, seed, SETTINGS, pair) for seed in range(3)]
    assert all(not outcome.mismatches and outcome.rejection is None for outcome in outcomes)
    return graph_check.check([outcome.recorder for outcome in outcomes], SETTINGS)


def linear() -> Any:
    return torch.nn.Linear(4, 3)(random_tensor(2, dim1=4)).tanh()


def test_values_gradients_and_parameters_agree() -> None:
    report = checked(linear)
    assert report.mismatches == [[], [], []]
    # Three programs have two results each, and gradients of input, weight and bias.
    assert report.compared == 3 * (2 + 3)


def test_expanded_arguments_get_memory_of_their_own_which_a_graph_reads_and_writes_beyond() -> None:
    def body() -> Any:
        return torch.relu(at.random_tensor(shape=(4, 5), low=1, high=2, dtype="float32", layout="expanded")) * 2

    given: list[Any] = []
    run = oneflow_graph._arguments

    def noted(call: Given) -> list[Any]:
        given.extend(run(call))
        return run(call)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(oneflow_graph, "_arguments", noted)
        assert checked(body).mismatches == [[], [], []]
    assert given
    assert all(tensor.is_contiguous() for tensor in given)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda made: made._replace(outputs=[item + 1 for item in made.outputs]), "not close"),
        (lambda made: made._replace(outputs=[item.reshape(-1) for item in made.outputs]), "shape"),
        (lambda made: made._replace(outputs=[item.double() for item in made.outputs]), "dtype"),
        (lambda made: made._replace(leaves=[item * 2 for item in made.leaves]), ".grad: not close"),
        (lambda made: made._replace(trained=[item * 2 for item in made.trained]), "weight.grad: not close"),
    ],
    ids=["value", "shape", "dtype", "gradient", "gradient of a parameter"],
)
def test_a_planted_difference_is_found(
    change: Callable[[Graphed], Graphed], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = checked(linear, monkeypatch, change)
    found = [mismatch for mismatches in report.mismatches for mismatch in mismatches]
    assert found
    assert {mismatch.symptom for mismatch in found} == {"graph"}
    assert any(said in mismatch.message for mismatch in found)


def test_a_graph_that_cannot_be_built_is_a_finding_named_after_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Framework, build: Build, calls: Sequence[Given]) -> list[Graphed]:
        build(calls[0].inputs, calls[0].leaves, calls[0].modules)
        raise RuntimeError("no kernel for it")

    monkeypatch.setattr(type(style_pair().candidate), "run_in_graph", refuse)
    report = checked(lambda: torch.exp(random_tensor(2, requires_grad=False)))
    message = report.mismatches[0][0].message
    assert message.startswith("exp: oneflow accepts it in eager mode, nn.Graph raised RuntimeError: no kernel for it")


def test_what_a_graph_cannot_hold_is_left_out_with_its_reason(tmp_path: Path) -> None:
    def on_the_host() -> Any:
        x = random_tensor(2, 3, 4)
        return x * x.sum().item()

    def in_a_context() -> Any:
        with torch.no_grad():
            return random_tensor(2, 3, 4) * 2

    def changing() -> Any:
        m = torch.nn.BatchNorm1d(3)
        y = m(random_tensor(2, 4, 3))
        m.eval()
        return m(y)

    def stepping() -> Any:
        m = torch.nn.Linear(4, 2)
        optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
        m(random_tensor(2, 3, 4)).sum().backward()
        optimizer.step()
        return m(random_tensor(2, 3, 4))

    def assigning() -> Any:
        y = random_tensor(2, 3, 4) * 2
        y[1] = 0.5
        return y

    def moving_parameters() -> Any:
        m = torch.nn.Linear(4, 2)
        m(random_tensor(2, 3, 4)).sum().backward()
        with torch.no_grad():
            m.weight -= 0.1 * m.weight.grad
        return m(random_tensor(2, 3, 4))

    def loading() -> Any:
        x = random_tensor(2, 3, 4, requires_grad=False)
        torch.save(x, tmp_path / "saved")
        return x + torch.load(tmp_path / "saved")

    assert checked(moving_parameters).left_out == {"gradients as values": 3}
    assert checked(loading).left_out == {"files": 3}
    assert checked(assigning).left_out == {"assignments to items": 3}
    assert checked(changing).left_out == {"modules that change between their calls": 3}
    assert checked(stepping).left_out == {"steps of optimizers": 3}
    assert checked(on_the_host).left_out == {"values on the host": 3}
    assert checked(in_a_context).left_out == {"context managers": 3}


def test_a_parameter_that_no_module_holds_is_a_leaf() -> None:
    report = checked(lambda: torch.nn.Parameter(random_tensor(2, 3, 4, requires_grad=False)) * 2)
    assert report.mismatches == [[], [], []]
    assert not report.left_out
    assert report.compared == 3 * 2


def test_calls_in_place_are_built_too() -> None:
    def body() -> Any:
        y = random_tensor(2, 3, 4) + 1
        y.mul_(2)
        y += 1
        return torch.nn.functional.relu(y, inplace=True)

    report = checked(body)
    assert report.mismatches == [[], [], []]
    assert report.compared > 0
    assert not report.left_out


def test_tensors_without_elements_do_not_kill_the_process() -> None:
    report = checked(lambda: random_tensor(2, 0, 3) + random_tensor(2, 1, 3))
    assert report.mismatches == [[], [], []]
    assert report.compared > 3


def test_a_weight_that_a_module_computes_is_that_of_its_own_trial() -> None:
    def normalised() -> Any:
        layer = torch.nn.utils.weight_norm(torch.nn.Linear(4, 2))
        return layer(random_tensor(2, 3, 4, requires_grad=False)).detach()

    assert checked(normalised).mismatches == [[], [], []]


@at.autotest(n=1, check_graph=True, candidate="oneflow")
def test_a_normalised_weight_in_a_graph() -> Any:
    """As the ledger of this folder expects: no hook is called there, so that the weight is not computed anew."""
    layer = at.torch.nn.utils.weight_norm(at.torch.nn.Linear(4, 2))
    with at.torch.no_grad():
        layer.weight_g.mul_(2)
    return layer(at.random_tensor(shape=(3, 4), low=1, high=2))
