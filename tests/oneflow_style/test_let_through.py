"""Divergences of OneFlow 0.9.0 that its own harness lets through; here the ledger beside this file expects them."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestLetThrough(flow.unittest.TestCase):
    @autotest(n=3, check_graph=False)
    def test_flatten_of_a_number(test_case):
        x = random_tensor(ndim=0)
        return x.flatten()

    @autotest(n=3, check_graph=False)
    def test_gradient_on_one_side_only(test_case):
        x = random_tensor(ndim=2, dim0=3, dim1=4, low=1, high=2)
        return torch.linalg.vector_norm(x, ord=0)

    @autotest(n=3, auto_backward=False, check_graph=False)
    def test_weights_of_a_count(test_case):
        x = random_tensor(ndim=1, dim0=5, low=0, high=4, dtype=int)
        return torch.bincount(x, weights=random_tensor(ndim=1, dim0=5))


if __name__ == "__main__":
    unittest.main()
