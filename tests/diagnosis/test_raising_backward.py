"""An exception in a backward is named after the call whose backward raises, wherever that call is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import autotest as at
from autotest import torch as dual
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.frameworks import Framework
from autotest.program import operator_of
from autotest.results.identity import Identity
from autotest.results.ledger import Ledger, LedgerEntry
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.judgement import Expected, Judgement, identity_of_trial, judge
from tests.support.faulty import FaultyTorch, Replacement, with_gradient
from tests.support.running import trial

CHAIN = ("tanh", "sin", "exp", "cumsum", "sigmoid", "softmax")


def refused(gradient: Any) -> Any:
    raise RuntimeError(f"planted: no gradient of shape {tuple(gradient.shape)}")


def refused_if(condition: Callable[[Any], bool]) -> Replacement:
    return with_gradient(lambda gradient: refused(gradient) if condition(gradient) else gradient)


raising = with_gradient(refused)


def x(*shape: int, **more: Any) -> Any:
    return at.random_tensor(shape=shape or (3, 4), low=-1, high=1, **more)


def identity(body: Callable[[], Any], replace: Mapping[str, Replacement], **more: Any) -> Identity:
    outcome = trial(body, FaultyTorch(replace, **more))
    assert outcome.mismatches[0].symptom == "exception"
    return identity_of_trial(outcome, Settings())


def operator(body: Callable[[], Any], *names: str) -> str:
    return identity(body, dict.fromkeys(names, raising)).operator


def chain() -> Any:
    value = x()
    for name in CHAIN:
        value = getattr(dual, name)(value, *([1] if name in ("cumsum", "softmax") else []))
    return value


@pytest.mark.parametrize("name", CHAIN)
def test_in_a_chain_it_is_the_call_that_raises_and_not_the_pass(name: str) -> None:
    found = identity(chain, {name: raising})
    assert (found.operator, found.stage) == (name, "backward")


def test_exceptions_of_two_operators_with_one_message_are_two_findings() -> None:
    assert identity(chain, {"sin": raising}).key != identity(chain, {"exp": raising}).key
    assert identity(chain, {"sin": raising}).key == identity(lambda: dual.sin(x()), {"sin": raising}).key


def test_of_two_it_is_the_one_that_the_pass_reaches_first() -> None:
    assert operator(chain, "sin", "sigmoid") == "sigmoid"


def test_the_branch_that_raises_is_found() -> None:
    def body() -> Any:
        y = dual.cos(x())
        return (dual.sin(y) * dual.exp(y)).sum() + dual.tanh(y).mean()

    assert [operator(body, name) for name in ("cos", "sin", "exp", "tanh")] == ["cos", "sin", "exp", "tanh"]


def test_one_of_several_results_is_differentiated() -> None:
    def body() -> Any:
        first, second = dual.split(dual.sin(x()), 2, 1)
        return dual.exp(first) * dual.tanh(second)

    assert [operator(body, name) for name in ("sin", "split", "tanh")] == ["sin", "split", "tanh"]


def test_a_call_that_writes_raises() -> None:
    def body() -> Any:
        y = dual.sin(x())
        y.mul_(dual.exp(x()))
        return dual.tanh(y)

    assert [operator(body, name) for name in ("sin", "exp", "tanh")] == ["sin", "exp", "tanh"]
    written = with_gradient(refused)
    assert identity(body, {}, tensors={"mul_": written}).operator == "mul_"


def test_a_layer_of_a_container_raises() -> None:
    def body() -> Any:
        net = dual.nn.Sequential(dual.nn.Linear(4, 4), dual.nn.GELU(), dual.nn.Linear(4, 2))
        return net(dual.sin(x()))

    assert identity(body, {}, tensors={"gelu": raising}).operator == "nn.GELU"


@pytest.mark.parametrize("pushes", ["autograd.grad", "inputs", "twice", "several"])
def test_every_kind_of_pass_is_examined(pushes: str) -> None:
    def body() -> Any:
        leaf = x()
        y = dual.exp(dual.sin(dual.cos(leaf))).sum()
        if pushes == "autograd.grad":
            return dual.autograd.grad(y, leaf)
        if pushes == "twice":
            dual.tanh(leaf).sum().backward()
        if pushes == "several":
            return y, dual.tanh(y)
        y.backward(inputs=[leaf] if pushes == "inputs" else None)
        return leaf.grad

    found = identity(body, {"sin": raising})
    assert (found.operator, found.stage) == ("sin", "backward")


def test_a_gradient_in_another_layout_is_what_raises() -> None:
    def body() -> Any:
        dual.exp(dual.sin(dual.cos(x())).t()).backward(x(3, 4, requires_grad=False).t())

    assert identity(body, {"sin": refused_if(lambda gradient: gradient.shape == (3, 4))}).operator == "sin"
    expanded = refused_if(lambda gradient: 0 in gradient.stride())
    assert identity(lambda: dual.positive(dual.cos(x())).sum(), {"positive": expanded}).operator == "positive"


def test_a_pass_that_raises_by_itself_keeps_its_name() -> None:
    class Refusing(FaultyTorch):
        def operation(self, kind: Any, target: str) -> Any:
            return refused if target == "backward" else super().operation(kind, target)

    outcome = trial(lambda: dual.exp(dual.sin(x())), Refusing())
    assert identity_of_trial(outcome, Settings()).operator == "backward"


def test_what_only_the_reference_refuses_is_named_after_the_call_too() -> None:
    reference: Framework = FaultyTorch({"sin": raising})
    outcome = trial(chain, reference=reference, check_errors=True)
    assert outcome.mismatches[0].symptom == "accepted"
    assert identity_of_trial(outcome, Settings()).operator == "sin"


def diagnosed(body: Callable[[], Any], candidate: FaultyTorch) -> Any:
    outcome = trial(body, candidate)
    pair = outcome.recorder.pair
    failed = FailedTrial(ATest("file.py::test", body, Settings()), outcome, pair)
    return failed.diagnosed(RunContext(pair, Options(verify=False)), 0)


def test_the_finding_is_about_the_call_too() -> None:
    finding = diagnosed(chain, FaultyTorch({"exp": raising}))
    assert (finding.operator, finding.identity.operator) == ("exp", "exp")
    assert operator_of(finding.program.calls, finding.divergent) == "exp"
    assert [call.target for call in finding.program.calls if call.kind != "tensor"] == ["exp", "backward"]


def judged(entry: LedgerEntry) -> Judgement:
    outcome = trial(chain, FaultyTorch({"exp": raising}))
    return judge(ATest("test_a.py::test_b", chain, Settings()), outcome, Ledger((entry,)))


@pytest.mark.parametrize("name", ["exp", "backward"])
def test_the_ledger_expects_it_under_both_names(name: str) -> None:
    assert isinstance(judged(LedgerEntry("k", "test_a.py::test_b", "exception", "r", operator=name)), Expected)
    assert not isinstance(judged(LedgerEntry("k", "test_a.py::test_b", "exception", "r", operator="sin")), Expected)
