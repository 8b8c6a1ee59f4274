"""Functions as alternatives."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestOneOf(flow.unittest.TestCase):
    @autotest(n=6)
    def test_called(test_case):
        x = random_tensor(ndim=2, low=0.1, high=0.9)
        return oneof(torch.sin, torch.cos, torch.exp)(x)

    @autotest(n=6)
    def test_weighted_arguments(test_case):
        x = random_tensor(ndim=3, dim0=2, dim1=3, dim2=4)
        return torch.transpose(x, 0, oneof(1, 2, possibility=0.5))

    @autotest(n=6)
    def test_a_condition(test_case):
        x = random_tensor(ndim=2)
        return torch.mul(x, 3.14 if oneof(True, False) else x)


if __name__ == "__main__":
    unittest.main()
