"""Dimensions shared between operands."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestMatmul(flow.unittest.TestCase):
    @autotest(n=5)
    def test_two_matrices(test_case):
        k = random(1, 6)
        x = random_tensor(ndim=2, dim1=k)
        y = random_tensor(ndim=2, dim0=k)
        z = torch.matmul(x, y)
        return z

    @autotest(n=5, check_graph=True, rtol=1e-3, atol=1e-4)
    def test_batched(test_case):
        k = random(1, 6).to(int)
        b = random(1, 4).to(int)
        x = random_tensor(ndim=3, dim0=b, dim2=k)
        y = random_tensor(ndim=3, dim0=b, dim1=k)
        return x @ y


if __name__ == "__main__":
    unittest.main()
