"""What set-up, fixtures and the top of a file make is used by tests of any candidate, and by each of several."""

from __future__ import annotations

import pytest

HEAD = """
import unittest
from autotest import autotest, random_tensor, torch

class TestIt(unittest.TestCase):
    def setUp(self):
        self.x = random_tensor(shape=(2, 3), low=-1, high=1)
        self.y = random_tensor(shape=(3,), low=-1, high=1)
"""
NETWORK = """
class Part(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.factor = torch.nn.Parameter(torch.ones(3) * 2)

    def forward(self, x):
        return self.linear(x) * self.factor

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x):
        return self.part(x) + self.shift

class TestNetwork(TestIt):
    def setUp(self):
        super().setUp()
        self.layer = torch.nn.Linear(3, 3)
        self.net = Net()
"""
OTHER = "tests.support.block_framework:framework"


@pytest.fixture
def absent(pytester, quick, monkeypatch):
    """Make the candidate of the project one that cannot be imported."""
    monkeypatch.delenv("AUTOTEST_CANDIDATE", raising=False)
    monkeypatch.syspath_prepend(pytester.path)
    pytester.makepyprojecttoml("[tool.autotest]\ncandidate = 'absent_adapter:factory'\n")
    pytester.makepyfile(
        absent_adapter="""
from autotest.frameworks.namespace import Namespace

def factory():
    return Namespace("absent", module="no_such_framework")
"""
    )


def test_the_set_up_of_a_test_of_its_own_candidate_is_for_that_candidate(pytester, absent):
    test = f"""
    @autotest(n=3, candidate={OTHER!r})
    def test_own(self):
        return self.x.exp() + self.y
"""
    pytester.makepyfile(test_own=HEAD + test)
    pytester.runpytest_inprocess().assert_outcomes(passed=1)


def test_a_candidate_that_is_missing_is_no_difference_in_the_set_up(pytester, absent):
    pytester.makepyfile(test_missing=HEAD + "\n    @autotest(n=3)\n    def test_it(self):\n        return self.x * 2\n")
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["FAILED test_missing.py::TestIt::test_it - *FrameworkMissing: *"])


@pytest.mark.oneflow
def test_each_of_several_candidates_uses_the_set_up(pytester, quick, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.faults:wrong_relu,oneflow")
    test = """
TOP = torch.ones(3)

class Sizes:
    def __iter__(self):
        return iter((6,))

class TestSeveral(TestNetwork):
    @autotest(n=3)
    def test_again(self):
        torch.is_tensor(Sizes())  # no data: the program cannot be replayed, so that the body runs for each candidate
        return self.net(self.layer(self.x)) + TOP * self.y

    @autotest(n=3)
    def test_differs(self):
        torch.is_tensor(Sizes())
        return torch.relu(self.net(self.x))
"""
    pytester.makepyfile(test_several=HEAD + NETWORK + test)
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["1 of 2 candidates differs: faulty diverges from torch: relu, value (forward)"])


SHARED = """
TOP = torch.tensor([1.0, 2.0, 3.0])

class TestShared(TestNetwork):
    def setUp(self):
        super().setUp()
        self.norm = torch.nn.BatchNorm1d(3)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.adam = torch.optim.Adam(self.layer.parameters(), lr=0.1)

    @autotest(n=3)
    def test_parts(self):
        return self.net(random_tensor(shape=(2, 3)))

    @autotest(n=3)
    def test_written(self):
        TOP.add_(1)
        return TOP * random_tensor(shape=(3,))

    @autotest(n=3)
    def test_statistics(self):
        return self.norm(random_tensor(shape=(4, 3)))

    @autotest(n=3)
    def test_steps(self):
        self.optimizer.zero_grad()
        self.net(self.x).sum().backward()
        self.optimizer.step()
        return self.net(self.x)

    @autotest(n=3)
    def test_adam(self):
        self.layer(self.x).sum().backward()
        self.adam.step()
        return self.layer(self.x)
"""


def test_each_of_several_candidates_has_what_trials_with_the_others_changed(pytester, quick, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch,torch:cpu")
    pytester.makepyfile(test_shared=HEAD + NETWORK + SHARED)
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["Adam was made outside of the body and has the state of steps in trials with other *"])
