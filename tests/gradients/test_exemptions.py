"""A function that computes in lower precision inside is checked with longer steps, but not less strictly."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch as real

from autotest import random_tensor, torch
from autotest.frameworks.oneflow import OneFlowFramework
from autotest.frameworks.torch import TorchFramework
from autotest.gradients.exemptions import FEW, LOWER, POINTS, STEPS, JacobianBlock, _fourth_differences, _irregular
from autotest.gradients.function import FunctionOfInputs
from autotest.gradients.rule import RULE, Rule
from autotest.gradients.sums import SumOfInput
from tests.gradients.test_gradcheck import checked, leaf, needs_oneflow, with_backward
from tests.support.running import agrees, trial

CAUTIOUS = Rule(cautious=True)


def rough(change):
    """Return a logarithm in single precision whose gradient in double precision is passed through `change`."""
    return with_backward(lambda x: x.float().log().double() + x, lambda x, c: change((1 / x + 1) * c))


@pytest.mark.parametrize("low", [0.01, 0.5, 4.0])
def test_a_right_gradient_passes_and_says_why(low):
    found = checked(rough(lambda gradient: gradient), leaf(5, 5, low=low, high=2 * low), rule=CAUTIOUS)
    assert found.passed
    assert LOWER in found.rows[0].note
    assert "lower precision" in found.warnings[0]


def test_it_is_no_excuse_unless_it_is_asked_for():
    rule = dataclasses.replace(CAUTIOUS, cautious=False)
    assert not checked(rough(lambda gradient: gradient), leaf(5, 5), rule=rule).passed


@pytest.mark.parametrize("factor", [1.01, 0.0, -1.0])
def test_a_wrong_gradient_of_such_a_function_is_wrong(factor):
    assert not checked(rough(lambda gradient: gradient * factor), leaf(5, 5), rule=CAUTIOUS).passed


@pytest.mark.parametrize(("largest", "passed"), [(2.0, False), (float("inf"), True)])
def test_a_gradient_that_is_no_number_is_wrong_there_unless_an_infinity_may_explain_it(largest, passed):
    x = real.tensor([0.5, largest], dtype=real.float64, requires_grad=True)
    assert checked(rough(lambda gradient: gradient * float("nan")), x, rule=CAUTIOUS).passed == passed


def test_a_wrong_gradient_of_a_smooth_function_is_not_excused():
    wrong = with_backward(lambda x: x * x, lambda x, c: 2.001 * x * c)
    assert not checked(wrong, leaf(5, 5), rule=CAUTIOUS).passed


def test_a_smooth_function_is_searched_for_steps_at_few_points():
    def evaluations(inner):
        made = []
        function = FunctionOfInputs(TorchFramework(), lambda x: [made.append(x) or inner(x)], [leaf(2)])
        block = JacobianBlock(function, 0, 0, CAUTIOUS)
        made.clear()
        height, _ = block._steps(0, block._near(0))
        return len(made), height.any()

    assert evaluations(real.exp) == (FEW, False)
    searched, steps = evaluations(lambda x: x.float().exp().double())
    assert searched > 2 * POINTS
    assert steps


@pytest.mark.parametrize("magnitude", [10.0**power for power in range(-5, 1)])
@pytest.mark.parametrize("inner", [lambda x: x.float(), lambda x: (x + 1).float()], ids=["operand", "result"])
def test_where_all_points_show_steps_the_few_do(magnitude, inner):
    shown = 0
    for number in np.linspace(magnitude, 7 * magnitude, 50):
        x = real.tensor([number, float("nan")], dtype=real.float64, requires_grad=True)
        block = JacobianBlock(FunctionOfInputs(TorchFramework(), lambda x: [inner(x).double()], [x]), 0, 0, CAUTIOUS)
        points = block._near(0)
        bends = np.abs(np.diff(block._seen(0, points)[:, 0], 4))
        if (bends > 1e-13 * (2 + 7 * magnitude)).sum() >= STEPS:
            shown += 1
            assert block._steps(0, points)[0].tolist() == [bends.max() / 2, 0.0], number
    assert shown > 20


def test_fourth_differences_are_the_usual_ones_at_equal_distances():
    points = np.linspace(1.0, 2.0, 9)
    seen = np.random.Generator(np.random.SFC64(0)).normal(size=(9, 3))
    assert np.allclose(_fourth_differences(seen, points), np.abs(np.diff(seen, 4, axis=0)), rtol=1e-9)


def test_fourth_differences_of_a_cubic_function_are_zero_wherever_it_is_looked_at():
    points = _irregular(-1.0, 3.0)
    assert (np.diff(points) > 0).all()
    assert _fourth_differences((points**3 - 2 * points)[:, None], points).max() < 1e-13
    assert _fourth_differences((points > 0.3)[:, None] * 1.0, points).max() > 1


@needs_oneflow
def test_oneflow_takes_the_logarithm_of_a_target_in_single_precision():
    def body():
        x, y = random_tensor(shape=(3, 4)), random_tensor(shape=(3, 4), low=0.1)
        return torch.nn.functional.kl_div(x, y, reduction="sum")

    outcome = trial(body, OneFlowFramework(), check_grad="numeric")
    assert agrees(outcome)
    assert not outcome.complaint


@pytest.mark.parametrize(("jitter", "passed"), [(1.0, True), (0.0, False)])
def test_a_derivative_that_rounding_of_the_input_changes_is_not_accused(jitter, passed):
    wrong = with_backward(lambda x: 2 * x, lambda x, c: (100 + jitter * 1e6 * real.sin(1e16 * x)) * c)
    assert checked(wrong, leaf(5, 5, low=0.3, high=0.9), rule=CAUTIOUS).passed == passed


def test_a_function_that_is_the_same_infinity_beside_two_equal_numbers_has_slope_zero_there():
    equal = np.array([1.0, 1.0])

    def total(numbers):
        return float(numbers[0]) if np.abs(numbers - equal).max() <= 10 * RULE.eps else float("inf")

    summed = SumOfInput(equal, total, np.zeros_like, lambda numbers: [], (1.0, True))
    assert summed.wrong_element(np.zeros(2), RULE) is None
