"""Numbers that were computed in a coarser dtype than their own are as exact as that dtype allows."""

from __future__ import annotations

import pytest
import torch as plain

from autotest import random_tensor, torch
from tests.support import running
from tests.support.faulty import FaultyTorch


def a_last_digit(original):
    """Return a function whose results in single and half precision differ from `original`'s in the last digit."""

    def otherwise(x, *args, **kwargs):
        result = original(x, *args)
        if result.dtype == plain.float64:
            return result
        noise = 1e-2 if result.dtype == plain.bfloat16 else 1e-7
        noisy = result * (1 + noise)
        return kwargs["out"].copy_(noisy) if "out" in kwargs else noisy

    return otherwise


def single(low=0.5, **options):
    return random_tensor(shape=(4, 3), low=low, high=2, dtype="float32", contents="uniform", **options)


def double(**options):
    return random_tensor(shape=(4, 3), low=0.5, high=2, dtype="float64", contents="uniform", **options)


def into_a_wider_tensor():
    y = double(requires_grad=False)
    torch.exp(single(requires_grad=False), out=y)
    return y


BODIES = {
    "converted": lambda: torch.exp(single()).double(),
    "converted and used": lambda: torch.log(torch.exp(single()).to(torch.float64) + 1),
    "promoted": lambda: torch.exp(single()) * double(),
    "one of several results": lambda: torch.max(torch.exp(single()).double(), 1),
    "complex": lambda: torch.exp(single()).to(torch.complex128),
    "from half precision": lambda: torch.exp(single().bfloat16()).float(),
    "with a gradient in double precision": lambda: torch.exp(double().float()),
    "stored": into_a_wider_tensor,
}


@pytest.mark.parametrize("name", BODIES)
def test_the_last_digit_of_a_coarser_dtype_is_no_difference(name):
    noisy = FaultyTorch({"exp": a_last_digit})
    for seed in range(5):
        assert running.trial(BODIES[name], noisy, seed=seed).mismatches == []


@pytest.mark.parametrize("name", BODIES)
def test_more_than_the_last_digits_is_a_difference(name):
    wrong = FaultyTorch({"exp": lambda exp: lambda x, **kwargs: exp(x * 1.05, **kwargs)})
    assert running.trial(BODIES[name], wrong).mismatches


@pytest.mark.parametrize(
    "body",
    [
        lambda: torch.log(double()),
        lambda: torch.log(single().double()),
        lambda: torch.log(single(layout="strided").t().double()),
        lambda: (torch.neg(single()), torch.log(double())),
    ],
    ids=["double", "of converted inputs", "of views of inputs", "beside another dtype"],
)
def test_double_precision_that_is_lost_is_a_difference(body):
    wrong = FaultyTorch({"log": lambda log: lambda x: log(x.float()).to(x.dtype)})
    assert running.trial(body, wrong).mismatches[0].symptom == "value"


def test_a_call_that_is_given_a_wider_dtype_computes_in_it():
    """A sum in float64 of single-precision inputs that is computed in float32 is a fault."""
    wrong = FaultyTorch({"sum": lambda total: lambda x, dim, dtype: total(x, dim=dim).to(dtype)})
    outcome = running.trial(lambda: torch.sum(single(), dim=1, dtype=torch.float64), wrong)
    assert [item.symptom for item in outcome.mismatches] == ["value"]
