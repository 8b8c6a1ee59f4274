"""The report names what must be equal for a failure, and no number that it needs only beside the other input's."""

from __future__ import annotations

from typing import Any

import pytest

from autotest import oneof, random, random_tensor, torch
from autotest.diagnosis.explaining.decisive_arguments import argument_clauses
from autotest.program import Call, Program
from tests.wrong_operators.seldom import called
from tests.wrong_operators.wrong import given, when
from tests.wrong_operators.wrong import torch as real

pytestmark = pytest.mark.usefixtures("shrinking")


def vector(**more: Any) -> Any:
    return random_tensor(ndim=1, **more)


def whole(dtype: str = "int64", **more: Any) -> Any:
    return random_tensor(ndim=2, dtype=dtype, **more)


# -- equal indices ------------------------------------------------------------------------------------------


def stored(original: Any) -> Any:
    """Return `index_add` that loses all but one of what is added at one index."""
    return lambda x, dim, index, y: x + real().index_copy(real().zeros_like(x), dim, index, y)


def test_equal_indices_are_named(happens) -> None:
    def body() -> Any:
        count = random(1, 9)
        return torch.index_add(vector(dim0=4), 0, vector(dtype=int, low=0, high=4, dim0=count), vector(dim0=count))

    assert "only where elements of x1 are equal" in happens("index_add", stored, body)


def test_equal_indices_are_not_named_if_different_ones_fail_too(happens) -> None:
    def body() -> Any:
        return torch.index_select(vector(dim0=4), 0, vector(dtype=int, low=0, high=4))

    assert "equal" not in happens("index_select", called(lambda x, dim, index: len(index) > 1), body)


# -- an element and an argument -----------------------------------------------------------------------------


def losses(**more: Any) -> Any:
    targets = random_tensor(shape=(6,), dtype=int, low=0, high=4)
    return torch.nn.functional.cross_entropy(random_tensor(shape=(6, 4), low=-1, high=1), targets, **more)


def test_an_element_that_must_be_equal_to_an_argument_is_named(happens) -> None:
    def counting_all(cross_entropy: Any) -> Any:
        return lambda x, y, ignore_index=-100: cross_entropy(x, y, ignore_index=ignore_index, reduction="sum") / len(y)

    told = happens("nn.functional.cross_entropy", counting_all, lambda: losses(ignore_index=random(0, 4)))
    assert told.startswith("only where an element of x1 is equal to ignore_index")
    assert "zero" not in told


def test_an_argument_is_named_that_has_only_a_place_in_the_call(happens) -> None:
    wrong = lambda lt: lambda x, other: x <= other  # noqa: E731
    assert happens("lt", wrong, lambda: torch.lt(vector(), 1.0)) == "only where an element is equal to other"


def test_an_element_is_not_equal_to_an_argument_that_only_has_the_same_number(happens) -> None:
    def body() -> Any:
        return torch.clamp(random_tensor(ndim=2, contents="integers", low=-3, high=4), min=random(-3, 1))

    assert "equal to" not in happens("clamp", when(lambda x: bool((x == 0).any())), body)


# -- square matrices ----------------------------------------------------------------------------------------


def test_square_matrices_are_named(happens) -> None:
    def wrong(tril: Any) -> Any:
        return lambda x: tril(x.mT if x.shape[0] == x.shape[1] else x)

    assert "only with square matrices" in happens("tril", wrong, lambda: torch.tril(random_tensor(ndim=2)))


def test_square_matrices_are_not_named_if_others_fail_too(happens) -> None:
    wrong = given(lambda x: x.flip(0))
    assert "square" not in happens("tril", wrong, lambda: torch.tril(random_tensor(shape=(3, 3))))


# -- a single number of an argument -------------------------------------------------------------------------


def distance() -> Any:
    one, two = (random_tensor(shape=(2, 4), low=-1, high=1) for _ in "xy")
    return torch.nn.functional.pairwise_distance(one, two, p=oneof(1.0, 2.0, 3.0))


def test_the_number_of_an_argument_is_named_if_smaller_and_greater_ones_pass(happens) -> None:
    told = happens("nn.functional.pairwise_distance", called(lambda x, y, p=2.0: p == 3), distance)
    assert "only with p=3.0" in told


def test_an_argument_is_given_if_other_numbers_fail_too(happens) -> None:
    told = happens("nn.functional.pairwise_distance", called(lambda x, y, p=2.0: p > 2), distance)
    assert "only where p is given" in told


@pytest.mark.parametrize(("name", "told"), [("p", ["only where p is zero"]), ("dropout", [])])
def test_a_dropout_of_zero_is_not_needed_where_a_dropout_of_one_hides_the_failure(name: str, told: list[str]) -> None:
    program = Program((Call("function", "nn.TransformerEncoderLayer", (4, 1), {name: 0.0}, 0),), ())
    of_one_only = {1.0: "passes", 0.5: "passes", 2.0: "neither", -1.0: "neither"}
    found = argument_clauses(program, [], lambda other, _: of_one_only[other.calls[0].kwargs[name]])  # type: ignore[arg-type, return-value]
    assert [*found] == told


# -- numbers of two inputs ----------------------------------------------------------------------------------


def test_great_neighbours_are_not_told_as_two_single_numbers(happens) -> None:
    def in_single(eq: Any) -> Any:
        return lambda x, y: eq(x.float(), y.float())

    def body() -> Any:
        one, two = (random_tensor(shape=(3,), dtype="int64", low=low, high=low + 1) for low in (-(2**31) - 1, -(2**31)))
        return torch.eq(one, two)

    assert "only where" not in happens("eq", in_single, body)


def test_numbers_that_only_lie_close_to_each_other_are_not_equal(happens) -> None:
    def truncating(lt: Any) -> Any:
        return lambda x, y: lt(x, y.nan_to_num(0, 9e18, -9e18).long())

    body = lambda: torch.lt(whole(), whole("float32"))  # noqa: E731
    assert "equal" not in happens("lt", truncating, body)


def test_a_factor_that_must_be_great_may_be_either(happens) -> None:
    def saturating(mul: Any) -> Any:
        return lambda x, y: mul(x.double(), y.double()).clamp(-(2**31), 2**31 - 1).int()

    assert "of x" not in happens("mul", saturating, lambda: torch.mul(whole("int32"), whole("int32")))


def test_a_sum_beyond_the_range_does_not_need_the_largest_integer(happens) -> None:
    def of_32_bits(total: Any) -> Any:
        return lambda x: total(x).int().long()

    told = happens("sum", of_32_bits, lambda: torch.sum(whole("int32")))
    assert "elements or more" in told
    assert "only where" not in told


def test_infinities_of_either_sign_are_told_if_both_inputs_may_have_the_other(happens) -> None:
    def by_the_difference(original: Any) -> Any:
        return lambda x, y: real().maximum(x, y) + (x - y).abs().neg().exp().log1p()

    told = happens("logaddexp", by_the_difference, lambda: torch.logaddexp(vector(), vector()))
    assert told == "only where an element of x0 is infinite, only where an element of x1 is infinite"


# -- sizes --------------------------------------------------------------------------------------------------


def test_a_single_size_is_not_told_if_others_fail_in_another_way(happens) -> None:
    def evenly(chunk: Any) -> Any:
        return lambda x, count: real().tensor_split(x, min(count, len(x)))

    body = lambda: torch.chunk(random_tensor(shape=(4,)), 3)  # noqa: E731
    assert "dimension of 4" not in happens("chunk", evenly, body)


def test_numbers_are_not_equal_if_any_between_fail_too(happens) -> None:
    wrong = lambda search: lambda s, v: search(s[:1].expand_as(s).contiguous(), v)  # noqa: E731
    body = lambda: torch.searchsorted(vector(contents="sorted"), vector())  # noqa: E731
    assert "equal" not in happens("searchsorted", wrong, body)


def test_an_infinite_argument_is_named(happens) -> None:
    body = lambda: torch.norm(vector(), p=oneof(1.0, 2.0, float("inf")))  # noqa: E731
    assert "only with p=inf" in happens("norm", called(lambda x, p=2.0: p == float("inf")), body)
