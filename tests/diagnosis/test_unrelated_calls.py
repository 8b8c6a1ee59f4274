"""A call that differs harmlessly, and that the first mismatch does not depend on, does not name the finding."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import autotest as at
from autotest import Divergence
from autotest import torch as dual
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.replaying.gradient_flow import suspects
from autotest.results.finding import Finding
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.trial import run_trial
from tests.support.faulty import FaultyTorch, plus, returning, with_gradient
from tests.support.running import trial, trials


def of_ties_last(original: Any) -> Any:
    """Return an ``argsort`` that takes the last of equal elements first."""
    return lambda x: x.shape[0] - 1 - original(x.flip(0), stable=True)


def order_of_ties() -> Any:
    return dual.argsort(at.random_tensor(shape=(9,), low=0, high=2, dtype=int))


def found(body: Any, faults: Mapping[str, Any]) -> Finding:
    faulty = FaultyTorch({"argsort": of_ties_last, **faults})
    context = RunContext(Pair(TorchFramework(), faulty), Options(shrink=0.0, verify=False))
    outcome = run_trial(body, 0, Settings(), context.pair)
    assert outcome.mismatches[0].name == "v1"
    failed = FailedTrial(ATest("t", body, Settings()), outcome, context.pair)
    assert failed.cleared() is None
    return failed.diagnosed(context, 0)


def test_a_wrong_value_beside_ties_is_told_of_as_what_it_is() -> None:
    def body() -> Any:
        return order_of_ties(), dual.exp(at.random_tensor(shape=(3,), low=0, high=1))

    finding = found(body, {"exp": plus(0.5)})
    assert (finding.operator, finding.first.name, finding.blame) == ("exp", "v3", "candidate")


def test_gradients_that_are_clipped_otherwise_beside_ties_are_told_of_as_that() -> None:
    def body() -> Any:
        order, m = order_of_ties(), dual.nn.Linear(3, 2)
        (m(at.random_tensor(2, 4, 3, low=1, high=2)) ** 2).sum().backward()
        dual.nn.utils.clip_grad_norm_(m.parameters(), 0.5)
        return order

    doubled = {"nn.utils.clip_grad_norm_": lambda clip: lambda parameters, norm: clip(parameters, 2 * norm)}
    finding = found(body, doubled)
    assert finding.operator == "nn.utils.clip_grad_norm_"


@pytest.mark.parametrize("name", ["rand", "empty"])
@pytest.mark.parametrize(
    ("symptom", "change"), [("dtype", lambda drawn: drawn.double()), ("shape", lambda drawn: drawn[None])]
)
def test_a_call_with_random_numbers_of_another_dtype_or_shape_does_not_name_the_finding(
    name: str, symptom: str, change: Any, tmp_path: Path
) -> None:
    def body() -> Any:
        return getattr(dual, name)(3) + 1

    told = rf"torch: {name}, {symptom} [\s\S]*torch\.{name}\(3\)  # <-- first divergent"
    with pytest.raises(Divergence, match=told):
        trials(body, tmp_path, FaultyTorch({name: returning(change)}))


def test_a_fault_in_what_reads_a_property_of_random_numbers_has_a_verdict(tmp_path: Path) -> None:
    def body() -> Any:
        return dual.nn.functional.dropout(at.random_tensor(2, 3, 4, requires_grad=False))

    with pytest.raises(Divergence) as raised:
        trials(body, tmp_path, FaultyTorch(tensors={"max": plus(1)}))
    finding = raised.value.finding
    assert finding is not None
    assert finding.blame, finding.verdict


def test_the_backward_of_a_call_that_is_not_differentiated_is_no_reason_for_a_wrong_gradient() -> None:
    def body() -> Any:
        x = at.random_tensor(shape=(2, 3), dtype="float32", requires_grad=True)
        beside = dual.sinh(x.clone())
        base = x * 3
        base.view(6).mul_(2)
        return dual.tanh(base), beside.detach()

    outcome = trial(body, FaultyTorch({"tanh": with_gradient(lambda gradient: 1.5 * gradient)}))
    program = outcome.shown
    looked = {program.calls[slot].target for slot in suspects(program, outcome.recorder.pair, Settings()).slots}
    assert looked >= {"tanh", "mul_"}
    assert not looked & {"sinh", "clone"}
