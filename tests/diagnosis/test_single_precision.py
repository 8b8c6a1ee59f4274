"""A difference in double precision is rounding if the same program in single precision shows that it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autotest as at
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.referee import cleared
from autotest.diagnosis.attribution.verdict import Verdict
from autotest.diagnosis.rounding.single_precision import narrowed
from autotest.frameworks import Pair
from autotest.frameworks.base import Framework
from autotest.frameworks.torch import TorchFramework
from autotest.program import Array, Call, Captured, Program, Ref, Root
from autotest.replaying.agreement import agree
from autotest.trials.trial import run_trial
from tests.support.faulty import FaultyTorch

SETTINGS = Settings(auto_backward=False)


def variance() -> Any:
    return dual.var(at.random_tensor(shape=(50,), low=9999, high=10001, dtype="float64", requires_grad=False), 0)


def by_mean_of_squares(_: Any) -> Callable[..., Any]:
    """Compute a difference of two large numbers, where torch adds small ones."""
    return lambda t, dim: ((t * t).sum(dim) - t.sum(dim) ** 2 / t.shape[dim]) / (t.shape[dim] - 1)


def of_single(original: Any) -> Callable[..., Any]:
    return lambda t, dim: original(t.float(), dim).to(t.dtype)


def clearances(reference: Framework, candidate: Framework) -> list[Verdict | None]:
    pair, found = Pair(reference, candidate), []
    for seed in range(6):
        outcome = run_trial(variance, seed, SETTINGS, pair)
        if outcome.mismatches:
            found.append(cleared(agree(outcome.program, pair, SETTINGS), pair, SETTINGS))
    return found


def test_rounding_that_the_reference_amplifies_in_double_precision_is_no_failure() -> None:
    found = clearances(FaultyTorch({"var": by_mean_of_squares}), TorchFramework())
    assert len(found) == 6
    assert None not in found
    # The others are called ill-conditioned in double precision already.
    assert any(verdict is not None and "faulty amplifies it, and torch is right" in verdict.line for verdict in found)


@pytest.mark.parametrize("candidate", [of_single, by_mean_of_squares])
def test_a_candidate_that_is_imprecise_in_double_precision_fails_the_test(candidate: Any) -> None:
    found = clearances(TorchFramework(), FaultyTorch({"var": candidate}))
    assert len(found) == 6
    assert found.count(None) == 6


def test_a_candidate_that_computes_doubles_in_single_precision_fails_beside_an_imprecise_reference() -> None:
    found = clearances(FaultyTorch({"var": by_mean_of_squares}), FaultyTorch({"var": of_single}))
    assert len(found) == 6
    assert found.count(None) == 6


def of_doubles(*numbers: float) -> Program:
    kwargs: dict[str, Any] = {"requires_grad": False, "device": "cpu"}
    return Program(
        (
            Call("tensor", "float64", (Captured(0),), kwargs, 0),
            Call("function", "sum", (Ref(0),), {"dtype": Root("float64")}, 1),
            Call("method", "double", (Ref(1),), {}, 2),
        ),
        (Array(np.array(numbers), "float64"),),
    )


def test_a_program_is_converted_with_the_dtypes_that_it_names() -> None:
    program = narrowed(of_doubles(0.1, np.inf))
    assert program is not None
    assert [call.target for call in program.calls] == ["float32", "sum", "float"]
    assert program.calls[1].kwargs == {"dtype": Root("float32")}
    assert program.arrays[0].dtype == "float32"
    assert program.arrays[0].data.tolist() == [float(np.float32(0.1)), np.inf]


def test_a_program_beyond_the_range_of_single_precision_or_in_it_already_is_not_converted() -> None:
    assert narrowed(of_doubles(1e200)) is None
    once = narrowed(of_doubles(1.0))
    assert once is not None
    assert narrowed(once) is None
