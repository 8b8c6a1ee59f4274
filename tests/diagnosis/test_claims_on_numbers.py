"""A report names the numbers that a failure needs, but none that a relation, a power or the last index explains."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from autotest import random_tensor, torch
from tests.wrong_operators.seldom import called
from tests.wrong_operators.wrong import Replacement
from tests.wrong_operators.wrong import torch as real

pytestmark = pytest.mark.usefixtures("shrinking")


def where_any(condition: Callable[..., Any]) -> Replacement:
    return called(lambda *tensors: bool(condition(*tensors).any()))


@pytest.fixture
def of_two(happens) -> Callable[..., str]:
    """Return ``of_two(condition, **said)``: when a function of two tensors fails where `condition` holds."""

    def told(condition: Callable[[Any, Any], Any], **said: Any) -> str:
        body = lambda: torch.atan2(random_tensor(shape=(3,), **said), random_tensor(shape=(3,), **said))  # noqa: E731
        return happens("atan2", where_any(condition), body)  # type: ignore[no-any-return]

    return told


# -- relations of two inputs --------------------------------------------------------------------------------


@pytest.mark.parametrize("condition", [lambda x, y: x - y == 1, lambda x, y: (x == -y) & (x != 0)])
def test_a_relation_of_two_numbers_needs_neither_of_them(of_two, condition) -> None:
    whole = {"contents": "integers", "low": -9, "high": 9}
    assert "element" not in of_two(condition, **whole)


def test_a_great_product_needs_no_great_number(of_two) -> None:
    assert "element" not in of_two(lambda x, y: x * y > 50, low=-100, high=100)


@pytest.mark.parametrize(
    ("condition", "wrong_claim"),
    [
        (lambda x, y, z: y - z == 1, "is -?\\d"),
        (lambda x, y, z: y * z > 50, "above"),
        (lambda x, y, z: z > x + y, "negative"),
    ],
)
def test_a_relation_beside_a_third_input_is_none_of_a_number(happens, condition, wrong_claim) -> None:
    drawn = lambda: random_tensor(shape=(9,), contents="integers", low=-9, high=10)  # noqa: E731
    told = happens("addcmul", where_any(condition), lambda: torch.addcmul(drawn(), drawn(), drawn()))
    assert not re.search(wrong_claim, told)


def test_a_special_number_of_one_input_is_not_needed_beside_another_kind_in_the_other(of_two) -> None:
    condition = lambda x, y: x.isnan() | y.isinf()  # noqa: E731
    assert "element" not in of_two(condition, contents="special")


@pytest.mark.parametrize(
    ("condition", "lines"),
    [
        (lambda x, y: (x > 0) & (y < 0), "only where an element of x1 is negative"),
        (
            lambda x, y: (x == 0) & (y == 0),
            "only where an element of x0 is zero, only where an element of x1 is zero",
        ),
        (lambda x, y: (x > 3) | (y > 3), "only where an element is above about 3"),
    ],
)
def test_numbers_that_are_needed_are_still_named(of_two, condition, lines) -> None:
    assert lines in of_two(condition, contents="integers", low=-3, high=5)


def test_an_index_that_has_to_be_the_last_one_may_be_any_number(happens) -> None:
    last = called(lambda x, dim, index: bool((index == x.shape[dim] - 1).any()))
    body = lambda: torch.index_select(  # noqa: E731
        random_tensor(ndim=2, dim0=5), 0, random_tensor(shape=(3,), contents="indices", high=5)
    )
    assert "above" not in happens("index_select", last, body)


# -- numbers of one input -----------------------------------------------------------------------------------


def numbers(**said: Any) -> Any:
    return random_tensor(shape=(40,), **said)


@pytest.mark.parametrize(
    ("condition", "drawn", "wrong_claim"),
    [
        (lambda x: x - x.floor() == 0.25, lambda: numbers(contents="integers", low=31, high=44) / 4, "of magnitude"),
        (lambda x: real().frexp(x)[0] == 0.5, lambda: numbers(contents="integers", low=1, high=9), "a whole number"),
        (lambda x: real().frexp(x.float())[0] == 0.5, lambda: numbers(dtype="int64", low=9, high=70), "from about"),
    ],
)
def test_a_single_number_is_not_needed_if_others_like_it_fail(happens, condition, drawn, wrong_claim) -> None:
    assert wrong_claim not in happens("square", where_any(condition), lambda: torch.square(drawn()))


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (lambda x: x == 7, "7"),
        (lambda x: x > 4, "at least 5"),
        (lambda x: x < -3, "at most -4"),
        (lambda x: x.abs() >= 6, "at least 6 in magnitude"),
        (lambda x: (x >= 3) & (x <= 6), "from 3 to 6"),
        (lambda x: (x <= -3) & (x >= -6), "from -6 to -3"),
        (lambda x: (x.abs() >= 3) & (x.abs() <= 6), "of magnitude 3 to 6"),
        (lambda x: x > 100, "above about 100"),
    ],
)
def test_the_bounds_of_small_integers_are_exact(happens, condition, said) -> None:
    drawn = lambda: numbers(dtype="int64", low=-20, high=200 if said.endswith("100") else 20)  # noqa: E731
    told = happens("neg", where_any(condition), lambda: torch.neg(drawn()))
    assert told == f"only where an element is {said}"


def test_no_number_is_needed_where_only_a_sum_a_mean_or_a_distance_is(happens) -> None:
    drawn = lambda: random_tensor(ndim=2, dim1=4, contents="integers", low=-2, high=3)  # noqa: E731
    vanishes = called(lambda x, dim: bool((x.sum(dim) == 0).any()))
    assert "zero" not in happens("sum", vanishes, lambda: torch.sum(drawn(), 1)).replace("zero or negative", "")
    whole = called(lambda x: bool(x.mean() == x.mean().round()))
    assert "whole" not in happens("mean", whole, lambda: torch.mean(drawn()))
    close = called(lambda x, dim: bool((x.var(dim) < 1e-6).any()))
    assert "equal" not in happens("var", close, lambda: torch.var(drawn(), 1))


def test_a_zero_is_not_needed_if_a_larger_matrix_without_one_fails(happens) -> None:
    singular = called(lambda x: abs(float(real().det(x.detach()))) < 1e-3)
    body = lambda: torch.linalg.det(random_tensor(shape=(3, 3), low=-2, high=2))  # noqa: E731
    assert "zero" not in happens("linalg.det", singular, body)
