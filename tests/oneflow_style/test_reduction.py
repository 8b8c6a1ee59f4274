"""Axes that depend on a drawn rank."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestReduction(flow.unittest.TestCase):
    @autotest(n=5, rtol=1e-4, atol=1e-4)
    def test_sum(test_case):
        x = random_tensor(ndim=random(2, 5).to(int))
        return torch.sum(x, dim=1, keepdim=random_bool())

    @autotest(n=5)
    def test_mean(test_case):
        dim = random(1, 4).to(int)
        x = random_tensor(ndim=4, dtype=float)
        return torch.mean(x, dim)

    @autotest(n=5, auto_backward=False, check_graph=False)
    def test_pair(test_case):
        x = random_tensor(ndim=2, dim0=3, dim1=4)
        y = x.max(dim=1)
        return y[0], y[1]


if __name__ == "__main__":
    unittest.main()
