"""What unittest shows of a failed autotest: the body's lines, and nothing of what ran it."""

from __future__ import annotations

import unittest

from autotest import autotest, random_tensor, torch
from tests.support import faults


class Failing(unittest.TestCase):
    """Run by the tests below, and not by itself."""

    __test__ = False

    @autotest(n=2)
    def diverges(self):
        return torch.relu(random_tensor())

    @autotest(n=2)
    def asserts(self):
        self.assertEqual(random_tensor(ndim=2).dim(), 77)  # noqa: PT009 - unittest style is what is tested

    @autotest(n=2)
    def misspells(self):
        return torch.reluu(random_tensor())


def shown(name):
    result = unittest.TestResult()
    Failing(name).run(result)
    ((_, text),) = result.failures + result.errors
    return text


def test_a_divergence_is_its_report_alone(against):
    against(faults.wrong_relu())
    text = shown("diverges")
    assert text.startswith("autotest.errors.Divergence: faulty diverges from torch: relu")
    assert 'File "' not in text


def test_an_assertion_of_the_body_shows_its_line_alone():
    text = shown("asserts")
    assert text.count('File "') == 1
    assert "self.assertEqual(random_tensor(ndim=2).dim(), 77)" in text


def test_a_mistake_of_the_body_begins_with_its_line():
    first = next(line for line in shown("misspells").splitlines() if 'File "' in line)
    assert __file__ in first
