"""The spread of equal numbers is pure rounding. What this explains is no finding; any other difference is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autotest as at
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.trials.decorated import Test as ATest
from autotest.trials.outcome import Outcome
from autotest.trials.trial import run_trial
from tests.support.faulty import FaultyTorch

SETTINGS = Settings()


def normalised(*, requires_grad: bool = True) -> Any:
    """Normalise a row that is expanded from one number: its elements stay equal when the input is perturbed."""
    x = at.random_tensor(
        shape=(6,), low=1, high=2, dtype="float32", contents="uniform", layout="expanded", requires_grad=requires_grad
    )
    return dual.nn.functional.layer_norm(x, (6,))


def forward_alone() -> Any:
    return normalised(requires_grad=False)


def judged(layer_norm: Any, body: Callable[[], Any] = normalised) -> tuple[bool, Outcome]:
    """Return whether a trial against torch with another `layer_norm` is cleared, and the trial."""
    pair = Pair(TorchFramework(), FaultyTorch({"nn.functional.layer_norm": lambda original: layer_norm}))
    outcome = run_trial(body, 3, SETTINGS, pair)
    assert outcome.mismatches
    test = ATest("test_it.py::test_it", body, SETTINGS)
    return FailedTrial(test, outcome, pair).cleared() is not None, outcome


def of_moved_numbers(x: Any, shape: tuple[int, ...]) -> Any:
    """Return a result that any stable algorithm may give: that for inputs which differ by one roundoff."""
    import torch

    return of_moved_doubles_too(x, shape) if x.dtype == torch.float32 else torch.layer_norm(x, shape)


def of_moved_doubles_too(x: Any, shape: tuple[int, ...]) -> Any:
    """Do the same, with a mean of equal numbers that is also rounded in double precision."""
    import torch

    roundoff = torch.finfo(x.dtype).eps
    return torch.layer_norm(x * torch.tensor([1 + roundoff, 1, 1, 1, 1, 1], dtype=x.dtype), shape)


def in_one_pass(x: Any, shape: tuple[int, ...]) -> Any:
    """Use the mean of squares minus the square of the mean. Their difference is a multiple of the roundoff."""
    import torch

    mean = x.mean()
    lost = 2.0**-19 if x.dtype == torch.float32 else 0.0
    return (x - mean) / ((x * x).mean() * (1 + lost) - mean * mean + 1e-5).sqrt()


def test_the_spread_of_equal_numbers_is_nobodys_fault():
    cleared, _ = judged(of_moved_numbers)
    assert cleared


def test_nor_is_it_where_double_precision_has_such_a_spread_too():
    cleared, _ = judged(of_moved_doubles_too, forward_alone)
    assert cleared


def test_what_rounding_does_not_explain_of_such_a_trial_is_the_finding():
    def both(x: Any, shape: tuple[int, ...]) -> Any:
        return in_one_pass(x, shape) + of_moved_numbers(x, shape).detach()

    cleared, outcome = judged(both)
    assert not cleared
    assert {item.symptom for item in outcome.mismatches} == {"gradient"}


def test_correlations_of_rows_of_equal_numbers_are_rounding_if_the_input_requires_grad_too() -> None:
    """In double precision they are 0 / 0. The input is expanded, so that a change of it leaves its rows equal."""

    def in_double_precision(original: Any) -> Any:
        return lambda x: original(x.double()).to(x.dtype)

    def body() -> Any:
        rows = at.random_tensor(
            shape=(5, 17), low=1, high=2, dtype="float32", contents="uniform", layout="expanded", requires_grad=True
        )
        return dual.corrcoef(rows)

    pair = Pair(TorchFramework(), FaultyTorch({"corrcoef": in_double_precision}))
    outcomes = [one for one in (run_trial(body, seed, SETTINGS, pair) for seed in range(9)) if one.mismatches]
    assert outcomes
    for outcome in outcomes:
        assert FailedTrial(ATest("test_it.py::test_it", body, SETTINGS), outcome, pair).cleared() is not None
