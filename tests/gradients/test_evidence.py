"""Differences refute a derivative only where the function is smooth. All cases occur among drawn numbers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from autotest.gradients.evidence import (
    Line,
    has_neighbours,
    has_ties,
    is_rough,
    is_unstable,
    magnitude_of,
    nudged,
    refuted,
)
from autotest.gradients.rule import RULE


def accused(function, at, analytic):
    """Return whether differences refute that `analytic` is the derivative of `function`, of one or several results."""
    with np.errstate(all="ignore"):
        extent = magnitude_of([np.array([float(at)]), np.atleast_1d(function(float(at)))])
        line = Line(lambda step: np.atleast_1d(function(at + step)), *extent, abs(at))
        return refuted(np.atleast_1d(np.float64(analytic)), line, RULE)[0].tolist()


SMOOTH = {
    "sine": (np.sin, 0.3, np.cos(0.3)),
    "exponential of much": (np.exp, 80.0, np.exp(80.0)),
    "beside a pole, not at it": (lambda x: 1 / x, 0.01, -1e4),
    "constant": (lambda x: 0 * x + 3, 0.3, 0.0),
}


@pytest.mark.parametrize(("function", "at", "right"), SMOOTH.values(), ids=SMOOTH)
def test_of_a_smooth_function_what_is_wrong_is_accused_and_what_is_right_is_not(function, at, right):
    assert accused(function, at, right) == [False]
    for wrong in (right * 1.01 + 0.01, -right - 1, np.nan, np.inf):
        assert accused(function, at, wrong) == [True], wrong


NOTHING_SHOWN = {
    "steeper than a step is long": (lambda x: x * np.sin(x), 2.9e38, 2.9e38 * np.cos(2.9e38)),
    "a kink": (np.abs, 0.0, 0.5),
    "beside a kink, nearer than a step": (np.abs, 1e-9, 1.0),
    "no number": (np.log, -1.0, -1.0),
    "an end of where it is defined": (np.sqrt, 0.0, np.inf),
    "an infinity": (np.exp, 800.0, np.inf),
    "at a pole": (lambda x: 1 / x, 1e-30, -1e60),
    "a step": (np.floor, 1.0, 0.0),
    "a number beside which a step is nothing": (lambda x: 2 * x, 1e30, 2.0),
    "a period shorter than the rounding of its operand": (np.sin, 1e12, 0.6),
    "a step that takes it far": (lambda x: x / np.hypot(x, 1e-12), 1e-13, 1e12),
    "at a kink, a gradient that is no number": (np.abs, 0.0, np.nan),
}


@pytest.mark.parametrize(("function", "at", "analytic"), NOTHING_SHOWN.values(), ids=NOTHING_SHOWN)
def test_where_differences_show_nothing_nothing_is_accused(function, at, analytic):
    assert accused(function, at, analytic) == [False]


ROUGH = {
    "a kink": (np.abs, 0.0),
    "a kink beside a steep slope": (lambda x: 1e3 * x + np.abs(x), 0.0),
    "a step": (np.sign, 0.0),
    "a step that is the same on both sides": (lambda x: np.where(x == 0, 0.0, 1.0), 0.0),
    "a pole": (lambda x: 1 / x, 1e-30),
    "an infinity": (lambda x: np.log(np.abs(x)), 0.0),
}


@pytest.mark.parametrize(("function", "at"), ROUGH.values(), ids=ROUGH)
def test_an_intermediate_result_that_is_not_smooth_is_noticed(function, at):
    with np.errstate(all="ignore"):
        assert is_rough(lambda step: [np.zeros(2), np.atleast_1d(function(at + step))], RULE, np.ones(1))
        assert not is_rough(lambda step: [np.atleast_1d(function(abs(at) + 0.3 + step))], RULE, np.ones(1))


@pytest.mark.parametrize(("function", "at", "right"), SMOOTH.values(), ids=SMOOTH)
def test_a_smooth_intermediate_result_excuses_nothing(function, at, right):
    assert not is_rough(lambda step: [np.atleast_1d(function(at + step))], RULE, np.ones(1))


def test_an_intermediate_result_whose_size_changes_is_not_smooth():
    assert is_rough(lambda step: [np.ones(1 + (step > 0))], RULE, np.ones(1))
    assert not is_rough(lambda step: [], RULE, np.ones(1))


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_what_is_not_finite_everywhere_is_a_reason_only_for_derivatives_that_are_not_either(number):
    assert not is_rough(lambda step: [np.array([step, number])], RULE, np.ones(1))
    assert is_rough(lambda step: [np.array([step, number])], RULE, np.array([np.nan]))


def test_a_gradient_far_from_both_sides_of_a_kink_is_accused():
    assert accused(np.abs, 0.0, 5.0) == [True]


def test_no_number_may_be_that_of_another_result_times_zero():
    assert accused(lambda x: np.array([x, np.sqrt(x)]), 0.0, [np.nan, np.inf]) == [False, False]
    assert accused(lambda x: np.array([x, np.sqrt(x)]), 0.0, [3.0, np.inf]) == [True, False]
    assert accused(lambda x: np.array([x, x * x]), 1.0, [np.nan, 2.0]) == [True, False]


def test_neighbours_are_nearer_than_a_step():
    assert has_neighbours(np.array([1.0, 2.0, 1.0]), 0, 1e-6)
    assert has_neighbours(np.array([1.0, 1.0 + 1e-6]), 0, 1e-6)
    assert not has_neighbours(np.array([1.0, 1.0 + 1e-5]), 0, 1e-6)
    assert has_ties(np.array([3.0, 1.0, np.nan, 3.0]), 1e-6)
    assert not has_ties(np.array([3.0, 1.0, np.nan, np.nan]), 1e-6)


@pytest.mark.parametrize(("conditioning", "wrong"), [(0.0, True), (1e16, True), (1e33, False)])
def test_a_value_that_rounding_of_the_inputs_may_change_wholly_accuses_nobody(conditioning, wrong):
    line = Line(
        lambda step: np.array([-1.8e16]), 1.8e16, True, 3.1, np.array([conditioning])
    )  # an almost singular matrix
    assert refuted(np.array([3.6e16]), line, RULE)[0].tolist() == [wrong]


def test_a_derivative_is_unstable_if_rounding_of_its_input_changes_it_by_its_error():
    drawn = np.array([0.0, 1.0, -3e7, 1.0])
    points = nudged(drawn)
    for near, far in itertools.pairwise([drawn, *points]):
        assert near[0] == far[0] == 0
        assert far[1] == far[3]
        assert (np.sign(far - near) == np.sign(points[0] - drawn)).all()
        assert (far[1:] != near[1:]).all()
    assert (np.abs(points[-1] - drawn) <= 1e-14 * np.abs(drawn)).all()
    seen = [np.array([1e7, 2.0, 1.0]), np.array([-1e7, 2.0, 2.0])]
    assert is_unstable(seen, np.array([0.1, 0.1, np.nan])).tolist() == [True, False, False]
