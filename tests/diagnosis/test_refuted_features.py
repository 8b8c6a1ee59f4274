"""A feature is not called necessary if other numbers, sizes or dtypes without it fail, too."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from autotest import random, random_tensor, torch
from tests.support.faulty import Replacement, with_gradient

pytestmark = pytest.mark.usefixtures("shrinking")


def real() -> Any:
    import torch as module

    return module


def off_where(condition: Callable[..., Any]) -> Replacement:
    """Return an operator whose result is greater by 1 where ``condition(*args)`` is true, of elements or of all."""

    def replacement(original: Any) -> Any:
        def wrong(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            return real().where(real().as_tensor(condition(*args)), result + 1, result)

        return wrong

    return replacement


def tanh() -> Any:
    return torch.tanh(random_tensor(ndim=2))


def two(name: str) -> Callable[[], Any]:
    return lambda: getattr(torch, name)(random_tensor(ndim=2), random_tensor(ndim=2))


# -- sizes --------------------------------------------------------------------------------------------------


def test_sizes_that_are_multiples_of_a_block_are_some_sizes(happens) -> None:
    told = happens("tanh", off_where(lambda x: x.numel() > 0 and x.numel() % 8 == 0), tanh)
    assert told == "only with some numbers of elements, such as 8 and 16"


def test_sizes_one_past_a_block_are_some_sizes(happens) -> None:
    told = happens("tanh", off_where(lambda x: x.dim() > 0 and x.shape[-1] > 8 and x.shape[-1] % 8 == 1), tanh)
    assert told == "only with some sizes of a dimension, such as 9 and 17"


def test_one_element_is_not_needed_if_one_past_a_block_shows_it_too(happens) -> None:
    told = happens("tanh", off_where(lambda x: x.dim() > 0 and x.shape[-1] % 8 == 1), tanh)
    assert told == "only with some sizes of a dimension, such as 1 and 9"


def test_a_size_that_alone_shows_it_is_the_only_one(happens) -> None:
    assert happens("tanh", off_where(lambda x: x.numel() == 5), tanh) == "only with 5 elements"


@pytest.mark.parametrize("place", [0, -1])
def test_a_dimension_that_alone_shows_it_is_no_number_of_elements(happens, place) -> None:
    wrong = off_where(lambda x: x.dim() > 0 and x.shape[place] == 5)
    assert happens("tanh", wrong, tanh) == "only with a dimension of 5"


# -- numbers of two inputs ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "needed"),
    [
        (lambda x, y: y > x, "less than"),
        (lambda x, y: y >= x, "at most"),
        (lambda x, y: y < x, "greater than"),
        (lambda x, y: y <= x, "at least"),
    ],
)
def test_the_order_of_two_inputs_is_named_instead_of_the_sign_of_one(happens, condition, needed) -> None:
    told = happens("sub", off_where(condition), two("sub"), special_values=False)
    assert told == f"only where an element of x0 is {needed} that of x1"


def test_a_sign_that_either_input_may_have_is_said_of_neither(happens) -> None:
    told = happens("mul", off_where(lambda x, y: (x < 0) != (y < 0)), two("mul"), special_values=False)
    assert told == "only where an element is negative"


def test_a_number_that_only_one_input_may_have_is_said_of_this_one(happens) -> None:
    told = happens("mul", off_where(lambda x, y: y < 0), two("mul"), special_values=False)
    assert told == "only where an element of x1 is negative"


def test_a_sum_that_is_great_needs_no_great_number_in_one_input(happens) -> None:
    told = happens("add", off_where(lambda x, y: x + y > 6), two("add"), special_values=False)
    assert "of x0" not in told
    assert "of x1" not in told


def test_a_product_that_is_great_is_told_beside_truth_values(report) -> None:
    def where() -> Any:
        one, two = (random_tensor(shape=(6,), requires_grad=False) for _ in "xy")
        return torch.where(random_tensor(shape=(6,), dtype=bool), one, two)

    text = report("where", off_where(lambda mask, x, y: x * y > 100), where, special_values=False)
    assert "Matters: " in text
    assert "Happens: " in text


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_a_great_result_of_many_numbers_needs_no_great_one_among_them(happens, name) -> None:
    def wrong(original: Any) -> Any:
        return lambda x: original(x) * (2 if original(x) > 1e3 else 1)

    def of_many() -> Any:
        return getattr(torch, name)(random_tensor(1, dim0=random(60, 90), low=20, high=30))

    assert happens(name, wrong, of_many) == ""


def test_a_difference_that_is_great_needs_no_great_number_in_one_input(happens) -> None:
    told = happens("sub", off_where(lambda x, y: (x - y).abs() > 1), two("sub"), special_values=False)
    assert "magnitude" not in told


@pytest.mark.parametrize(
    "condition",
    [lambda x, y: x == -y, lambda x, y: x * y > 2, lambda x, y: x > 2 * y],
    ids=["opposite numbers", "a great product", "more than twice as great"],
)
def test_nothing_is_said_of_an_element_if_only_both_together_matter(happens, condition) -> None:
    assert happens("add", off_where(condition), two("add"), special_values=False) == ""


# -- numbers of one input -----------------------------------------------------------------------------------


def test_a_tiny_number_is_not_needed_for_its_sign(happens) -> None:
    def body() -> Any:
        return torch.hypot(random_tensor(ndim=1), random_tensor(ndim=1))

    told = happens("hypot", lambda _: lambda x, y: (x * x + y * y).sqrt(), body)
    assert told  # the gradient is NaN where both are close to zero, in any dtype
    assert "negative" not in told
    assert "is zero" not in told
    assert "only in" not in told


@pytest.mark.parametrize("least", [0, 0.5])
def test_zero_and_small_positive_numbers_are_not_negative(happens, least) -> None:
    told = happens("tanh", off_where(lambda x: x <= least), tanh, special_values=False)
    assert told == ("" if least else "only where an element is zero or negative")


def test_negative_integers_are_not_zero(happens) -> None:
    def body() -> Any:
        return torch.neg(random_tensor(ndim=1, dtype="int64"))

    assert happens("neg", off_where(lambda x: x <= 0), body) == "only where an element is zero or negative"


def test_how_near_to_zero_a_number_must_be_is_told(happens) -> None:
    told = happens("tanh", off_where(lambda x: x.abs() < 0.2), tanh, special_values=False)
    assert told == "only where an element is closer to zero than about 0.2"


def test_negative_numbers_near_zero_count_as_well(happens) -> None:
    told = happens("tanh", off_where(lambda x: (x > -2) & (x <= 0)), tanh, special_values=False)
    assert told == "only where an element is closer to zero than about 2"


def test_numbers_of_one_sign_near_zero_are_told_with_their_sign(happens) -> None:
    told = happens("tanh", off_where(lambda x: (x > -2) & (x < 0)), tanh, special_values=False)
    assert told == "only where an element is closer to zero than about 2 and negative"


def test_other_even_numbers_are_not_zero(happens) -> None:
    told = happens("tanh", off_where(lambda x: x % 2 == 0), tanh, special_values=False)
    assert told == "only where an element is a whole number"


def test_other_numbers_with_the_same_fraction_are_tried(happens) -> None:
    def body() -> Any:
        return torch.round(random_tensor(ndim=1))

    def wrong(original: Any) -> Any:
        return lambda x: real().where(x - x.floor() == 0.5, x.floor() + 1, original(x))

    assert happens("round", wrong, body, special_values=False) == "only where an element is not a whole number"


def test_integers_that_need_many_digits_are_tried(happens) -> None:
    def body() -> Any:
        return torch.neg(random_tensor(ndim=2, dtype="int64"))

    told = happens("neg", lambda neg: lambda x: neg(x.float().to(x.dtype)), body)
    assert told == "only where an element is greater than about 1.7e+07 in magnitude"


def test_the_greatest_numbers_of_a_dtype_are_tried_in_the_place_of_an_infinity(happens) -> None:
    told = happens("tanh", lambda tanh: lambda x: real().where(x.abs() > 1e30, 0.5, tanh(x)), tanh)
    assert re.fullmatch(r"only where an element is greater than about (9.9e\+29|1e\+30) in magnitude", told)


def test_numbers_with_other_mantissas_are_tried(happens) -> None:
    told = happens("tanh", lambda tanh: lambda x: tanh(x.half().to(x.dtype)), tanh, special_values=False)
    assert "magnitude" not in told
    assert "negative" not in told


# -- dtypes -------------------------------------------------------------------------------------------------


def test_no_dtype_is_needed_if_the_result_of_the_other_one_overflows(happens) -> None:
    def body() -> Any:
        return torch.exp(random_tensor())

    told = happens("exp", lambda exp: lambda x: real().where(x > 88, exp(x) * 0, exp(x)), body, special_values=False)
    assert told == "only where an element is from about 88 to 710"


def test_no_dtype_is_needed_if_greater_numbers_of_the_other_one_show_it(happens) -> None:
    def body() -> Any:
        return torch.nn.functional.softplus(random_tensor(ndim=1))

    def wrong(_: Any) -> Any:
        return lambda x: x.exp().log1p()

    assert "only in" not in happens("nn.functional.softplus", wrong, body)


def test_whole_numbers_that_lose_digits_in_a_narrower_dtype_are_tried(happens) -> None:
    def body() -> Any:
        return torch.neg(random_tensor(ndim=1, dtype="float64"))

    told = happens("neg", lambda neg: lambda x: neg(x.half().to(x.dtype)), body, special_values=False)
    assert "whole" not in told


# -- cotangents ---------------------------------------------------------------------------------------------


def test_the_numbers_of_a_cotangent_that_matters_are_shown(report) -> None:
    def body() -> Any:
        return torch.neg(random_tensor(ndim=2))

    fault = with_gradient(lambda gradient: real().where(gradient < 0, gradient * 2, gradient))
    assert "\nMatters:    the cotangent of v1 (1.0)\n" in report("neg", fault, body)


def test_the_numbers_that_a_cotangent_needs_are_named(happens) -> None:
    def body() -> Any:
        return torch.neg(random_tensor(ndim=2))

    fault = with_gradient(lambda gradient: real().where(gradient.abs() > 1, gradient * 2, gradient))
    told = happens("neg", fault, body)
    assert told == "only where an element of the cotangent of v1 is greater than about 1 in magnitude"


@pytest.mark.parametrize(
    ("dtype", "wrong"),
    [
        ("uint8", lambda f: lambda x: f(x.to(real().int8)).to(real().uint8)),
        ("int16", lambda f: lambda x: f(x.half()).to(x.dtype)),
    ],
)
def test_what_is_wrong_far_from_the_end_of_a_range_does_not_need_the_end(happens, dtype: str, wrong: Any) -> None:
    assert "integer of" not in happens("max", wrong, lambda: torch.max(random_tensor(ndim=2, dtype=dtype)))


def test_a_determinant_is_also_wrong_for_matrices_whose_numbers_differ(happens) -> None:
    told = happens(
        "linalg.det", lambda det: lambda x: det(x).abs(), lambda: torch.linalg.det(random_tensor(shape=(3, 3)))
    )
    assert told == "only where an element is negative"


def test_a_filter_that_is_as_wide_as_its_image_by_chance_is_not_broadcast(happens) -> None:
    def flipped(conv2d: Callable[..., Any]) -> Callable[..., Any]:
        def wrong(x: Any, weight: Any, stride: int) -> Any:
            turned = with_gradient(lambda gradient: gradient.flip(-1))
            return (turned(conv2d) if stride > 1 else conv2d)(x, weight, stride=stride)

        return wrong

    def body() -> Any:
        image = random_tensor(ndim=4, dim1=2, dim2=6, dim3=6)
        return torch.nn.functional.conv2d(image, random_tensor(shape=(3, 2, 2, 2)), stride=random(1, 4))

    assert "broadcast" not in happens("nn.functional.conv2d", flipped, body)


def test_a_class_that_is_zero_by_chance_is_not_what_matters(happens) -> None:
    def body() -> Any:
        classes = random_tensor(shape=(4,), dtype=int, low=0, high=3)
        return torch.nn.functional.multi_margin_loss(random_tensor(ndim=2, dim0=4, dim1=3), classes, p=random(1, 3))

    told = happens("nn.functional.multi_margin_loss", lambda loss: lambda x, y, p: loss(x, y), body)
    assert "zero" not in told


def test_a_difference_within_the_tolerance_of_single_precision_is_not_one_of_doubles_only(happens) -> None:
    def saturating(tanh: Any) -> Any:
        return lambda x: real().where(x.abs() > 4, x.sign(), tanh(x))

    told = happens("tanh", saturating, lambda: torch.tanh(random_tensor(shape=(1,), dtype="float64", low=5, high=5.2)))
    assert "float64" not in told


def test_zeros_that_the_whole_trial_does_not_have_are_not_what_matters(happens) -> None:
    def rescaled(cross_entropy: Any) -> Any:
        return lambda x, y: cross_entropy(x, y / y.sum(1, keepdim=True))

    def body() -> Any:
        scores = random_tensor(ndim=2, dim0=3, dim1=4)
        return torch.nn.functional.cross_entropy(scores, random_tensor(shape=(3, 4), low=0.5, high=2))

    assert "zero" not in happens("nn.functional.cross_entropy", rescaled, body)


def test_a_dimension_of_one_that_the_whole_trial_does_not_have_is_not_what_matters(happens) -> None:
    def out_of_order(cat: Any) -> Any:
        return lambda parts: cat(parts if len(parts[1]) <= len(parts[0]) else [parts[0], parts[2], parts[1]])

    def body() -> Any:
        return torch.cat([random_tensor(shape=(size,)) for size in (3, 5, 3)])

    assert "dimension of 1" not in happens("cat", out_of_order, body)


# -- memory -------------------------------------------------------------------------------------------------


def test_memory_that_is_contiguous_for_a_single_row_is_tried_with_two(happens) -> None:
    def backwards(gradient: Any) -> Any:
        return gradient if gradient.is_contiguous() else gradient.reshape(-1).flip(0).reshape(gradient.shape)

    class Identity(real().autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, y: Any) -> Any:
            return y.view_as(y)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return backwards(gradient)

    told = happens("cosh", lambda cosh: lambda x: Identity.apply(cosh(x)), lambda: torch.cosh(random_tensor(ndim=2)))
    assert told.startswith("only with transposed, strided, expanded or pitched memory")


def test_a_flag_is_not_needed_if_numbers_of_the_domain_fail_without_it(happens) -> None:
    def halved(kl_div: Any) -> Any:
        return lambda x, y, **options: kl_div(x, y, **options) / min(y.numel(), 2)

    def body() -> Any:
        x, y = (random_tensor(shape=(2, 3), low=-1, high=1, dtype="float32") for _ in "xy")
        return torch.nn.functional.kl_div(x, y, reduction="batchmean", log_target=True)

    told = happens("nn.functional.kl_div", halved, body, special_values=False)
    assert "log_target" not in told  # without it a negative target gives NaN, which is the same on both sides
