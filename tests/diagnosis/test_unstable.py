"""Rounding that an unstable algorithm amplifies is distinguished from a fault, whose error hardly varies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import autotest as at
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.referee import cleared, examine
from autotest.diagnosis.attribution.verdict import Verdict
from autotest.diagnosis.rounding.perturbation import perturbed_in_own_dtype
from autotest.frameworks import Pair
from autotest.frameworks.base import Framework
from autotest.frameworks.torch import TorchFramework
from autotest.program import Array
from autotest.replaying.agreement import agree
from autotest.trials.trial import run_trial
from generators.dtypes import round_bfloat16
from tests.support.faulty import FaultyTorch

SETTINGS = Settings(auto_backward=False)


def x(size: int, low: float, high: float) -> Any:
    return at.random_tensor(shape=(size,), low=low, high=high, dtype="float32", requires_grad=False)


def variance() -> Any:
    return dual.var(x(50, 99, 101), 0)


def running_sum() -> Any:
    return dual.cumsum(x(2000, -2, 2), 0)


def distance() -> Any:
    return dual.dist(x(50, 99, 101), x(50, 99, 101))


def sine() -> Any:
    return dual.sin(x(4, 30_000, 31_000))


def by_mean_of_squares(_: Any) -> Callable[..., Any]:
    """Compute a difference of two large numbers, where torch adds small ones."""
    return lambda t, dim: ((t * t).sum(dim) - t.sum(dim) ** 2 / t.shape[dim]) / (t.shape[dim] - 1)


def by_expansion(_: Any) -> Callable[..., Any]:
    """Compute the square of a difference as three large products."""
    return lambda a, b: ((a * a).sum() + (b * b).sum() - 2 * (a * b).sum()).clamp(min=0).sqrt()


def in_single(change: Callable[[Any], Any]) -> Callable[[Any], Callable[..., Any]]:
    """Return a replacement that changes results in single precision."""

    def planted(original: Any) -> Callable[..., Any]:
        def faulty(t: Any, *args: Any) -> Any:
            result = original(t, *args)
            return change(result) if str(t.dtype) == "torch.float32" else result

        return faulty

    return planted


def verdicts(body: Callable[[], Any], reference: Framework, candidate: Framework) -> list[Verdict]:
    """Return the verdicts on the trials, of ten, that differ; none of them may be cleared."""
    pair, found = Pair(reference, candidate), []
    for seed in range(10):
        outcome = run_trial(body, seed, SETTINGS, pair)
        if outcome.mismatches:
            agreement = agree(outcome.program, pair, SETTINGS)
            assert cleared(agreement, pair, SETTINGS) is None
            found.append(examine(agreement, pair, SETTINGS).verdict)
    return found


UNSTABLE = pytest.mark.parametrize(
    ("body", "planted"),
    [(variance, {"var": by_mean_of_squares}), (distance, {"dist": by_expansion})],
    ids=["variance", "distance"],
)


@UNSTABLE
def test_an_unstable_algorithm_of_the_candidate_is_called_so(body: Any, planted: Any) -> None:
    found = verdicts(body, TorchFramework(), FaultyTorch(planted))
    told = [verdict for verdict in found if verdict.blame == "unstable"]
    # One trial may look like a fault, because the rounding of sums depends on the processor.
    assert len(told) > len(found) / 2
    assert {verdict.wrong for verdict in found} == {"candidate"}
    assert all(verdict.line.startswith("faulty: its algorithm amplifies rounding") for verdict in told)


@UNSTABLE
def test_an_unstable_algorithm_of_the_reference_is_no_failure_of_a_candidate_that_is_right(
    body: Any, planted: Any
) -> None:
    found = clearances(FaultyTorch(planted), TorchFramework(), body)
    told = [verdict for verdict in found if verdict is not None]
    assert len(told) > 0.8 * len(found) > 5
    assert all(verdict.line.startswith("rounding: the algorithm of faulty amplifies it") for verdict in told)
    assert all(verdict.line.find("and torch is right") > 0 for verdict in told)


@pytest.mark.parametrize(
    "change", [lambda result: result * 1.01, lambda result: result + 0.01, lambda result: result * 0]
)
def test_a_fault_of_the_reference_in_single_precision_fails_the_test(change: Any) -> None:
    found = clearances(FaultyTorch({"var": in_single(change)}), TorchFramework())
    assert len(found) == 10
    assert found.count(None) == 10


@pytest.mark.parametrize(
    ("body", "operator", "change"),
    [
        (variance, "var", lambda result: result * 1.01),
        (variance, "var", lambda result: result + 0.01),
        (variance, "var", lambda result: result.half().float()),
        (variance, "var", lambda result: result * 0),
        (running_sum, "cumsum", lambda result: result + 1e-3),
        (running_sum, "cumsum", lambda result: result.flip(0)),
        (running_sum, "cumsum", lambda result: result.bfloat16().float()),
        (sine, "sin", lambda result: result * 1.5),  # its error varies, and is not larger than the sine itself
    ],
)
def test_a_fault_of_single_precision_is_none_of_the_algorithms(body: Any, operator: str, change: Any) -> None:
    found = verdicts(body, TorchFramework(), FaultyTorch({operator: in_single(change)}))
    assert found
    assert {verdict.blame for verdict in found} == {"candidate"}


def by_mean_of_products(_: Any) -> Callable[..., Any]:
    """Compute the same difference of two large numbers as `by_mean_of_squares`, rounded in another way."""
    return lambda t, dim: ((t * t).mean(dim) - t.mean(dim) ** 2) * (t.shape[dim] / (t.shape[dim] - 1))


def clearances(reference: Framework, candidate: Framework, body: Callable[[], Any] = variance) -> list[Verdict | None]:
    """Return, for those of ten trials of `body` that differ, the verdict that clears them, or None."""
    pair, found = Pair(reference, candidate), []
    for seed in range(10):
        outcome = run_trial(body, seed, SETTINGS, pair)
        if outcome.mismatches:
            found.append(cleared(agree(outcome.program, pair, SETTINGS), pair, SETTINGS))
    return found


def test_algorithms_that_amplify_rounding_alike_accuse_nobody() -> None:
    found = clearances(FaultyTorch({"var": by_mean_of_squares}), FaultyTorch({"var": by_mean_of_products}))
    told = [verdict for verdict in found if verdict is not None]
    assert len(told) > len(found) / 2
    assert all(verdict.line.startswith("rounding: the algorithms of both sides amplify it") for verdict in told)


@pytest.mark.parametrize(
    "change", [lambda result: result + 0.05, lambda result: result * -2, lambda result: result * 0]
)
def test_a_fault_beside_an_algorithm_that_amplifies_rounding_counts(change: Any) -> None:
    def faulty(original: Any) -> Callable[..., Any]:
        return in_single(change)(by_mean_of_products(original))

    found = clearances(FaultyTorch({"var": by_mean_of_squares}), FaultyTorch({"var": faulty}))
    assert len(found) == 10
    assert found.count(None) == 10


def test_rounding_leads_from_no_finite_number_to_infinity() -> None:
    greatest = [Array(np.full(64, np.finfo(dtype).max, dtype), dtype) for dtype in ("float32", "float16", "float64")]
    for before, after in zip(greatest, perturbed_in_own_dtype(greatest, 0), strict=True):
        assert np.isfinite(after.data).all()
        assert (after.data != before.data).any()
        assert after.data.dtype == before.data.dtype


def test_numbers_of_bfloat16_are_rounded_as_others_are() -> None:
    ones = Array(np.full(64, 1.5, np.float32), "bfloat16")
    (after,) = perturbed_in_own_dtype([ones], 0)
    assert (after.data != ones.data).any()
    assert (round_bfloat16(after.data) == after.data).all()


def by_reciprocal_root(_: Any) -> Callable[..., Any]:
    """Normalise rows without the fused kernel of torch."""

    def normalised(t: Any, shape: Any) -> Any:
        centred = t - t.mean(-1, keepdim=True)
        return centred * ((centred * centred).mean(-1, keepdim=True) + 1e-5).rsqrt()

    return normalised


def test_a_gradient_that_cancels_whatever_the_inputs_are_is_rounding_on_both_sides() -> None:
    """Equal cotangents of a normalised row cancel, so that changes of the row do not show how the terms are rounded."""
    pair, found = Pair(TorchFramework(), FaultyTorch({"nn.functional.layer_norm": by_reciprocal_root})), []
    for seed in range(12):
        numbers = np.random.default_rng(seed)
        row = (numbers.uniform(-2, 2) + 0.01 * numbers.random(3)).astype("float32")

        def body(row: Any = row) -> None:
            dual.nn.functional.layer_norm(dual.tensor(row, requires_grad=True), (3,)).backward(dual.ones(3))

        outcome = run_trial(body, seed, SETTINGS, pair)
        if outcome.mismatches:
            found.append(cleared(agree(outcome.program, pair, SETTINGS), pair, SETTINGS))
    told = [verdict for verdict in found if verdict is not None]
    assert len(told) > len(found) / 2 > 4


@pytest.mark.parametrize(
    "body",
    [
        lambda: dual.log(1 - dual.sigmoid(x(5, 9, 13))),
        lambda: 1 / (1 - dual.sigmoid(x(5, 9, 13))),
        lambda: dual.acos(dual.sigmoid(x(5, 9, 13))),
    ],
    ids=["logarithm", "quotient", "arc cosine"],
)
def test_the_rounding_of_saturated_results_is_no_fault(body: Any) -> None:
    """Their last digit is all that is left of them, and a change of the inputs by a roundoff does not change it."""

    def another_last_digit(sigmoid: Any) -> Any:
        return lambda t: sigmoid(t) * (1 - 6e-8) if str(t.dtype) == "torch.float32" else sigmoid(t)

    pair, found = Pair(TorchFramework(), FaultyTorch({"sigmoid": another_last_digit})), []
    for seed in range(20):
        outcome = run_trial(body, seed, SETTINGS, pair)
        if outcome.mismatches:
            found.append(cleared(agree(outcome.program, pair, SETTINGS), pair, SETTINGS))
    assert len(found) > 10
    assert all(found)


def test_a_wrong_call_behind_a_saturated_result_is_a_fault() -> None:
    pair = Pair(TorchFramework(), FaultyTorch({"log": in_single(lambda result: result * 1.001)}))
    outcome = run_trial(lambda: dual.log(1 - dual.sigmoid(x(5, 9, 13))), 0, SETTINGS, pair)
    assert cleared(agree(outcome.program, pair, SETTINGS), pair, SETTINGS) is None


def reciprocal_of_rest(sigmoid: Callable[[Any], Any]) -> Callable[[Any], Callable[..., Any]]:
    """Return a function of few digits: what is left of 1 after subtracting a number next to it."""
    return lambda original: lambda t: 1 / (1 - sigmoid(t))


@pytest.mark.parametrize(("digits", "is_rounding"), [(6e-8, True), (2e-6, False)], ids=["the last digit", "a fault"])
def test_both_sides_may_keep_few_digits_of_a_saturated_result(digits: float, is_rounding: bool) -> None:
    """Changes of the inputs do not show how coarsely it is rounded inside the call."""
    changed = in_single(lambda result: result * (1 - digits))(lambda t: t.sigmoid())
    pair = Pair(
        FaultyTorch({"exp": reciprocal_of_rest(lambda t: t.sigmoid())}),
        FaultyTorch({"exp": reciprocal_of_rest(changed)}),
    )
    found = []
    for seed in range(10):
        outcome = run_trial(lambda: dual.exp(x(5, 7, 9)), seed, SETTINGS, pair)
        if outcome.mismatches:
            found.append(cleared(agree(outcome.program, pair, SETTINGS), pair, SETTINGS) is not None)
    assert len(found) > 5
    assert found.count(is_rounding) > len(found) / 2


def test_the_rounding_of_a_single_number_is_noise_although_few_inputs_can_change() -> None:
    def rounded(_: Any) -> Callable[..., Any]:
        """Subtract a rounded product from one that is not, as torch 2.0 does by a fused instruction."""

        def normalised(t: Any, shape: Any) -> Any:
            scale = (t.var(1, unbiased=False, keepdim=True) + 1e-5).rsqrt()
            shift = (t.mean(1, keepdim=True) * scale).double()
            return (t.double() * scale.double() - shift).to(t.dtype)

        return normalised

    def exact(_: Any) -> Callable[..., Any]:
        return lambda t, shape: (t - t.mean(1, keepdim=True)) / (t.var(1, unbiased=False, keepdim=True) + 1e-5).sqrt()

    sides = [FaultyTorch({"nn.functional.layer_norm": planted}) for planted in (rounded, exact)]
    pair, found = Pair(*sides), []
    for seed in range(10):

        def body() -> Any:
            numbers = at.random_tensor(shape=(3, 1), low=9000, high=9999, dtype="float32", requires_grad=False)
            return dual.nn.functional.layer_norm(numbers, (1,))

        outcome = run_trial(body, seed, SETTINGS, pair)
        if outcome.mismatches:
            found.append(cleared(agree(outcome.program, pair, SETTINGS), pair, SETTINGS))
    assert len(found) > 5
    assert all(verdict is not None and "faulty is right" in verdict.line for verdict in found)


@pytest.mark.parametrize(("digits", "is_rounding"), [(1, True), (12, False)], ids=["the last digit", "a fault"])
def test_what_rounding_explains_is_measured_precisely_before_a_side_is_accused(digits: int, is_rounding: bool) -> None:
    """The spread of an element of three numbers, measured in a few runs, may be a fifth of what it is."""

    def by_another_mean(original: Any) -> Callable[..., Any]:
        def normalised(t: Any, shape: Any) -> Any:
            mean = t.mean(1, keepdim=True)
            if t.dtype is torch.float32:
                mean = mean * (1 + digits * torch.finfo(t.dtype).eps)
            centred = t - mean
            return centred / ((centred * centred).mean(1, keepdim=True) + 1e-5).sqrt()

        return normalised

    def exact(_: Any) -> Callable[..., Any]:
        return lambda t, shape: t - t[:, :1] if bool((t == t[:, :1]).all()) else original(t, shape)

    original = torch.nn.functional.layer_norm
    pair = Pair(
        FaultyTorch({"nn.functional.layer_norm": exact}), FaultyTorch({"nn.functional.layer_norm": by_another_mean})
    )
    found = []
    for number in np.linspace(1.1, 3.9, 15, dtype="float32"):
        row = np.full((1, 3), number)
        outcome = run_trial(lambda row=row: dual.nn.functional.layer_norm(dual.tensor(row), (3,)), 0, SETTINGS, pair)
        assert outcome.mismatches
        found.append(cleared(agree(outcome.program, pair, SETTINGS), pair, SETTINGS) is not None)
    assert found == [is_rounding] * 15
