"""What set-up and fixtures draw does not depend on other tests, and is the same under pytest and in campaigns."""

from __future__ import annotations

import re

import pytest

from autotest.sources.collection import collect

SUITE = """
import unittest
import pytest
from autotest import autotest, random, random_tensor, torch

def said(*drawn):
    with open(r"{place}", "a") as file:
        file.write(repr([one.reference.tolist() for one in drawn]) + "\\n")

@pytest.fixture(scope="session")
def once():
    return random_tensor(shape=(3,), low=-1, high=1)

@pytest.fixture(scope="module", params=[1, 2])
def layer(request):
    return torch.nn.Linear(3, request.param)

@pytest.fixture
def own():
    return random_tensor(shape=(3,), low=-1, high=1)

@autotest(n=1)
def test_function(own, once):
    said(own, once)
    return own + once

@autotest(n=1)
def test_module(layer, own):
    said(layer.weight, own)
    return layer(own)

class TestPlain:
    def setup_method(self):
        self.layer = torch.nn.Linear(2, 2)

    @autotest(n=1)
    def test_plain(self):
        said(self.layer.weight)
        return self.layer(torch.ones(1, 2))

class TestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.layer = torch.nn.Linear(2, 2)

    def setUp(self):
        self.other = torch.nn.Linear(2, 2)

    @autotest(n=1)
    def test_case(self):
        said(self.layer.weight, self.other.weight)
        return self.other(self.layer(torch.ones(1, 2)))

    @autotest(n=1)
    def test_seeded(self):
        return self.other.weight * 2
"""
NAMES = ["test_function", "test_module", "test_plain", "test_case"]


@pytest.fixture
def drawn(pytester, monkeypatch, quick):
    """Return a function that calls another one and returns what the suite has drawn meanwhile."""
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    place = pytester.path / "drawn.txt"
    pytester.makepyfile(test_suite=SUITE.replace("{place}", str(place)))

    def drawn_by(run):
        place.unlink(missing_ok=True)
        run()
        return place.read_text().splitlines()

    return drawn_by


def test_what_is_drawn_outside_of_trials_does_not_depend_on_other_tests(pytester, drawn):
    together = drawn(lambda: pytester.runpytest_inprocess().assert_outcomes(passed=6))
    alone = [line for name in NAMES for line in drawn(lambda name=name: pytester.runpytest_inprocess("-k", name))]
    assert len(set(together)) == 5
    assert sorted(alone) == sorted(together)
    assert all(re.search(r"\d\.\d", line) for line in together)


def test_a_campaign_draws_outside_of_trials_what_pytest_draws(pytester, drawn):
    together = drawn(pytester.runpytest_inprocess)
    found = collect([pytester.path / "test_suite.py"]).tests
    assert sorted(drawn(lambda: [item.call() for item in reversed(found)])) == sorted(together)


CASES = """
import unittest
from autotest import autotest, random_tensor, torch

def setUpModule():
    global first
    first = torch.nn.Linear(1, 1)

class TestOne(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.layer, cls.scale = torch.nn.Linear(1, 1), random_tensor(shape=(1,), low=-1, high=1)

    def setUp(self):
        self.other, self.x = torch.nn.Linear(1, 1), random_tensor(shape=(1,), low=-1, high=1)

    @autotest(n=1)
    def test_a(self):
        drawn = (first.weight, self.layer.weight, self.scale, self.other.weight, self.x)
        with open(r"{place}", "a") as file:
            file.write(f"{self.id()} {[one.reference.tolist() for one in drawn]}\\n")
        return self.other(self.layer(self.x))

    test_b = test_a

class TestTwo(TestOne):
    pass
"""


def test_unittest_without_pytest_draws_what_pytest_draws_in_any_order(pytester, monkeypatch, quick, run_module):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    place = pytester.path / "drawn.txt"
    pytester.makepyfile(test_cases=CASES.replace("{place}", str(place)))
    assert run_module("unittest", "test_cases").ret == 0
    assert run_module("unittest", "test_cases.TestTwo.test_b", "test_cases.TestOne.test_b").ret == 0
    pytester.runpytest_inprocess().assert_outcomes(passed=4)
    lines = place.read_text().splitlines()
    together, alone, under_pytest = lines[:4], lines[4:6], lines[6:]
    assert len(set(together)) == 4
    assert set(alone) < set(together)
    assert sorted(under_pytest) == sorted(together)
