"""Large sizes that the plan chose, and not the test, do not lead to results that take seconds and gigabytes."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from autotest import autotest, random_tensor, torch
from autotest.recording.large_results import MOST_ELEMENTS
from tests.support.faulty import FaultyTorch


def watched(seen: list[int]):
    """A candidate that collects the number of elements of each of its outer products."""

    def replacement(outer):
        def noted(one, two):
            result = outer(one, two)
            seen.append(math.prod(result.shape))
            return result

        return noted

    return FaultyTorch({"outer": replacement})


@pytest.mark.usefixtures("quick")
def test_an_outer_product_of_two_long_vectors_is_given_back_to_the_plan(against) -> None:
    seen: list[int] = []
    against(watched(seen))

    @autotest()
    def test():
        return torch.outer(random_tensor(ndim=1, requires_grad=False), random_tensor(ndim=1, requires_grad=False))

    test()
    assert len(seen) == 20
    assert max(seen) <= MOST_ELEMENTS < 4100**2


@pytest.mark.usefixtures("quick")
def test_a_size_that_the_test_says_is_law(against) -> None:
    seen: list[int] = []
    against(watched(seen))

    @autotest(n=2)
    def test():
        return torch.outer(random_tensor(shape=1500, dtype=int), random_tensor(shape=1500, dtype=int))

    test()
    assert Counter(seen) == {1500**2: 2}
