"""What `random` draws: its type, its bounds, and errors for wrong arguments."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Optional, Union

import numpy as np
import pytest

from generators import (
    NOTHING,
    BadBounds,
    Generator,
    GeneratorError,
    Source,
    constant,
    random,
    random_bool,
    random_or_nothing,
    using,
)


def draws(generator: Generator, annotation: Any = None, count: int = 300) -> list[Any]:
    drawn = []
    with using(Source(1)) as source:
        for _ in range(count):
            generator.forget(source)
            drawn.append(generator.draw(annotation))
    return drawn


def test_whole_numbers_stay_below_the_upper_bound() -> None:
    assert set(draws(random(2, 5))) == {2, 3, 4}
    assert set(draws(random())) == {1, 2, 3, 4, 5}


def test_floats_stay_within_their_bounds() -> None:
    drawn = draws(random(-0.5, 2))
    assert all(type(value) is float and -0.5 <= value < 2 for value in drawn)
    assert min(drawn) < -0.4
    assert max(drawn) > 1.9


def test_the_type_that_was_fixed_first_wins() -> None:
    fixed = random(1, 6).to(float).to(int)
    assert all(type(value) is float for value in draws(fixed, int))


def test_the_annotation_types_an_untyped_random() -> None:
    assert all(type(value) is float for value in draws(random(1, 6), float))
    assert all(type(value) is int for value in draws(random(1, 6), "_int"))
    assert all(type(value) is complex for value in draws(random(1, 6), complex))
    assert set(draws(random(1, 6), bool)) == {True, False}


def test_optional_is_never_none() -> None:
    assert None not in draws(random(), Optional[int])  # noqa: UP045
    assert None not in draws(random(), "int | None")
    assert None not in draws(random(), type(None))


def test_an_unknown_annotation_leaves_the_type_to_the_bounds() -> None:
    assert all(type(value) is int for value in draws(random(1, 3), "Tensor"))
    assert all(type(value) is float for value in draws(random(1.0, 3), object()))


def test_a_size_or_pair_of_sizes_is_drawn_as_either_and_the_choice_is_logged() -> None:
    pair_or_one = Union[int, tuple[int, int]]  # noqa: UP007
    drawn = draws(random(1, 4), pair_or_one)
    kinds = Counter(type(value) for value in drawn)
    assert set(kinds) == {int, tuple}
    assert min(kinds.values()) > 100
    assert {value for value in drawn if type(value) is tuple} == {(i, j) for i in (1, 2, 3) for j in (1, 2, 3)}
    with using(Source(1)) as source:
        random().draw(pair_or_one)
    number, form = source.choices[:2]
    assert (number.kind, number.low, number.high) == ("integer", 1, 6)
    assert (form.kind, form.high) == ("index", 2)


def test_literals_are_drawn_from() -> None:
    assert set(draws(random(), Literal["zeros", "reflect"])) == {"zeros", "reflect"}
    assert set(draws(random().to(Literal["sum", "mean"]))) == {"sum", "mean"}


def test_a_tuple_of_any_length_gets_one_to_three_elements() -> None:
    assert {len(value) for value in draws(random(), "Sequence[Union[_int, SymInt]]")} == {1, 2, 3}


def test_bounds_that_are_not_whole_make_a_number_a_float() -> None:
    assert {type(value) for value in draws(random(1, 6), "Number")} == {int, float}
    assert {type(value) for value in draws(random(0.1, 0.9), "Number")} == {float}


def test_whole_numbers_between_bounds_that_are_not_whole() -> None:
    assert set(draws(random(0.5, 3.5).to(int))) == {1, 2, 3}
    assert set(draws(random(0.0, 3.0).to(int))) == {0, 1, 2}


def test_bounds_may_be_generators_and_keep_their_own_type() -> None:
    channels = random(2, 5)
    index = random(0, channels)
    scale = (random(0, channels) | random(0, channels)).to(float)
    with using(Source(1)) as source:
        for _ in range(200):
            index.forget(source)
            scale.forget(source)
            assert 0 <= index.value() < channels.value()
            assert (type(scale.value()), type(channels.value())) == (float, int)


def test_numbers_of_numpy_and_of_fractions_are_bounds_too() -> None:
    assert set(draws(random(np.int64(1), np.int8(3)))) == {1, 2}
    assert all(0.25 <= value < 1.5 for value in draws(random(Fraction(1, 4), np.float32(1.5))))


def test_random_bool_and_random_or_nothing() -> None:
    assert set(draws(random_bool(), int)) == {True, False}
    counts = Counter(value is NOTHING for value in draws(random_or_nothing(1, 3), count=3000))
    assert 1900 < counts[False] < 2100


@pytest.mark.parametrize(("low", "high"), [(5, 1), (3, 3), (2.5, 1), (1.0, 1.0)])
def test_bounds_the_wrong_way_round_are_refused_where_they_are_written(low: Any, high: Any) -> None:
    with pytest.raises(BadBounds) as caught:
        random(low, high)
    assert re.match(
        rf"random\({low}, {high}\) at .*test_generators_scalars\.py:\d+: expected low < high", str(caught.value)
    )


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        ({"low": 7}, "got low=7, high=6; high, which was omitted, is 6"),
        ({"high": 0}, "high=0; low, which was omitted, is 1"),
    ],
)
def test_a_bound_that_was_omitted_is_named_where_nothing_is_between(bounds: dict[str, int], told: str) -> None:
    with pytest.raises(BadBounds, match=told):
        random(**bounds)


@pytest.mark.parametrize("bound", ["3", float("nan"), float("inf"), 1j, (1, 2)])
def test_a_bound_that_is_no_number_is_refused(bound: Any) -> None:
    with pytest.raises(BadBounds, match="expected a finite number or a generator of one"):
        random(1, bound)
    with pytest.raises(BadBounds, match=r"low="):
        random(bound, 1)


def test_bounds_that_turn_out_wrong_when_drawn_name_the_line_that_wrote_them() -> None:
    wrong = random(5, constant(2))  # the wrong bound
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if text.endswith("# the wrong bound"))
    with pytest.raises(BadBounds) as caught:
        wrong.value()
    assert f"{__file__}:{line}: expected low < high (high itself is not drawn), got low=5, high=2" in str(caught.value)


def test_the_line_is_the_tests_own_even_when_a_helper_of_this_package_builds_the_generator() -> None:
    with pytest.raises(BadBounds, match=r"test_generators_scalars\.py"):
        random_or_nothing(6, 2)


def test_the_line_is_the_callers_when_a_module_asks_to_be_hidden() -> None:
    library = {"__name__": "library", "__generators_hide__": True, "random": random}
    exec(compile("def build(low, high):\n    return random(low, high)", "library.py", "exec"), library)  # noqa: S102
    build: Any = library["build"]
    with pytest.raises(BadBounds, match=r"test_generators_scalars\.py"):
        build(6, 2)


def test_no_whole_number_between_the_bounds_is_an_error_when_one_is_asked_for() -> None:
    with pytest.raises(BadBounds, match="when whole numbers are requested"):
        random(0.1, 0.9).draw(int)


def test_a_bound_that_was_drawn_as_a_pair_says_how_to_fix_its_type() -> None:
    size = random(1, 3)
    with using(Source(1)):
        size.draw(tuple[int, int])
        with pytest.raises(BadBounds, match=r"\.to\(int\)"):
            random(0, size).value()


@pytest.mark.parametrize("kind", [list, None, "Tensor", str, object()])
def test_a_type_that_cannot_be_drawn_is_refused(kind: Any) -> None:
    with pytest.raises(GeneratorError, match="expected a type to draw"):
        random().to(kind)
