"""A framework that computes no gradients can be a candidate: results are compared, and each door says it is all."""

from __future__ import annotations

import unittest

import pytest

from autotest import Divergence, autotest, random_tensor, torch
from autotest.cli import main
from autotest.frameworks import Pair
from autotest.frameworks import framework as plain_torch
from autotest.running.conformance.checking import conformance
from tests.support.faulty import FaultyTorch
from tests.support.forward_framework import framework

CANDIDATE = "tests.support.forward_framework:framework"
SUITE = """
from autotest import autotest, random_tensor, torch

@autotest(n=3)
def test_tanh():
    return torch.tanh(random_tensor(ndim=2))
"""


@autotest(n=20, candidate=CANDIDATE)
def agreeing():
    return torch.tanh(random_tensor())


@autotest(n=4, candidate=CANDIDATE)
def differing():
    return torch.sin(random_tensor())


@autotest(n=4, candidate=CANDIDATE)
def pushing_back():
    x = random_tensor(ndim=1)
    torch.tanh(x).sum().backward()


@autotest(n=4, candidate=CANDIDATE, check_grad="numeric")
def asking_of_gradients():
    return torch.tanh(random_tensor(ndim=2))


def test_its_results_are_compared_without_a_backward(warm):
    agreeing()
    with pytest.raises(Divergence, match=r"forward diverges from torch: sin, value \(forward\)"):
        differing()


@pytest.mark.parametrize("test", [pushing_back, asking_of_gradients])
def test_a_test_that_is_about_gradients_is_skipped(test):
    with pytest.raises(unittest.SkipTest, match="forward has no "):
        test()


def test_its_adapter_without_exp_and_gradients_conforms():
    found = {item.name: item for item in conformance(framework())}
    assert [item for item in found.values() if item.outcome == "WRONG"] == []
    assert found["gradients of leaves"].outcome == "absent"


def test_pytest_says_that_only_results_are_compared(pytester, run_module):
    pytester.makepyfile(SUITE)
    result = run_module("pytest", "--autotest-candidate", CANDIDATE)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["only results are compared: forward has no gradients"])


def test_fuzz_says_that_only_results_are_compared(tmp_path, monkeypatch, capfd, warm):
    (tmp_path / "test_it.py").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    assert main(["fuzz", "test_it.py", "--trials", "3", "--candidate", CANDIDATE, "--jobs", "1"]) == 0
    assert "only results are compared: forward has no gradients" in capfd.readouterr().out


class Inference(FaultyTorch):
    """torch without autograd: its results require no gradients."""

    has_gradients = False


def detached(function):
    return lambda *given: function(*given).detach()


def test_results_of_a_framework_with_the_names_of_torch_need_not_require_grad(monkeypatch):
    monkeypatch.setenv("AUTOTEST_QUICK", "1")
    sides = Pair(plain_torch("torch"), Inference({"exp": detached, "sin": lambda sin: detached(lambda x: sin(x) * 2)}))
    autotest(n=10, pair=sides)(lambda: torch.exp(random_tensor(ndim=2)))()
    with pytest.raises(Divergence, match=r"faulty diverges from torch: sin, value \(forward\)"):
        autotest(n=4, pair=sides)(lambda: torch.sin(torch.exp(random_tensor(ndim=2, low=-1, high=1))))()
