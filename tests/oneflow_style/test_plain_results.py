"""Plain values as results, of tensors that carry gradients."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestPlainResults(flow.unittest.TestCase):
    @autotest(n=3)
    def test_a_fact(test_case):
        x = random_tensor(ndim=2)
        return torch.exp(x).is_leaf

    @autotest(n=3)
    def test_no_function(test_case):
        x = torch.ones(2, 3).requires_grad_(True)
        z = torch.nn.Parameter(x + x)
        return z.grad_fn

    @autotest(n=3, check_graph=False)
    def test_data_of_a_parameter(test_case):
        x = torch.ones(2, 3).requires_grad_(True)
        y = x + x
        z = torch.nn.Parameter(x)
        z.data = y
        return z.grad_fn, z.is_leaf

    @autotest(n=3, check_graph=False)
    def test_a_comparison(test_case):
        x = random_tensor(ndim=2, dim0=3, dim1=4)
        return torch.allclose(x, x + 1)

    @autotest(n=3, check_graph=False)
    def test_assertions_of_its_own(test_case):
        info = torch.finfo(torch.float32)
        test_case.assertEqual(info.pytorch.bits, info.oneflow.bits)

    @autotest(n=3, auto_backward=False, check_graph=False)
    def test_one_side_only(test_case):
        x = flow.ones(random(1, 4).to(int).value(), requires_grad=True)
        (x * 2).sum().backward()
        test_case.assertEqual(x.grad.numpy().max(), 2)


if __name__ == "__main__":
    unittest.main()
