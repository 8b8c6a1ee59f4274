"""Targets of integers, and a reduction drawn by name."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestLoss(flow.unittest.TestCase):
    @autotest(n=5)
    def test_cross_entropy(test_case):
        classes = random(2, 6).to(int)
        m = torch.nn.CrossEntropyLoss(reduction=oneof("none", "sum", "mean"))
        n = random(2, 5).to(int)
        x = random_tensor(ndim=2, dim0=n, dim1=classes)
        target = random_tensor(ndim=1, dim0=n, low=0, high=classes, dtype=int)
        return m(x, target)

    @autotest(n=5)
    def test_mean_squares(test_case):
        x = random_tensor(ndim=2, dim0=3, dim1=4)
        y = random_tensor(ndim=2, dim0=3, dim1=4)
        return torch.nn.MSELoss()(x, y)


if __name__ == "__main__":
    unittest.main()
