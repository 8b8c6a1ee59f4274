"""A number is not called necessary if others show the failure that lie to each other as these do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from autotest import Divergence, autotest, oneof, random_tensor, skip_grad_check, torch
from tests.support.faulty import FaultyTorch, Replacement

pytestmark = pytest.mark.usefixtures("shrinking")


@pytest.fixture
def told_of_items(against: Callable[..., object]) -> Callable[..., str]:
    """Return a function that returns the report on indexing with a planted fault."""

    def told(fault: Replacement, body: Callable[[], Any]) -> str:
        against(FaultyTorch(tensors={"__getitem__": fault}))
        with pytest.raises(Divergence) as raised:
            skip_grad_check(reason="planted")(autotest()(body))()
        found = re.search(r"^Happens: .*(?:\n {12}.*)*", str(raised.value), re.MULTILINE)
        return "" if found is None else found[0]

    return told


def test_a_zero_is_not_needed_if_both_numbers_may_be_greater_by_a_whole_one(happens) -> None:
    def in_integers(gt: Any) -> Any:
        return lambda x, y: gt(x.to(y.dtype), y)

    told = happens(
        "gt", in_integers, lambda: torch.gt(random_tensor(ndim=2), random_tensor(ndim=2, dtype="int64", low=-5, high=6))
    )
    assert "zero" not in told


def test_a_great_whole_number_is_told_with_all_of_its_digits(happens) -> None:
    def as_int32(gt: Any) -> Any:
        return lambda x, y: gt(x, min(y, 2**31 - 1))

    told = happens("gt", as_int32, lambda: torch.gt(random_tensor(ndim=1, dtype="int64"), 2**31))
    assert told == "only where an element is 2147483648"


def indexed(getitem: Any) -> Any:
    """Return an indexing that confuses the dimensions of two index tensors apart from each other."""

    def wrong(x: Any, at: Any) -> Any:
        result = getitem(x, at)
        apart = isinstance(at, tuple) and len(at) == 3 and isinstance(at[1], slice)
        return result.transpose(0, 1).contiguous().view(result.shape) if apart else result

    return wrong


def test_an_index_of_zero_is_not_needed_if_it_may_count_from_the_end(told_of_items: Callable[..., str]) -> None:
    def body() -> Any:
        x = random_tensor(shape=(4, 5, 3))
        rows = random_tensor(shape=(2, 1), dtype="int64", low=-4, high=4)
        return x[rows, :, random_tensor(shape=(3,), dtype="int64", low=-3, high=3)]

    assert "zero" not in told_of_items(indexed, body)


def test_an_argument_of_zero_is_not_needed_if_a_fraction_shows_it_too(happens) -> None:
    def without_fractions(clamp: Any) -> Any:
        return lambda x, min: clamp(x, min=1.0 if 0 <= min < 1 else min)  # noqa: A006 - as torch calls it

    told = happens("clamp", without_fractions, lambda: torch.clamp(random_tensor(ndim=2), min=oneof(0.0, 0.5)))
    assert "min is zero" not in told


def test_small_numbers_are_not_needed_if_great_ones_as_close_together_show_it_too(happens) -> None:
    def of_another_epsilon(layer_norm: Any) -> Any:
        return lambda x, shape: layer_norm(x, shape, eps=1e-3)

    told = happens(
        "nn.functional.layer_norm",
        of_another_epsilon,
        lambda: torch.nn.functional.layer_norm(random_tensor(ndim=2, dim1=3, low=-2, high=2), (3,)),
    )
    assert "closer to zero" not in told


def test_numbers_near_zero_are_told_of_a_function_of_single_numbers(happens) -> None:
    def off_near_zero(tanh: Any) -> Any:
        return lambda x: tanh(x) + 0.1 * (x.abs() < 0.5)

    assert "closer to zero than about 0.5" in happens("tanh", off_near_zero, lambda: torch.tanh(random_tensor(ndim=2)))


def test_a_rank_is_told_of_the_input_whose_rank_it_is(told_of_items: Callable[..., str]) -> None:
    def all_of_none(getitem: Any) -> Any:
        def wrong(x: Any, at: Any) -> Any:
            is_mask = not isinstance(at, tuple)
            return getitem(x, at | (at.ndim == 1 and not at.any()) if is_mask else at)

        return wrong

    def body() -> Any:
        x = random_tensor(ndim=3)
        return x[random_tensor(ndim=1, dim0=x.shape[0], dtype=bool)]

    assert "only with rank 1 of x1" in told_of_items(all_of_none, body)
