"""What new users expect to work does: torch's own functions, expected refusals, Python's random numbers."""

# ruff: noqa: N812, PT027, NPY002, PLW0108 - written as a new user writes it

from __future__ import annotations

import random as python_random
import unittest

import numpy as np
import pytest
import torch as real
import torch.nn.functional as F

from autotest import Divergence, TooFewAccepted, UsageError, autotest, nothing, oneof, random, random_tensor, torch
from tests.support import faults
from tests.support.faulty import FaultyTorch
from tests.support.running import agrees, targets, trial


@pytest.fixture(autouse=True)
def _torch_with_itself(quick, against):
    against()


# -- torch's own functions with dual tensors ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "called"),
    [
        (lambda x: F.relu(x), "nn.functional.relu"),
        (lambda x: F.softmax(x, dim=0), "nn.functional.softmax"),
        (lambda x: F.linear(x, real.ones(4, 3)), "nn.functional.linear"),
        (lambda x: F.gelu(x, approximate="tanh"), "nn.functional.gelu"),
        (lambda x: F.max_pool2d(x[None], 1, return_indices=True), "nn.functional.max_pool2d"),
        (lambda x: F.adaptive_max_pool1d(x, 2, return_indices=True), "nn.functional.adaptive_max_pool1d"),
        (lambda x: real.relu(x), "relu"),
        (lambda x: real.cat([x, x]), "cat"),
        (lambda x: real.split(x, 1), "split"),
        (lambda x: real.ones(2, 3) + x, "add"),
        (lambda x: real.ones(2, 3) == x, "eq"),
        (lambda x: x + real.ones(2, 3), "add"),
        (lambda x: torch.add(x, real.ones(2, 3)), "add"),
        (lambda x: real.nn.ReLU()(x), "nn.functional.relu"),
    ],
)
def test_torchs_own_functions_do_the_same_on_both_sides(body, called):
    outcome = trial(lambda: body(random_tensor(2, 2, 3)), faults.none())
    assert agrees(outcome)
    assert called in targets(outcome)


def test_a_fault_is_found_through_torchs_own_function():
    wrong = FaultyTorch({"nn.functional.relu": lambda relu: lambda x, **named: relu(x, **named) + 1})
    outcome = trial(lambda: F.relu(random_tensor(2, 2, 3)), wrong)
    assert [mismatch.symptom for mismatch in outcome.mismatches] == ["value"]


def test_arguments_that_torch_hands_on_unasked_do_not_reach_the_candidate():
    def strict(softmax):
        return lambda x, dim: softmax(x, dim=dim)

    wrong = FaultyTorch({"nn.functional.softmax": strict})
    assert agrees(trial(lambda: F.softmax(random_tensor(2, 2, 3), dim=1), wrong))


def test_a_refusal_through_torchs_own_function_is_one():
    outcome = trial(lambda: F.linear(random_tensor(2, 2, 3), random_tensor(2, 4, 4)))
    assert outcome.rejection is not None
    assert "linear" in outcome.rejection.reason


def test_outside_of_a_trial_torchs_own_functions_work_too():
    x = random_tensor(shape=(2,), low=1, high=2)
    assert F.relu(x).shape == (2,)


def test_a_module_of_torch_alone_is_refused():
    with pytest.raises(UsageError, match=r"a module of torch itself .* build the module on both sides"):
        trial(lambda: real.nn.Linear(3, 4)(random_tensor(2, 2, 3)))


OF_TORCH_2_0 = pytest.mark.skipif(not real.__version__.startswith("2.0."), reason="a current torch draws the values")


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.avg_pool1d(x, random(1, 2) + 1),
        lambda x: real.sum(x, dim=oneof(0, 1) | nothing()),
        # A current torch hands these to the dual tensor.
        pytest.param(lambda x: F.pad(x, (1, 1), value=random(0, 2).to(float)), marks=OF_TORCH_2_0),
        pytest.param(lambda x: F.pad(x, (random(1, 2), 1)), marks=OF_TORCH_2_0),
    ],
)
def test_a_generator_given_to_torchs_own_function_is_explained(call):
    with pytest.raises(
        UsageError, match=r"got a generator.* of the torch of `from autotest import torch`.*\.value\(\)"
    ):
        trial(lambda: call(random_tensor(2, 2, 4)))


def test_another_wrong_argument_of_torchs_own_function_is_told_as_it_is():
    with pytest.raises(TypeError, match=r"not str$"):
        trial(lambda: F.avg_pool1d(random_tensor(2, 2, 4), "2"))


# -- gradients off on one side ------------------------------------------------------------------------------------


def test_no_grad_of_the_dual_namespace_is_for_both_sides():
    def body():
        x = random_tensor(2)
        with torch.no_grad():
            y = torch.relu(x)
        torch.set_grad_enabled(False)
        z = torch.exp(x)
        torch.set_grad_enabled(True)
        return y, z, torch.exp(x)

    assert agrees(trial(body, faults.none()))


@pytest.mark.parametrize("off", [real.no_grad, real.inference_mode])
def test_no_grad_of_torch_alone_is_a_mistake(off):
    def body():
        x = random_tensor(2)
        with off():
            return torch.relu(x)

    with pytest.raises(UsageError, match="inside torch's own no_grad"):
        trial(body)


# -- expected refusals --------------------------------------------------------------------------------------------


def unfitting():
    return torch.matmul(random_tensor(shape=(2, 3)), random_tensor(shape=(2, 3)))


class Refusing(unittest.TestCase):
    """Run by the tests below, and not collected."""

    __test__ = False

    @autotest(n=2)
    def in_a_block(self):
        with self.assertRaises(RuntimeError):
            unfitting()
        return torch.relu(random_tensor(2))

    @autotest(n=2)
    def by_a_call(self):
        self.assertRaises(RuntimeError, unfitting)

    @autotest(n=2)
    def of_another_kind(self):
        with self.assertRaises(KeyError):
            unfitting()


@pytest.mark.parametrize("name", ["in_a_block", "by_a_call"])
def test_assert_raises_in_a_body_holds_for_both_sides(name):
    getattr(Refusing(name), name)()


def test_an_exception_of_another_kind_is_raised_as_it_is():
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        Refusing("of_another_kind").of_another_kind()


def test_pytest_raises_in_a_body_holds_for_both_sides():
    @autotest(n=2)
    def test_refused():
        with pytest.raises(RuntimeError, match="cannot be multiplied"):
            unfitting()

    test_refused()


def test_a_candidate_that_accepts_what_is_expected_to_be_refused_is_found(against):
    against(FaultyTorch({"matmul": lambda matmul: lambda x, y: x}))

    @autotest(n=2)
    def test_refused():
        with pytest.raises(RuntimeError, match="cannot be multiplied"):
            unfitting()

    with pytest.raises(Divergence, match="matmul, accepted"):
        test_refused()


def test_a_block_around_the_test_itself_expects_nothing_of_its_calls():
    with pytest.raises(TooFewAccepted):
        autotest(n=2)(lambda: torch.matmul(random_tensor(shape=(2, 3)), random_tensor(shape=(2, 3))))()


# -- other generators of random numbers ---------------------------------------------------------------------------


def test_pythons_and_numpys_random_numbers_are_the_same_in_every_run():
    seen = []

    @autotest(n=3)
    def test_drawing():
        seen.append((python_random.random(), float(np.random.rand())))
        return torch.relu(random_tensor(2))

    test_drawing()
    once = list(seen)
    python_random.seed(5)
    expected = python_random.random()
    python_random.seed(5)
    test_drawing()
    assert seen == [*once, *once]
    assert len(set(once)) == 3
    assert python_random.random() == expected


# -- exceptions of the body, under unittest ------------------------------------------------------------------------


class Wrong(unittest.TestCase):
    """Run by the test below, and not collected."""

    __test__ = False

    @autotest(n=2)
    def wrong(self):
        return torch.relu(undefined_name)  # noqa: F821


def test_a_wrong_name_is_told_as_itself_under_unittest():
    result = unittest.TestResult()
    Wrong("wrong").run(result)
    ((_, text),) = result.errors
    assert "direct cause" not in text
    assert "NameError: name 'undefined_name' is not defined\nautotest: raised by the test itself in trial 0" in text


@pytest.mark.oneflow
def test_torchs_own_functions_run_oneflow_too(monkeypatch):
    from autotest.frameworks.oneflow import OneFlowFramework

    for body in (
        lambda x: F.relu(x),
        lambda x: F.softmax(x, dim=1),
        lambda x: F.max_pool2d(x.reshape(1, 1, 2, 3), 2),
        lambda x: F.dropout(x, p=0.0),
        lambda x: real.cat([x, x]),
        lambda x: real.ones(2, 3) + x,
    ):
        assert agrees(trial(lambda body=body: body(random_tensor(shape=(2, 3), low=1, high=2)), OneFlowFramework()))
