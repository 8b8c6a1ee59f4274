"""Hypothesis strategies stand where generators do, and generators where strategies do."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from autotest import autotest, random_tensor, torch
from autotest.sources.hypothesis_strategies import arrays, strategy
from generators import GeneratorError, Source, nothing, oneof, pack, random, using
from generators.source import TRIAL_BITS


def test_a_strategy_is_a_generator_wherever_one_is_made_of_values() -> None:
    drawn = set()
    for seed in range(12):
        with using(Source(seed << 30)):
            drawn.add(oneof(st.integers(3, 5), st.sampled_from("ab")).value())
    assert drawn <= {3, 4, 5, "a", "b"}
    assert len(drawn) > 2


def test_what_a_strategy_gives_is_the_same_for_the_same_trial() -> None:
    def drawn(seed: int) -> object:
        with using(Source(seed)):
            generator = pack(st.lists(st.integers()))
            return generator.value(), generator.value() is generator.value()

    assert [drawn(seed) for seed in range(5)] == [drawn(seed) for seed in range(5)]
    assert all(same for _, same in map(drawn, range(5)))


def test_a_strategy_is_accepted_by_dual_functions_and_tensors(against, quick) -> None:
    against()
    seen = []

    @autotest(n=5)
    def body() -> object:
        x = random_tensor(ndim=2, dim0=st.integers(2, 4), dim1=3, low=-1, high=1)
        seen.append(x.shape[0])
        return torch.sum(x, dim=st.sampled_from([0, 1]), keepdim=st.booleans())

    body()
    assert set(seen) <= {2, 3, 4}


@settings(max_examples=40, database=None, deadline=None)
@given(strategy((random(2, 9) | nothing()).map(lambda value: value)))
def test_a_generator_is_a_strategy(value) -> None:
    assert value in range(2, 9) or repr(value) == "NOTHING"


def test_hypothesis_shrinks_what_a_generator_draws() -> None:
    options = settings(database=None, deadline=None, suppress_health_check=[*HealthCheck], phases=[*Phase])
    assert find(strategy(random(0, 1000)), lambda value: value >= 17, settings=options, random=Random(0)) == 17
    # How far it gets is a matter of its own luck, so that is fixed.
    smallest = find(
        arrays(2, dtype=float, low=0, high=1), lambda array: array.shape[1] > 3, settings=options, random=Random(0)
    )
    assert smallest.shape[1] == 4


def test_arrays_are_those_of_tensors_in_a_given_test_with_dual_functions(against) -> None:
    against()
    sums = []

    @settings(max_examples=10, database=None, deadline=None)
    @given(arrays(1, low=-1, high=1, dtype=float))
    def body(array) -> None:
        assert torch.sum(torch.tensor(array)).item() == pytest.approx(float(np.sum(array)), abs=1e-2)
        sums.append(array)

    body()
    assert sums


def test_what_is_no_generator_is_no_strategy() -> None:
    with pytest.raises(GeneratorError, match="expected a generator"):
        strategy(3)


def test_a_seed_of_a_trial_does_not_matter_to_hypothesis() -> None:
    with using(Source(3 << TRIAL_BITS)):
        assert pack(st.just(4)).value() == 4
