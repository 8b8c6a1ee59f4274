"""A module with and without bias."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestLinear(flow.unittest.TestCase):
    @autotest(n=5)
    def test_module(test_case):
        size = random(1, 8)
        m = torch.nn.Linear(in_features=size, out_features=random(1, 8), bias=random_bool())
        m.train(random_bool())
        x = random_tensor(ndim=2, dim1=size)
        return m(x)

    @autotest(n=5)
    def test_sequential(test_case):
        m = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Sigmoid())
        x = random_tensor(ndim=2, dim1=4, low=-1)
        return m(x)


if __name__ == "__main__":
    unittest.main()
