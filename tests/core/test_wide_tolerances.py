"""A test whose tolerance would accept zeros in every comparison fails and says so; sensible tests never do."""

from __future__ import annotations

from typing import Any

import pytest

from autotest import autotest, random, random_tensor, skip_grad_check, torch
from autotest.base.errors import GradientNotCompared, NothingCompared
from autotest.base.settings import DEFAULT_TOLERANCES, Settings, ordinary_from


@pytest.fixture(autouse=True)
def _candidate(quick, against):
    against()


def _bounded():
    return torch.sin(random_tensor(ndim=2))


def ran(body, n=5, **settings: Any) -> str:
    """Run `body` as a test; return its complaint about the tolerance, or "" if it passes."""
    try:
        autotest(n=n, **settings)(body)()
    except NothingCompared as error:
        return str(error)
    return ""


def test_a_tolerance_that_accepts_zeros_in_every_comparison_fails_with_the_numbers_and_what_to_do():
    said = ran(_bounded, atol=1e3)
    assert "zeros would have passed as values in 5 trials, in each of" in said
    assert "the greatest expected number was 1 (float32), and 1000 + 0.0001 * |expected| is allowed" in said
    assert "Give a smaller atol (if it is left out, it is 1e-05 for float32)" in said
    assert said.endswith("or write check_values=False to compare no values.")


@pytest.mark.parametrize(
    "settings",
    [
        {"atol": 2.0},
        {"atol": 0.6, "rtol": 0.5},
        {"atol": {"float32": 2.0, "float64": 2.0}},
    ],
)
def test_each_way_of_giving_such_a_tolerance_is_told(settings):
    assert "as values" in ran(_bounded, **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"rtol": 0.5},
        {"atol": 1e-3},
        {"atol": 0.3, "grad_atol": 1e-3},
        {"atol": 0.3, "rtol": 0.3, "grad_atol": 1e-3},
        {"atol": {"float64": 2.0}, "grad_atol": 1e-3},
        {"atol": 1e3, "check_values": True, "n": 1, "grad_atol": 0.0},
    ],
)
def test_a_tolerance_that_some_comparison_can_fail_is_no_mistake(settings):
    body = _bounded if settings.get("atol") != 1e3 else lambda: torch.exp(random_tensor(shape=(9,), low=8, high=9))
    assert ran(body, **settings) == ""


def test_gradients_are_judged_by_their_own_tolerance():
    def grown():
        return torch.mul(random_tensor(shape=(3,), low=100, high=200, requires_grad=True), 10.0)

    assert ran(grown, atol=50.0, grad_atol=1e-3) == ""
    said = ran(grown, grad_atol=50.0)
    assert "zeros would have passed as gradients in 5 trials" in said
    assert "Give a smaller grad_atol" in said
    assert "as gradients" in ran(grown, atol=50.0)  # without a tolerance of their own they have that of values
    assert ran(skip_grad_check(reason="only values matter here")(grown), atol=50.0) == ""


@pytest.mark.parametrize(
    "body",
    [
        lambda: torch.zeros_like(random_tensor(ndim=2)),
        lambda: torch.mul(random_tensor(ndim=2, low=1, high=2), 0.0),
        lambda: torch.argmax(random_tensor(ndim=2), dim=-1),
        lambda: torch.isnan(random_tensor(ndim=2)),
        lambda: torch.mul(random_tensor(ndim=2, low=1, high=2), 1e-4),
        lambda: torch.sub(*[random_tensor(ndim=2, low=1, high=2)] * 2),
    ],
)
def test_results_that_are_zero_exact_or_tiny_are_no_sign_of_a_wide_tolerance(body):
    assert ran(body, atol=0.01, special_values=False) == ""


def test_one_number_beyond_the_tolerance_in_one_trial_is_enough():
    assert ran(lambda: torch.relu(random_tensor(shape=(4,), low=-3, high=3)), atol=3.0, grad_atol=1e-3) != ""
    assert ran(lambda: torch.relu(random_tensor(shape=(4,), low=-3, high=3)), atol=2.0, grad_atol=1e-3, n=20) == ""


def test_nan_and_infinities_are_compared_by_any_tolerance_and_hide_no_wide_one():
    def special():
        return torch.tanh(random_tensor(shape=(12,), contents="special"))

    assert "as values" in ran(special, atol=3.0)


def test_an_intermediate_result_counts_as_compared_and_an_input_does_not():
    def scaled():
        return torch.sin(torch.mul(random_tensor(shape=(4,), low=50, high=60), 2.0))

    assert ran(scaled, atol=10.0, grad_atol=1e-3) == ""
    assert ran(lambda: torch.sin(random_tensor(shape=(4,), low=50, high=60)), atol=10.0, grad_atol=1e-3) != ""


def _in_place():
    x = random_tensor(shape=(4,), low=50, high=60, requires_grad=False)
    x.mul_(2.0)
    return torch.sin(x)


def test_an_input_that_a_call_changed_counts_as_compared():
    assert ran(_in_place, atol=10.0, auto_backward=False) == ""


def test_a_run_of_one_trial_or_of_fewer_than_the_test_has_is_not_judged(monkeypatch):
    monkeypatch.setenv("AUTOTEST_N", "6")
    assert ran(_bounded, n=7, atol=1e3) == ""
    monkeypatch.delenv("AUTOTEST_N")
    monkeypatch.setenv("AUTOTEST_TRIAL", "2")
    assert ran(_bounded, atol=1e3) == ""


def test_the_comparisons_of_usual_tolerances_are_not_looked_at():
    usual = [Settings(), Settings(atol=1e-5), Settings(rtol=1e-2, atol=1e-4), Settings(rtol=2.0, atol=1e3)]
    assert not any(settings.may_pass_zeros for settings in usual)
    assert not Settings(atol=1e3, check_values=False).may_pass_zeros
    assert Settings(atol=1e-3).may_pass_zeros
    assert Settings(grad_atol={"float64": 1e-3}).may_pass_zeros
    assert all(atol < ordinary_from(dtype) for dtype, (_, atol) in DEFAULT_TOLERANCES.items())


def test_what_a_few_trials_draw_may_be_small_by_chance():
    assert ran(_bounded, n=4, atol=1e3) == ""
    assert ran(_bounded, n=5, atol=1e3) != ""


def test_random_sizes_do_not_matter():
    assert ran(lambda: torch.sum(torch.sigmoid(random_tensor(shape=(random(1, 9),)))), atol=100.0) != ""


def test_a_test_that_compares_no_gradients_still_fails_for_that():
    with pytest.raises(GradientNotCompared):
        autotest(n=2, atol=1e3, grad_order=2)(lambda: torch.argmax(random_tensor(ndim=2)))()
