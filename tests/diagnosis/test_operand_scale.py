"""The magnitude of the numbers that an element depends on, which determines its rounding error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autotest import random_tensor
from autotest import torch as dual
from autotest.diagnosis.rounding.operand_scale import operand_scale
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from tests.diagnosis.test_shrinking import diagnosed
from tests.support.faulty import FaultyTorch


def scale(function: Callable[..., Any], *given: Any) -> Any:
    operands = [np.array(item) for item in given]
    found = np.asarray(function(*operands))
    return operand_scale(lambda args, kwargs: np.asarray(function(*args)), operands, {}, found).tolist()


@pytest.mark.parametrize(
    ("function", "args", "expected"),
    [
        (np.sqrt, ([4.0, 1e30],), [20.0, 1e30]),
        (np.cumsum, ([1.0, 1e30, 2.0],), [20.0, 1e30, 1e30]),
        (np.median, ([1.0, 2.0, 1e30],), 20.0),
        (np.median, ([1.0, 1e29, 1e30],), 1e30),
        (np.add, ([1.0, 2.0], [1e30, 3.0]), [1e30, 20.0]),
        (np.tanh, ([3.0],), [3.0]),
    ],
)
def test_it_is_that_of_the_numbers_which_reach_the_element(
    function: Callable[..., Any], args: Any, expected: Any
) -> None:
    assert scale(function, *args) == expected


def test_great_numbers_that_cancel_are_among_these() -> None:
    assert scale(lambda x: x.sum(keepdims=True), [1e30, -1e30, 1.0]) == [1e30]


def test_whole_numbers_are_left_as_they_are() -> None:
    assert scale(np.multiply, [1.5, 1e30], [10**15, 1]) == [1e15, 1e30]


def test_what_has_no_answer_to_other_operands_depends_on_all() -> None:
    assert operand_scale(lambda args, kwargs: None, (np.array([1.0, 1e30]),), {}, np.zeros(2)).tolist() == [1e30, 1e30]


def test_a_wrong_element_beside_a_great_number_is_told_whose_it_is() -> None:
    def numbers(bits: Any, spec: Any) -> Any:
        return np.array([1e30, 4.0], "float32")

    def body() -> Any:
        return dual.sqrt(random_tensor(shape=(2,), contents=numbers))

    right = TorchFramework()
    finding = diagnosed(body, Pair(FaultyTorch({"sqrt": lambda sqrt: lambda x: sqrt(x).clamp(max=1.5)}), right))
    assert finding.blame == "reference"
