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

    @autotest(n=3, auto_backward=False, check_graph=False)
    def test_sum_of_nothing(test_case):
        x = random_tensor(ndim=3, dim0=3, dim1=0, dim2=4)
        return torch.einsum("ijk", x)

    @autotest(n=3, check_graph=False)
    def test_buffer_of_a_loss(test_case):
        m = torch.nn.BCEWithLogitsLoss(pos_weight=random_tensor(ndim=1, dim0=3, low=1, high=3, requires_grad=False))
        return m(random_tensor(ndim=2, dim0=2, dim1=3), random_tensor(ndim=2, dim0=2, dim1=3, requires_grad=False))

    @autotest(n=3)
    def test_select_in_a_graph(test_case):
        x = random_tensor(ndim=2, dim0=3, dim1=4)
        return torch.select(x, 0, 1)

    @autotest(n=3)
    def test_drawn_repeats_in_a_graph(test_case):
        x = random_tensor(ndim=2, dim0=2, dim1=3)
        repeats = random_tensor(ndim=1, dim0=2, low=1, high=3, dtype=int)
        return torch.repeat_interleave(x, repeats, 0)


if __name__ == "__main__":
    unittest.main()
