"""One side of a dual object, read and written."""

import unittest

import numpy as np
import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestSides(flow.unittest.TestCase):
    @autotest(n=3, check_graph=False)
    def test_read(test_case):
        x = random_tensor(ndim=2, dim0=2, dim1=3)
        y = torch.relu(x)
        test_case.assertEqual(tuple(y.pytorch.shape), (2, 3))
        test_case.assertEqual(tuple(y.oneflow.shape), (2, 3))
        test_case.assertTrue(np.allclose(x.pytorch.detach().numpy(), x.oneflow.numpy()))
        return y

    @autotest(n=3, auto_backward=False, check_graph=False)
    def test_written(test_case):
        x = random_tensor(ndim=2, dim0=2, dim1=3, requires_grad=False)
        x.pytorch = x.pytorch + 1
        x.oneflow = x.oneflow + 1
        return torch.exp(x)

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_plain_array_beside_dual(test_case):
        x = random_tensor(ndim=2, dim0=2, dim1=3, requires_grad=False)
        y = torch.exp(x)
        test_case.assertTrue(np.allclose(y.oneflow.numpy(), np.exp(x.pytorch.numpy()), 1e-4, 1e-4))
        return y

    def test_modules(test_case):
        test_case.assertIs(torch.oneflow, flow)
        test_case.assertEqual(torch.pytorch.__name__, "torch")

    @autotest(n=4)
    def test_of_a_number_that_was_read(test_case):
        x = random_tensor()
        test_case.assertEqual(x.ndim.oneflow, len(x.oneflow.shape))
        return torch.cumsum(x, random(0, x.ndim.pytorch).to(int))

    @autotest(n=4)
    def test_of_a_size_that_was_read(test_case):
        x = random_tensor(ndim=3)
        rows, *rest = x.shape.pytorch
        test_case.assertEqual([rows, *rest], list(x.size().oneflow))
        return x.reshape([*rest, rows])


if __name__ == "__main__":
    unittest.main()
