"""Bounds of indices, layouts of an open rank, and single numbers: what a test says is law, and the rest is drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autotest import autotest, broadcast_tensors, random, torch
from generators import GeneratorError, explored_array, indices, oneof
from generators.layouts import LEAST_RANK
from tests.generators.test_generators_open_arrays import numbers, trials

#: A layout that is not contiguous -> the least rank of an array with it.
_RANKS = {**LEAST_RANK, "expanded": 1}


@pytest.mark.parametrize("dtype", [None, "int8", "uint8"])
def test_indices_begin_at_low(dtype: str | None) -> None:
    drawn = numbers(trials(lambda: explored_array(2, dtype=dtype, low=2, high=5, contents="indices")))
    assert {*drawn} == {2, 3, 4}
    drawn = numbers(trials(lambda: explored_array(2, dtype=dtype, high=5, contents="indices")))
    assert {*drawn} == {0, 1, 2, 3, 4}


def test_indices_from_the_end_are_indices_too() -> None:
    drawn = numbers(trials(lambda: explored_array(2, low=-5, high=5, contents="indices")))
    assert (drawn.min(), drawn.max()) == (-5, 4)
    drawn = numbers(trials(lambda: explored_array(2, dtype=int, high=5, contents=indices(negative=True))))
    assert (drawn.min(), drawn.max()) == (-5, 4)


@pytest.mark.parametrize(
    ("contents", "said"),
    [(indices(5), {"high": 3}), (indices(5), {"low": 1}), (indices(negative=True), {"low": 1, "high": 3})],
)
def test_indices_that_say_their_bounds_contradict_others(contents: indices, said: dict[str, int]) -> None:
    name = next(iter(said))
    with pytest.raises(GeneratorError, match=rf"expected no {name}, because the contents say it"):
        trials(lambda: explored_array(2, dtype=int, contents=contents, **said))


@pytest.mark.parametrize("layout", [*_RANKS])
def test_an_open_rank_allows_the_layout_that_a_test_says(layout: str) -> None:
    drawn = trials(lambda: [explored_array(layout=layout) for _ in range(2)])
    assert {one.data.ndim for arrays in drawn for one in arrays} == {*range(_RANKS[layout], 5)}
    assert all(one.layout == layout or (layout == "expanded" and one.data.size == 1) for one, _ in drawn)
    shapes = {tuple(one.data.shape for one in arrays) for arrays in drawn}
    assert len({first == second for first, second in shapes}) == 2  # they still broadcast, by ones


@pytest.mark.parametrize("layout", [*_RANKS])
@pytest.mark.parametrize("ndim", [None, random(1, 5), 4])
def test_tensors_that_broadcast_have_the_layout_that_a_test_says(against, quick, layout, ndim) -> None:
    against()
    ranks = set()

    @autotest()
    def body() -> object:
        x, y = broadcast_tensors(2, ndim=ndim, layout=oneof(layout, layout))
        ranks.update((x.ndim, y.ndim))
        return torch.add(x, y)

    body()
    assert max(ranks) == 4
    if ndim is None:
        assert min(ranks) == _RANKS[layout]


def test_a_rank_that_a_test_says_contradicts_a_layout(against, quick) -> None:
    against()

    @autotest()
    def body() -> object:
        return torch.add(*broadcast_tensors(2, ndim=1, layout="transposed"))

    with pytest.raises(GeneratorError, match="expected rank 2 or more for this layout, got 1"):
        body()


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (2,), (3,)])
@pytest.mark.parametrize("test", [1, 2, 3])
def test_few_numbers_are_of_every_special_kind_within_twenty_trials(test: int, shape: tuple[int, ...]) -> None:
    every = numbers(trials(lambda: explored_array(shape=shape), test))
    tiny = (abs(every) > 0) & (abs(every) < np.finfo(np.float32).tiny)
    for kind in (
        np.isnan(every),
        every == math.inf,
        every == -math.inf,
        (every == 0) & np.signbit(every),
        (every == 0) & ~np.signbit(every),
        tiny,
        abs(every) > 1e38,
    ):
        assert kind.any()
