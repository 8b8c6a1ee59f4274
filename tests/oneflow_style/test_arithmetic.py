"""Operators, also with a plain number on the left."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestArithmetic(flow.unittest.TestCase):
    @autotest(n=5)
    def test_both_ways(test_case):
        x = random_tensor(ndim=2, low=1, high=2)
        return 1 - x, 2 / x, -x, abs(x), x**2, 3 * x + 1

    @autotest(n=5)
    def test_generator_sums(test_case):
        n = random(1, 3).to(int)
        x = random_tensor(ndim=2, dim0=n * 2, dim1=n + 1)
        y = random_tensor(ndim=2, dim0=n * 2, dim1=n + 1)
        return x * y - y


if __name__ == "__main__":
    unittest.main()
