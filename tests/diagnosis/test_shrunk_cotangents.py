"""Shrinking keeps gradients that say something: zeros are pushed back only if the failure needs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autotest as at
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.referee import examine
from autotest.diagnosis.shrinking.shrinker import ProgramJudge, Shrinker
from autotest.diagnosis.shrinking.shrunk_trial import failure_of
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.program.semantics import cotangent_arrays
from autotest.replaying.agreement import agree
from autotest.trials.trial import run_trial
from tests.diagnosis.planted import gradient_when
from tests.support.faulty import FaultyTorch, with_gradient

SETTINGS = Settings(auto_backward=False, special_values=False)


def shrunk(replacement: Any) -> tuple[list[float], list[float]]:
    """Return the numbers of the input and of the cotangent to which a wrong gradient of `exp` shrinks."""

    def body() -> Any:
        result = dual.exp(at.random_tensor(shape=(3, 4), low=-2, high=2, contents="integers", requires_grad=True))
        result.backward(at.random_tensor(shape=(3, 4), low=0, high=9, contents="integers", requires_grad=False))

    pair = Pair(TorchFramework(), FaultyTorch({"exp": replacement}, name="faulty"))
    outcomes = (run_trial(body, seed, SETTINGS, pair) for seed in range(60))
    agreement = agree(next(one for one in outcomes if one.mismatches).program, pair, SETTINGS)
    failure = failure_of(agreement, examine(agreement, pair, SETTINGS), pair, SETTINGS)
    program = Shrinker(agreement, failure, ProgramJudge(pair, SETTINGS), 60.0).shrink().agreement.program
    (given,) = cotangent_arrays(program)
    numbers = [array.data.reshape(-1).tolist() for array in program.arrays]
    return numbers[1 - given], numbers[given]


def lost(gradient: Any) -> Any:
    return gradient * float("nan")


def lost_at(condition: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda gradient: gradient.masked_fill(condition(gradient), float("nan"))


def test_a_gradient_that_is_wrong_at_zero_is_shown_with_a_cotangent_of_one() -> None:
    at_zero = gradient_when(lambda x: bool((x == 0).any()), lost)
    assert shrunk(at_zero) == ([0.0], [1.0])


def test_zeros_are_pushed_back_if_only_these_fail() -> None:
    of_zeros = with_gradient(lost_at(lambda gradient: gradient == 0))
    assert shrunk(of_zeros) == ([0.0], [0.0])


def test_a_cotangent_that_cannot_become_smaller_is_all_ones() -> None:
    def body() -> Any:
        x = at.random_tensor(shape=(3,), low=0.1, high=1, requires_grad=True)
        y = dual.zeros(4, 3)
        y.copy_(x)
        y[0] = x
        y.backward(at.random_tensor(shape=(4, 3), low=0.1, high=1, requires_grad=False))

    without = FaultyTorch(tensors={"copy_": lambda copy: lambda y, x: copy(y, x.detach())})
    pair = Pair(TorchFramework(), without)
    agreement = agree(run_trial(body, 0, SETTINGS, pair).program, pair, SETTINGS)
    failure = failure_of(agreement, examine(agreement, pair, SETTINGS), pair, SETTINGS)
    found = Shrinker(agreement, failure, ProgramJudge(pair, SETTINGS), 60.0).shrink()
    (given,) = cotangent_arrays(found.agreement.program)
    assert set(found.agreement.program.arrays[given].data.reshape(-1).tolist()) == {1.0}
    assert found.executions < 150
