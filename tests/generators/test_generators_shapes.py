"""Shapes: ranks, declared sizes, zero-size dimensions on request, and shapes that broadcast together."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from generators import (
    Generator,
    GeneratorError,
    Source,
    constant,
    random,
    random_array,
    random_shape,
    using,
)


def draws(generator: Generator, count: int = 300) -> list[Any]:
    drawn = []
    for seed in range(count):
        with using(Source(seed)):
            drawn.append(generator.value())
    return drawn


def test_left_open_the_rank_is_one_to_five_and_the_sizes_one_to_seven() -> None:
    shapes = draws(random_shape())
    assert {len(shape) for shape in shapes} == {1, 2, 3, 4, 5}
    assert {size for shape in shapes for size in shape} == {1, 2, 3, 4, 5, 6, 7}


def test_zero_sizes_and_rank_zero_come_only_when_asked() -> None:
    shapes = draws(random_shape(allow_zero=True))
    assert {len(shape) for shape in shapes} == {0, 1, 2, 3, 4, 5}
    assert any(0 in shape for shape in shapes)
    assert not any(0 in shape for shape in draws(random_shape(6)))


@pytest.mark.parametrize("rank", [0, 1, 5, 8])
def test_a_rank_that_is_given_is_kept(rank: int) -> None:
    assert {len(shape) for shape in draws(random_shape(rank, max_size=3), 20)} == {rank}


def test_declared_sizes_are_kept() -> None:
    channels = random(2, 6)
    shapes = random_shape(ndim=4, dims={1: channels, 3: 9}, max_size=4)
    for seed in range(50):
        with using(Source(seed)):
            shape = shapes.value()
            assert shape[1] == channels.value()
            assert shape[3] == 9
            assert all(1 <= size <= 4 for size in (shape[0], shape[2]))


def test_every_size_that_a_declared_bound_allows_is_drawn_and_no_other() -> None:
    sizes = Counter(shape[0] for shape in draws(random_shape(1, dims=[random(3, 6)]), 600))
    assert set(sizes) == {3, 4, 5}
    assert min(sizes.values()) > 150


def test_sizes_beyond_the_rank_are_not_used_and_open_ones_are_drawn() -> None:
    assert draws(random_shape(2, dims=[4, None, 9]), 3)[0][0] == 4
    with using(Source(1)) as source:
        random_shape(1, dims=[4, random(1, 9)]).value()
    assert source.choices == []


def test_the_rank_may_be_a_generator() -> None:
    assert {len(shape) for shape in draws(random_shape(random(2, 4)))} == {2, 3}


def test_each_size_is_one_choice_so_that_it_can_be_shrunk_alone() -> None:
    with using(Source(1)) as source:
        shape = random_shape(3).value()
    assert [choice.value for choice in source.choices] == list(shape)
    forced = [source.choices[0], ["integer", 1, 1, 8], source.choices[2]]
    with using(Source(1, forced=forced)):
        assert random_shape(3).value() == (shape[0], 1, shape[2])


def test_a_shape_may_be_given_with_generators_in_it_or_as_one() -> None:
    size = random(1, 4)
    with using(Source(1)):
        assert random_array((2, size)).value().data.shape == (2, size.value())
        assert random_array(constant((2, 3))).value().data.shape == (2, 3)
        assert random_array(5).value().data.shape == (5,)
        assert random_array(()).value().data.shape == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ndim": -1}, "ndim=-1 of the shape at"),
        ({"ndim": 2.5}, "ndim=2.5 of the shape at"),
        ({"dims": [3, -2]}, re.escape("dims[1]=-2 of the shape at")),
        ({"dims": ["3"]}, re.escape("dims[0]='3' of the shape at")),
        ({"max_size": 0}, "expected at least 1, or allow_zero=True"),
    ],
)
def test_a_size_that_is_none_is_refused_where_it_is_written(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(GeneratorError, match=message):
        random_shape(**arguments)


def test_a_size_that_turns_out_wrong_when_drawn_names_the_line() -> None:
    for wrong in (random_shape(1, dims=[constant(-3)]), random_array((constant(-3),)), random_array(constant("a"))):
        with pytest.raises(GeneratorError, match=r"of the shape at .*test_generators_shapes\.py:\d+: expected a whole"):
            wrong.value()
    pair = random(1, 3)
    with using(Source(1)):
        pair.draw(tuple[int, int])
        with pytest.raises(GeneratorError, match=r"fix the type of its generator with \.to\(int\)"):
            random_shape(2, dims=[pair]).value()


def test_a_negative_position_of_a_size_is_refused() -> None:
    with pytest.raises(GeneratorError, match=r"dims=\{-1: 9\}.*positions from 0"):
        random_shape(2, dims={-1: 9})
