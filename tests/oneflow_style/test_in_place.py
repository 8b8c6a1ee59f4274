"""Calls that change what they are given."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestInPlace(flow.unittest.TestCase):
    @autotest(n=5)
    def test_method(test_case):
        x = random_tensor(ndim=2)
        y = x + 1
        y.mul_(2)
        return y

    @autotest(n=5)
    def test_argument(test_case):
        x = random_tensor(ndim=2, low=-1, high=1)
        y = x * 2
        return torch.nn.functional.relu(y, inplace=True)

    @autotest(n=5)
    def test_operator(test_case):
        x = random_tensor(ndim=2, dim0=3, dim1=3)
        y = x * 3
        y += x
        return y


if __name__ == "__main__":
    unittest.main()
