"""A report names one of several inputs, calls, numbers or dtypes only if no other one shows the failure instead."""

from __future__ import annotations

import re
from typing import Any

import pytest

from autotest import Divergence, autotest, oneof, random_tensor, torch
from tests.support.faulty import FaultyTorch
from tests.wrong_operators.seldom import called
from tests.wrong_operators.wrong import off, through

pytestmark = pytest.mark.usefixtures("shrinking")


def matrix(**more: Any) -> Any:
    return random_tensor(ndim=2, **more)


# -- memory -------------------------------------------------------------------------------------------------

STRIDED = "only with transposed, strided, expanded or pitched memory of"


@pytest.mark.parametrize(
    ("condition", "whose"),
    [
        (lambda x, y: not (x.is_contiguous() and y.is_contiguous()), "x0 or x1"),
        (lambda x, y: not y.is_contiguous(), "x1"),
    ],
)
def test_memory_is_that_of_either_input_if_the_other_one_may_have_it_instead(happens, condition, whose) -> None:
    assert happens("add", called(condition), lambda: torch.add(matrix(), matrix())) == f"{STRIDED} {whose}"


def test_inputs_that_do_not_broadcast_may_have_it_too(happens) -> None:
    wrong = called(lambda x, y: not (x.is_contiguous() and y.is_contiguous()))
    body = lambda: torch.matmul(matrix(dim0=2, dim1=3), matrix(dim0=3, dim1=4))  # noqa: E731
    assert happens("matmul", wrong, body, special_values=False).endswith("memory of x0 or x1")


def test_the_memory_of_a_cotangent_may_be_what_is_strided_instead(happens) -> None:
    def wrong(exp: Any) -> Any:
        def replaced(x: Any) -> Any:
            given = x.detach()
            strided = lambda gradient: not (gradient.is_contiguous() and given.is_contiguous())  # noqa: E731
            return through(lambda gradient, _: gradient * (1.5 if strided(gradient) else 1))(exp(x))

        return replaced

    body = lambda: torch.exp(matrix(low=-1, high=1, layout="strided"))  # noqa: E731
    assert happens("exp", wrong, body).endswith("memory of x0 or the cotangent of v3")


# -- calls ---------------------------------------------------------------------------------------------------


def test_the_call_is_marked_that_gives_a_zero_another_sign(report) -> None:
    text = report("neg", lambda neg: lambda x: neg(x) + 0.0, lambda: 1 / torch.neg(matrix()))
    assert text.startswith("faulty diverges from torch: neg, special values (forward)")
    assert "v1 = torch.neg(x0)  # <-- first divergent call" in text


# -- gradients ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        (
            lambda x, y: x.requires_grad != y.requires_grad,
            "only where an input requires no grad, only where an input requires grad",
        ),
        (
            lambda x, y: x.requires_grad and not y.requires_grad,
            "only where x1 requires no grad, only where x0 requires grad",
        ),
        (lambda x, y: not (x.requires_grad or y.requires_grad), "only with requires_grad=False"),
    ],
)
def test_which_input_requires_grad_is_told_if_it_matters(happens, condition, told) -> None:
    assert happens("mul", called(condition), lambda: torch.mul(matrix(), matrix())) == told


# -- numbers and sizes --------------------------------------------------------------------------------------


def test_no_great_number_is_needed_if_the_distance_of_two_is_what_is_great(happens) -> None:
    wrong = called(lambda x: bool(x.max() - x.min() > 1000))
    assert happens("relu", wrong, lambda: torch.relu(matrix())) == "needs 2 elements or more"
    whole = lambda: torch.neg(matrix(low=-5000, high=5000, dtype="int64"))  # noqa: E731
    assert happens("neg", wrong, whole) == "needs 2 elements or more"


def test_no_great_number_is_needed_if_the_sum_of_squares_is_what_is_great(happens) -> None:
    assert happens("relu", called(lambda x: bool(x.norm() > 1000)), lambda: torch.relu(matrix())) == ""


def test_numbers_that_are_close_to_each_other_need_not_be_equal(happens) -> None:
    close = lambda distance: called(lambda x, y: bool(((x - y).abs() <= distance).any()))  # noqa: E731
    body = lambda: torch.atan2(random_tensor(shape=(3,)), random_tensor(shape=(3,)))  # noqa: E731
    assert "equal" not in happens("atan2", close(1e-2), body, special_values=False)
    assert "equal" not in happens("atan2", close(1e-5), body, special_values=False)
    assert "elements of x0 and x1 are equal" in happens("atan2", close(0), body, special_values=False)


def test_numbers_of_their_magnitude_need_not_be_equal(happens) -> None:
    def overflowing(mean: Any) -> Any:
        return lambda x: x.sum() / x.numel() + 0 * x.sum()  # NaN where the sum overflows

    body = lambda: torch.mean(random_tensor(shape=(2,), low=3e38, high=3.3e38, dtype="float32"))  # noqa: E731
    assert "equal" not in happens("mean", overflowing, body)


def test_fractions_are_not_needed_where_whole_numbers_that_are_as_close_show_it(happens) -> None:
    def cancelling(var: Any) -> Any:
        return lambda x, dim: ((x * x).mean(dim) - x.mean(dim) ** 2) * x.shape[dim] / (x.shape[dim] - 1)

    body = lambda: torch.var(matrix(dim1=5), dim=1)  # noqa: E731
    assert "whole number" not in happens("var", cancelling, body, special_values=False)


def test_a_dtype_is_not_needed_that_one_of_another_kind_replaces(happens) -> None:
    body = lambda: torch.square(matrix(dtype=oneof("int64", "float64", "float32"), low=-9, high=9))  # noqa: E731
    wide = called(lambda x: x.element_size() == 8)
    assert re.search(
        "only in float64 among floating dtypes|only in int64 among integers", happens("square", wide, body)
    )
    assert "only in int64" in happens("square", called(lambda x: str(x.dtype) == "torch.int64"), body)
    assert "only in float64" in happens("square", called(lambda x: str(x.dtype) == "torch.float64"), body)


def test_elements_may_be_missing_from_one_input_beside_others(happens) -> None:
    wrong = called(lambda tensors: any(not one.numel() for one in tensors))
    body = lambda: torch.cat([random_tensor(shape=(0, 3)), random_tensor(shape=(2, 3))])  # noqa: E731
    assert happens("cat", wrong, body) == "only where an input has no elements"


def test_a_size_is_not_needed_that_an_argument_of_the_same_number_explains(against) -> None:
    def replaced(cls: Any) -> Any:
        class Conv2d(cls):  # type: ignore[misc]
            def forward(self, x: Any) -> Any:
                result = super().forward(x)
                return off(result) if self.groups == 2 else result

        return Conv2d

    against(FaultyTorch({"nn.Conv2d": replaced}))
    image = lambda: random_tensor(shape=(1, 4, 5, 5), low=-1, high=1, dtype="float32")  # noqa: E731
    with pytest.raises(Divergence) as caught:
        autotest()(lambda: torch.nn.Conv2d(4, 4, 3, groups=oneof(1, 2, 4))(image()))()
    finding = caught.value.finding
    assert finding is not None
    assert "only with a dimension of 2" not in finding.happens
    assert "only with groups=2" in finding.happens
