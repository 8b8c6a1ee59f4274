"""A library whose backward functions are called by hand can be a candidate with gradients."""

from __future__ import annotations

import pytest

from autotest import Divergence, autotest, random_tensor, torch
from autotest.running.conformance.checking import conformance
from generators.layouts import LAYOUTS
from tests.support import running
from tests.support.hand_written_framework import HandWrittenFramework, framework

CANDIDATE = "tests.support.hand_written_framework:framework"


def several_of_one_array():
    x = random_tensor(ndim=2)
    return torch.add(torch.mul(x, x.detach()), torch.mul(torch.tanh(x), 3.0))


def broadcast_operands():
    return torch.mul(random_tensor(ndim=2, dim0=1, dim1=3), random_tensor(ndim=3, dim1=4, dim2=3))


def selections():
    x = random_tensor(ndim=2, dim0=4, dim1=3)
    first, second = torch.chunk(x.transpose(0, 1), 2, dim=1)
    return torch.cat([first, x[1:, :2].reshape(3, 2), x[[0, 0, 2]][:, :2], second.double().float()], 1)


def in_place():
    x = random_tensor(ndim=2, dim0=4, dim1=3, dtype="float32")
    y = torch.add(x, x)
    y[1:] *= 2.0
    return y


@pytest.mark.parametrize("body", [several_of_one_array, broadcast_operands, selections, in_place])
def test_its_gradients_agree(body):
    outcomes = [running.trial(body, framework(), seed=seed) for seed in range(8)]
    assert all(map(running.agrees, outcomes))
    assert any(outcome.gradients for outcome in outcomes)


@pytest.mark.parametrize("check", ["numeric", "intermediate"])
def test_further_checks_of_its_gradients_agree(check):
    numbers = autotest(n=20, candidate=CANDIDATE, check_grad=check, special_values=False)
    numbers(lambda: torch.softmax(random_tensor(ndim=2), dim=1))()


def test_its_adapter_conforms():
    assert [item for item in conformance(framework()) if item.outcome == "WRONG"] == []


def test_a_wrong_backward_function_is_found_and_its_script_runs(warm):
    wrong = autotest(n=4, candidate="tests.support.hand_written_framework:with_wrong_tanh")
    with pytest.raises(Divergence, match=r"by_hand diverges from torch: tanh, gradient \(backward\)") as caught:
        wrong(lambda: torch.tanh(random_tensor(ndim=2)))()
    assert "(verified in a fresh interpreter)" in str(caught.value)


def test_a_function_without_a_backward_function_is_absent():
    outcome = running.trial(lambda: torch.tanh(random_tensor(ndim=2)), HandWrittenFramework({"tanh": None}))
    assert "by_hand has no backward of tanh" in outcome.rejection.text


class WithoutArrangements(HandWrittenFramework):
    """A library of two operators: nothing in it moves elements or adds."""

    @property
    def spelling(self):
        return {name: super(WithoutArrangements, self).spelling[name] for name in ("tanh", "softmax")}


def laid_out(layout):
    return lambda: torch.tanh(random_tensor(shape=(2, 4, 4), layout=layout))


def used_twice():
    x = random_tensor(ndim=2, dtype="float32")
    return torch.tanh(x), torch.softmax(x, 1)


def written_into():
    y = torch.tanh(random_tensor(shape=(3, 4), dtype="float32")).clone()
    y[1:] = torch.tanh(random_tensor(shape=(4,), dtype="float32"))
    return y.T


@pytest.mark.parametrize("body", [*map(laid_out, LAYOUTS), used_twice, written_into])
def test_what_the_tests_need_to_arrange_elements_and_add_gradients_need_not_be_in_a_library(body):
    outcomes = [running.trial(body, WithoutArrangements(), seed=seed) for seed in range(4)]
    assert all(map(running.agrees, outcomes))
    assert any(outcome.gradients for outcome in outcomes)


def test_a_trial_that_only_arranges_elements_compares_nothing():
    outcome = running.trial(lambda: random_tensor(shape=(2, 3)).transpose(0, 1), WithoutArrangements())
    assert "by_hand has none of the operators that are called" in outcome.rejection.text


def test_a_backward_function_that_returns_another_shape_is_a_finding_that_names_both():
    outcome = running.trial(
        lambda: torch.tanh(random_tensor(shape=(2, 3))), HandWrittenFramework({"tanh": lambda *given: given[0][0]})
    )
    assert "gradient of shape (3,) for an argument of shape (2, 3)" in outcome.mismatches[0].message
