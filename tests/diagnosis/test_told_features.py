"""The report names sizes, numbers and dtypes that a failure needs, and none that it only seems to need."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from autotest import Divergence, autotest, nothing, oneof, random, random_bool, random_tensor, torch
from autotest.diagnosis.explaining.decisive_numbers import number_claim
from autotest.program import Array
from tests.support.faulty import FaultyTorch
from tests.wrong_operators.seldom import called
from tests.wrong_operators.wrong import given, gradient_where, when, where
from tests.wrong_operators.wrong import torch as real

pytestmark = pytest.mark.usefixtures("shrinking")


def matrix(**more: Any) -> Any:
    return random_tensor(ndim=2, **more)


# -- sizes --------------------------------------------------------------------------------------------------


def test_a_number_that_has_to_be_the_size_grows_with_it(happens) -> None:
    def body() -> Any:
        width = random(1, 33)
        return torch.nn.functional.layer_norm(matrix(dim1=width), (width,))

    told = happens("nn.functional.layer_norm", called(lambda x, shape: shape[0] > 16), body)
    assert told == "needs 17 elements or more"


def test_two_dimensions_that_are_needed_are_told_apart(happens) -> None:
    wrong = when(lambda x: x.shape[0] > 2 and x.shape[1] > 3)
    told = happens("relu", wrong, lambda: torch.relu(random_tensor(ndim=2, dim0=5, dim1=6)))
    assert told == "needs a dimension of 4 or more, and another one of 3 or more"


def test_a_size_is_not_needed_if_the_same_number_in_the_call_decides(happens) -> None:
    def wrong(kthvalue: Any) -> Any:
        return lambda x, k: kthvalue(x + (x.shape[-1] == k), k)

    body = lambda: torch.kthvalue(random_tensor(shape=(5,)), random(1, 6))  # noqa: E731
    assert "dimension" not in happens("kthvalue", wrong, body)


def test_one_element_is_not_needed_if_the_whole_trial_has_more(happens) -> None:
    def body() -> Any:
        return torch.prod(random_tensor(shape=(4,)))

    # The other gradients are zero beside one zero, and all of them beside two.
    wrong = gradient_where(lambda x: bool((x == 0).any()), factor=0.0)
    assert happens("prod", wrong, body, special_values=False) == "only where an element is zero"


# -- numbers ------------------------------------------------------------------------------------------------


def test_a_whole_number_is_named(happens) -> None:
    wrong = where(lambda x: x == x.round())
    assert happens("trunc", wrong, lambda: torch.trunc(matrix())) == "only where an element is a whole number"


def test_a_fraction_is_not_needed_if_different_whole_numbers_show_it() -> None:
    # All whole parts are zero, and an operator that confuses numbers is right where they are equal.
    held = Array(np.array([0.95, 0.27, 0.66], "float32"), "float32")
    assert number_claim(held, lambda data: "fails" if len({*data}) > 1 else "passes", special_only=False) is None


def test_zero_is_not_needed_if_subnormal_numbers_show_it(happens) -> None:
    def flushed(x: Any) -> Any:
        return real().where(x.abs() < real().finfo(x.dtype).tiny, x * 0, x)

    told = happens("sqrt", given(flushed), lambda: torch.sqrt(matrix()))
    assert told in ("only where an element is zero or subnormal", "only where an element is subnormal")


@pytest.mark.parametrize("number", [2.5e-8, 1e-5, 4e-3])
def test_how_small_a_number_must_be_is_told_also_of_tiny_ones(happens, number: float) -> None:
    body = lambda: torch.log(random_tensor(shape=(1,), low=number, high=number * 1.1))  # noqa: E731
    told = happens("log", where(lambda x: (x > 0) & (x < 1e-2)), body)
    assert re.fullmatch(r"only where an element is closer to zero than about 0\.(01|0099|0098)", told)


def test_a_difference_that_keeps_few_digits_needs_small_numbers_although_some_of_them_are_exact(happens) -> None:
    told = happens("expm1", lambda f: lambda x: x.exp() - 1, lambda: torch.expm1(matrix()))
    assert re.fullmatch(r"only where an element is closer to zero than about \d\S*", told)


# -- dtypes -------------------------------------------------------------------------------------------------


def test_a_dtype_that_the_call_converts_from_is_not_needed(happens) -> None:
    def body() -> Any:
        return torch.sum(matrix(dtype="float32"), dtype=oneof(nothing(), torch.float64))

    assert happens("sum", lambda f: lambda x, dtype=None: f(x), body) == "only where dtype is given"


def test_integers_that_floats_do_not_replace_are_named(happens) -> None:
    body = lambda: torch.square(matrix(dtype=oneof("int64", "int32", "float32")))  # noqa: E731
    assert happens("square", called(lambda x: not x.is_floating_point()), body) == "only with integers"


def test_integers_in_one_input_beside_floats_are_named_with_it(happens) -> None:
    wrong = called(lambda x, y: x.is_floating_point() and not y.is_floating_point())
    told = happens("add", wrong, lambda: torch.add(matrix(), matrix(dtype="int64")))
    assert told == "only with integers in x1"


def test_truth_values_are_named_and_not_where_integers_show_it_too(happens) -> None:
    body = lambda: torch.sum(matrix(dtype="bool"))  # noqa: E731
    assert happens("sum", called(lambda x: x.dtype == real().bool), body) == "only with truth values"
    assert happens("sum", called(lambda x: x.dtype != real().float32), body) == ""


# -- views of the test --------------------------------------------------------------------------------------


def test_a_view_that_has_to_be_other_than_contiguous_is_named(happens) -> None:
    wrong = called(lambda x: not x.is_contiguous())
    assert happens("relu", wrong, lambda: torch.relu(matrix().t())) == "only where v1 is not contiguous"


def test_a_view_that_has_to_begin_inside_of_other_memory_is_named(happens) -> None:
    wrong = gradient_where(lambda x: x.storage_offset() > 0)
    told = happens("exp", wrong, lambda: torch.exp(matrix(dim0=4, low=-1, high=1)[1:]))
    assert told == "only where v1 is a part of other memory"


def test_a_view_is_not_named_if_copies_of_it_fail_too(happens) -> None:
    wrong = called(lambda x: x.shape[0] > 1)
    told = happens("relu", wrong, lambda: torch.relu(matrix(dim0=1, dim1=3).t()))
    assert "v1" not in told


# -- irrelevant arguments -----------------------------------------------------------------------------------


def test_an_argument_of_which_one_other_value_fails_is_not_irrelevant(report) -> None:
    # A step of 1, or of 0, is refused from 0 to -4.
    told = report("arange", called(lambda start, end, step: step < 0), lambda: torch.arange(0, -4, -1))
    assert "-1 of arange" not in told


# -- modules ------------------------------------------------------------------------------------------------


def test_an_argument_of_a_module_is_tried_with_the_same_parameters_on_both_sides(against) -> None:
    against(FaultyTorch(tensors={"linear": called(lambda x, weight, bias=None: bias is None)}))
    with pytest.raises(Divergence) as caught:
        autotest()(lambda: torch.nn.Linear(3, 2, bias=random_bool())(matrix(dim1=3, dtype="float32")))()
    finding = caught.value.finding
    assert finding is not None
    assert finding.happens == ("only with bias=False",)
    assert not any(line.startswith("Irrelevant") and "bias" in line for line in finding.shrinking)
