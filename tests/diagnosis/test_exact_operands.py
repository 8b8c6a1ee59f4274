"""A fault in a computation from exact operands is distinguished from a result that rounding flips."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import autotest as at
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.trials.decorated import Test as ATest
from autotest.trials.trial import run_trial
from tests.support.faulty import FaultyTorch
from tests.wrong_operators.wrong import gradient_where

SETTINGS = Settings(skip_grad="planted")


def holding(*numbers: float, requires_grad: bool = False) -> Any:
    """Return a tensor of these numbers."""
    values = np.array(numbers, np.float32)
    return at.random_tensor(
        shape=values.shape,
        dtype="float32",
        contents=lambda bits, spec: values,
        layout="contiguous",
        requires_grad=requires_grad,
    )


def is_cleared(body: Callable[[], Any], path: str, wrong: Callable[..., Any]) -> bool:
    """Return whether the difference between torch and torch with `wrong` at `path` is judged as rounding."""
    pair = Pair(TorchFramework(), FaultyTorch({path: lambda original: wrong}))
    outcome = run_trial(body, 0, SETTINGS, pair)
    assert outcome.mismatches
    test = ATest("test_it.py::test_it", body, SETTINGS)
    return FailedTrial(test, outcome, pair).cleared() is not None


def test_a_search_on_the_wrong_side_of_equal_numbers_is_no_rounding():
    def body() -> Any:
        return dual.searchsorted(holding(1.0, 2.0, 3.0), holding(2.0, 2.5), right=True)

    original = torch.searchsorted
    assert not is_cleared(body, "searchsorted", lambda among, x, right: original(among, x))


def test_a_comparison_that_takes_neighbours_for_equal_is_no_rounding():
    def body() -> Any:
        return dual.eq(holding(1.0, 2.0), holding(1.0 + 2.0**-23, 2.0))

    assert not is_cleared(body, "eq", lambda x, y: (x - y).abs() < 1e-7 * (2 if x.dtype == torch.float32 else 1e-9))


def test_a_wrong_exponent_of_a_power_of_two_is_no_rounding():
    def body() -> Any:
        return dual.frexp(holding(2.0**-140, 1.0, 3.0))[1]

    original = torch.frexp

    def without_subnormal_numbers(x: Any) -> Any:
        mantissa, exponent = original(x)
        return mantissa, exponent.clamp(min=-125 if x.dtype == torch.float32 else -1021)

    assert not is_cleared(body, "frexp", without_subnormal_numbers)


def test_a_comparison_of_what_was_rounded_is_turned_over_by_rounding():
    def body() -> Any:
        x = holding(0.1, 0.2, 0.7)
        return dual.ge(dual.sum(x), 1.0)

    def in_another_order(x: Any) -> Any:
        return torch.cumsum(x.flip(0), 0)[-1] + (x.dtype == torch.float32) * (-(2.0**-23))

    assert is_cleared(body, "sum", in_another_order)


def test_a_finite_number_at_a_pole_is_no_rounding():
    def body() -> Any:
        return dual.log1p(holding(-1.0, 0.5))

    original = torch.log1p
    assert not is_cleared(body, "log1p", lambda x: original(x).clamp(min=-100))


def test_a_literal_is_rounded_as_the_numbers_that_it_is_compared_with():
    def body() -> Any:
        return dual.le(holding(0.1, 1.0), 0.1)

    original = torch.le
    assert is_cleared(body, "le", lambda x, y: original(x.double(), y))


def where_single(original: Callable[..., Any], wrong: Callable[..., Any]) -> Callable[..., Any]:
    """Return `original` with the result of `wrong` for numbers of single precision."""
    return lambda x, *more, **named: (wrong if x.dtype == torch.float32 else original)(x, *more, **named)


def one_more_at(number: float, original: Callable[..., Any]) -> Callable[..., Any]:
    return where_single(original, lambda x: original(x) + 1.0 * (x == number))


@pytest.mark.parametrize(
    ("name", "pole", "finite"),
    [("atanh", 1.0, 10.0), ("log1p", -1.0, -17.0), ("lgamma", -1.0, 16.0), ("digamma", -2.0, 1e7)],
)
def test_a_finite_number_at_a_pole_is_no_rounding_in_single_precision_either(name: str, pole: float, finite: float):
    def body() -> Any:
        return getattr(dual, name)(holding(pole, 0.5))

    original = getattr(torch, name)
    assert not is_cleared(body, name, where_single(original, lambda x: original(x).where(x != pole, finite)))


def test_a_finite_gradient_at_a_pole_is_no_rounding():
    def body() -> Any:
        return dual.asin(holding(1.0, 0.5, requires_grad=True))

    at_one = gradient_where(lambda x: (x == 1) & (x.dtype == torch.float32), change=lambda g: torch.full_like(g, 4e3))
    assert not is_cleared(body, "asin", at_one(torch.asin))


@pytest.mark.parametrize("name", ["ceil", "floor", "trunc", "frac"])
def test_a_step_beside_an_exact_number_is_no_rounding(name: str):
    def body() -> Any:
        return getattr(dual, name)(holding(0.5, 2.0))

    assert not is_cleared(body, name, one_more_at(2.0, getattr(torch, name)))


def test_a_number_halfway_between_whole_ones_that_is_rounded_otherwise_is_no_rounding():
    def body() -> Any:
        return dual.special.round(holding(0.5, 2.0))

    assert not is_cleared(body, "special.round", one_more_at(0.5, torch.special.round))


def test_a_number_is_multiplied_and_rounded_before_it_is_rounded_to_decimals():
    def body() -> Any:
        return dual.round(holding(0.125, 2.0), decimals=2)

    original = torch.round
    half_up = where_single(original, lambda x, decimals: torch.floor(x * 100 + 0.5) / 100)
    assert is_cleared(body, "round", half_up)


def test_a_step_in_place_beside_an_exact_number_is_no_rounding():
    def body() -> Any:
        return dual.ceil_(holding(0.5, 2.0))

    original = torch.ceil_
    assert not is_cleared(body, "ceil_", where_single(original, lambda x: original(x).add_(x > 1)))


def test_another_number_than_the_most_frequent_one_is_no_rounding():
    def body() -> Any:
        return dual.mode(holding(1.0, 2.0, 2.0, 3.0))[0]

    original = torch.mode
    largest = where_single(original, lambda x: type(original(x))((x.max(), original(x)[1])))
    assert not is_cleared(body, "mode", largest)


def test_a_step_beside_a_rounded_number_is_turned_over_by_rounding():
    def body() -> Any:
        return dual.ceil(dual.sum(holding(0.1, 0.2, 0.7)))

    def in_another_order(x: Any) -> Any:
        return torch.cumsum(x.flip(0), 0)[-1] + (x.dtype == torch.float32) * 2.0**-23

    assert is_cleared(body, "sum", in_another_order)
