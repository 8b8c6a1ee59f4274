"""A wrong gradient is found even if it is small everywhere, with its first divergent call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autotest as at
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.referee import cleared, examine
from autotest.diagnosis.oracles.gradient_oracle import _Element
from autotest.frameworks import Pair, chosen_pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import Array, Call, Program, Ref, operator_of
from autotest.program.rewriting import tensor_call
from autotest.replaying.agreement import agree
from autotest.trials.trial import run_trial
from tests.diagnosis.planted import gradient_when, when
from tests.support.faulty import FaultyTorch, Replacement, with_gradient
from tests.wrong_operators.wrong import through

SETTINGS = Settings()


def chain() -> Any:
    """Return a body of twenty calls, with a function of small slope in the middle."""
    x = at.random_tensor(1, 4, low=1, high=2) * 1e-4
    for _ in range(10):
        x = dual.tanh(x)
    x = dual.lgamma(x + 1.5) * 1e-4
    for _ in range(10):
        x = dual.tanh(x)
    return x


def found_in(pair: Pair) -> tuple[str, str]:
    outcome = run_trial(chain, 3, SETTINGS, pair)
    assert outcome.mismatches
    assert {item.stage for item in outcome.mismatches} == {"backward"}
    agreement = agree(outcome.program, pair, SETTINGS)
    assert cleared(agreement, pair, SETTINGS) is None
    opinion = examine(agreement, pair, SETTINGS)
    assert opinion.located.slot is not None
    return operator_of(agreement.program.calls, opinion.located.slot), opinion.verdict.wrong


def test_a_gradient_that_is_zero_in_the_middle_of_a_chain_is_found() -> None:
    nothing = gradient_when(lambda t: True, lambda gradient: gradient * 0)
    assert found_in(Pair(TorchFramework(), FaultyTorch({"lgamma": nothing}))) == ("lgamma", "candidate")


@pytest.mark.oneflow
def test_the_gradient_of_lgamma_is_found_in_the_middle_of_a_chain() -> None:
    assert found_in(chosen_pair()) == ("lgamma", "candidate")


def of_input(change: Callable[[Any, Any], Any]) -> Replacement:
    """Return an operator whose first argument gets the gradient ``change(gradient, argument)``."""
    return lambda original: lambda x, *more: original(through(change)(x), *more)


def in_single_precision(change: Callable[[Any], Any]) -> FaultyTorch:
    """Return torch whose sin is wrong in single precision only."""
    return FaultyTorch({"sin": when(lambda t: str(t.dtype) == "torch.float32", change)})


@pytest.mark.parametrize("change", [lambda result: result * 1.01, lambda result: result * 0], ids=["off", "zero"])
def test_a_fault_of_single_precision_alone_is_found_however_small_the_numbers_are(change: Any) -> None:
    pair = Pair(TorchFramework(), in_single_precision(change))
    outcome = run_trial(lambda: dual.sin(at.random_tensor(1, 4) * 1e-8), 3, SETTINGS, pair)
    agreement = agree(outcome.program, pair, SETTINGS)
    assert cleared(agreement, pair, SETTINGS) is None
    assert examine(agreement, pair, SETTINGS).verdict.blame == "candidate"


def test_small_numbers_of_which_a_few_digits_are_lost_do_not_differ() -> None:
    pair = Pair(TorchFramework(), in_single_precision(lambda result: result * 1.0005))
    assert not run_trial(lambda: dual.sin(at.random_tensor(1, 4) * 1e-8), 3, SETTINGS, pair).mismatches


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_left_where_great_numbers_cancel_is_nobodys_fault(dtype: str) -> None:
    def body() -> Any:
        return dual.exp(at.random_tensor(shape=(1, 1), low=1, high=2, dtype=dtype))

    def cancelling(noise: float) -> Callable[[Any], Any]:
        return lambda result: result - result + noise

    reference = FaultyTorch({"exp": when(lambda t: True, cancelling(1.1e-16))}, name="reference")
    candidate = FaultyTorch({"exp": when(lambda t: True, cancelling(0.0))})
    pair = Pair(reference, candidate)
    outcome = run_trial(body, 3, SETTINGS, pair)
    assert outcome.mismatches
    agreement = agree(outcome.program, pair, SETTINGS)
    assert examine(agreement, pair, SETTINGS).verdict.blame != "candidate"


def test_a_small_plain_number_that_is_what_is_left_of_a_sum_in_another_order_is_rounding() -> None:
    import torch

    def body() -> Any:
        x = at.random_tensor(1, 256, low=-1e-3, high=1e-3, requires_grad=False)
        return dual.sum(dual.cat([x, -x])).item()

    def one_by_one(original: Any) -> Any:
        return lambda x: torch.cumsum(x, 0)[-1]

    pair = Pair(TorchFramework(), FaultyTorch({"sum": one_by_one}))
    settings = Settings(auto_backward=False)
    outcome = run_trial(body, 3, settings, pair)
    assert "float" in {type(value).__name__ for value in outcome.recorder.expected}
    assert outcome.mismatches
    verdict = cleared(agree(outcome.program, pair, settings), pair, settings)
    assert verdict is not None
    assert verdict.wrong == "nobody"


def test_differences_that_separate_two_gradients_by_chance_accuse_neither_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of normalised numbers has no gradient, and what is left of it is rounding."""

    def body() -> Any:
        x = at.random_tensor(shape=(3, 4, 4), dtype="float64", low=-2, high=2)
        return dual.sum(dual.nn.functional.group_norm(x, 2))

    def noisy(gradient: Any, _: Any) -> Any:
        return gradient + 3e-16

    pair = Pair(TorchFramework(), FaultyTorch({"nn.functional.group_norm": of_input(noisy)}))
    outcome = run_trial(body, 3, SETTINGS, pair)
    assert outcome.mismatches
    # An error of 1e-13 is allowed: the candidate has slightly less, and the reference slightly more.
    monkeypatch.setattr(_Element, "extrapolated", lambda self: (1.0015e-13, 0.0))
    assert cleared(agree(outcome.program, pair, SETTINGS), pair, SETTINGS) is not None


@pytest.mark.parametrize("cotangent", [0.0, 1.0])
def test_no_difference_accuses_a_gradient_of_nan_at_an_input_of_nan(cotangent: float) -> None:
    def body() -> Any:
        x = dual.tensor(np.array([np.nan]), requires_grad=True)
        dual.abs(x).backward(dual.tensor(np.array([cotangent])))
        return x.grad

    faulty = FaultyTorch({"abs": with_gradient(lambda gradient: gradient * np.nan)})
    outcome = run_trial(body, 0, Settings(auto_backward=False), Pair(TorchFramework(), faulty))
    pair = outcome.recorder.pair
    verdict = examine(agree(outcome.program, pair, SETTINGS), pair, SETTINGS).verdict
    assert outcome.mismatches
    assert "finite difference" not in verdict.line


def test_no_difference_accuses_a_gradient_beside_a_result_that_hides_its_steps() -> None:
    """A step of 1e-5 changes no digit of a sum of 1e38."""

    def body() -> Any:
        x = dual.tensor(np.array([1e38, 2.0]), requires_grad=True)
        dual.exp(dual.log(x)).backward(dual.tensor(np.ones(2)))
        return x.grad

    lost = FaultyTorch({"log": with_gradient(lambda gradient: gradient * gradient.new_tensor([1.0, 0.0]))})
    outcome = run_trial(body, 0, Settings(auto_backward=False), Pair(TorchFramework(), lost))
    pair = outcome.recorder.pair
    assert outcome.mismatches
    assert examine(agree(outcome.program, pair, SETTINGS), pair, SETTINGS).verdict.wrong != "reference"


@pytest.mark.filterwarnings("ignore:var.*degrees of freedom")
def test_no_difference_accuses_a_gradient_of_nan_through_a_result_of_nan_with_a_cotangent_of_zero() -> None:
    def body() -> Any:
        x = dual.tensor(np.array(2.0), requires_grad=True)
        dual.var(x).backward(dual.tensor(np.array(0.0)))
        return x.grad

    faulty = FaultyTorch({"var": with_gradient(lambda gradient: gradient.nan_to_num())})
    outcome = run_trial(body, 0, Settings(auto_backward=False), Pair(TorchFramework(), faulty))
    pair = outcome.recorder.pair
    assert outcome.mismatches
    assert examine(agree(outcome.program, pair, SETTINGS), pair, SETTINGS).verdict.wrong != "reference"


def test_differences_look_past_an_infinite_result_whose_cotangent_is_zero() -> None:
    x, pole, cotangent = (Array(np.array(one), "float64") for one in ([2.0, 3.0], [np.inf, 1.0], [0.0, 1.0]))
    calls = (
        tensor_call(0, 0, x, requires_grad=True),
        tensor_call(1, 1, pole, requires_grad=False),
        Call("function", "add", (Ref(0), Ref(1)), {}, 2),
        tensor_call(3, 2, cotangent, requires_grad=False),
        Call("method", "backward", (Ref(2), Ref(3)), {}, 4),
    )
    element = _Element(Program(calls, (x, pole, cotangent)), 0, (1,), TorchFramework(), 4)
    difference = element.difference()
    assert difference is not None
    assert difference.derivative == pytest.approx(1.0)
