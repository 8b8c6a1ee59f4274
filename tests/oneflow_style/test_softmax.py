"""Cotangents drawn and cotangents of ones."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestSoftmax(flow.unittest.TestCase):
    @autotest(n=5, check_grad_use_random_data=True)
    def test_random_gradient(test_case):
        num_dims = random(low=1, high=5).to(int)
        x = random_tensor(ndim=num_dims)
        return torch.nn.functional.softmax(x, dim=random(low=0, high=num_dims).to(int))

    @autotest(n=5, check_grad_use_random_data=False)
    def test_gradient_of_ones(test_case):
        num_dims = random(low=1, high=5).to(int)
        m = torch.nn.LogSoftmax(dim=random(low=0, high=num_dims).to(int))
        x = random_tensor(ndim=num_dims)
        return m(x)


if __name__ == "__main__":
    unittest.main()
