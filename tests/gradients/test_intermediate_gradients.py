"""With `check_grad="intermediate"`, gradients of intermediate results are compared: faults that cancel are found."""

from __future__ import annotations

from typing import Any

import pytest

import autotest as at
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.referee import examine
from autotest.frameworks import Pair, chosen_pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import operator_of
from autotest.replaying.agreement import agree
from autotest.trials.outcome import Outcome
from autotest.trials.trial import run_trial
from tests.support import faults
from tests.support.faulty import FaultyTorch, with_gradient

ASKED = Settings(check_grad="intermediate")


def added_up() -> Any:
    """A sum over copies of one number. Its gradient does not show a wrong order of the copies' gradients."""
    x = at.random_tensor(shape=(1,), low=1, high=2, dtype="float32", layout="contiguous")
    return dual.flip(x.expand(4) * 2, [0])


def with_turned_gradient() -> FaultyTorch:
    return FaultyTorch({"flip": with_gradient(lambda gradient: gradient.flip(0))})


def trial(settings: Settings) -> tuple[Pair, Outcome]:
    pair = Pair(TorchFramework(), with_turned_gradient())
    return pair, run_trial(added_up, 3, settings, pair)


def test_a_gradient_that_is_wrong_on_the_way_alone_is_found_where_it_is_asked_for() -> None:
    assert not trial(Settings())[1].mismatches
    pair, outcome = trial(ASKED)
    assert [item.stage for item in outcome.mismatches] == ["backward"] * len(outcome.mismatches)
    assert outcome.mismatches[0].symptom == "gradient"

    agreement = agree(outcome.program, pair, ASKED)
    opinion = examine(agreement, pair, ASKED)
    assert opinion.located.slot is not None
    assert operator_of(agreement.program.calls, opinion.located.slot) == "flip"
    assert opinion.verdict.wrong == "candidate"


def network() -> Any:
    x = at.random_tensor(shape=(3, 4), low=-1, high=1)
    y = dual.nn.Linear(4, 2)(x.float()) * 2
    y.add_(1)
    first, second = dual.split(y, 1, dim=1)
    return dual.relu(first) + second.exp()


@pytest.mark.parametrize(
    "pair", [pytest.param(chosen_pair, marks=pytest.mark.oneflow), lambda: Pair(TorchFramework(), faults.none())]
)
def test_sides_that_agree_agree_on_the_way_too(pair: Any) -> None:
    outcome = run_trial(network, 1, ASKED, pair())
    assert outcome.mismatches == []
    assert outcome.rejection is None
    assert outcome.gradients > run_trial(network, 1, Settings(), pair()).gradients


def hooked() -> Any:
    x = at.random_tensor(shape=(3,), low=-1, high=1)
    x.register_hook(lambda gradient: gradient.clamp(-1, 1))
    y = dual.sin(x)
    y.register_hook(lambda gradient: gradient * 2)
    return y * 3


def hooked_layer() -> Any:
    layer = dual.nn.Linear(3, 2)
    layer.register_full_backward_hook(lambda module, given, pushed: (given[0] * 2,))
    return layer(at.random_tensor(shape=(2, 3), low=-1, high=1, dtype="float32"))


def retained() -> Any:
    y = dual.sin(at.random_tensor(shape=(3,), low=-1, high=1))
    y.retain_grad()
    y.register_hook(lambda gradient: gradient * 2)
    return y * y


@pytest.mark.parametrize("body", [network, hooked, hooked_layer, retained])
@pytest.mark.parametrize("order", [1, 2])
def test_what_the_reference_alone_is_asked_is_left_in_no_gradient(body: Any, order: Any) -> None:
    settings = Settings(check_grad="intermediate", grad_order=order)
    outcome = run_trial(body, 3, settings, Pair(TorchFramework(), TorchFramework()))
    assert outcome.rejection is None
    assert not outcome.mismatches, [item.message for item in outcome.mismatches]
    assert outcome.gradients > 1


def test_a_gradient_of_a_gradient_that_is_wrong_on_the_way_alone_is_found() -> None:
    def body() -> Any:
        y = added_up()
        return y * y

    pair = Pair(TorchFramework(), with_turned_gradient())
    assert run_trial(body, 3, Settings(check_grad="intermediate", grad_order=2), pair).mismatches


def test_what_the_reference_accumulated_before_it_refused_the_backward_is_not_compared() -> None:
    def refused() -> Any:
        y = at.random_tensor(shape=(2, 3)) * 2
        return y * 3, y // 2

    outcome = run_trial(refused, 3, ASKED, Pair(TorchFramework(), FaultyTorch()))
    assert outcome.mismatches == []
    assert outcome.rejection is not None
