"""Tensors picked out of a list."""

import unittest

import numpy as np
import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestChoiceTensor(flow.unittest.TestCase):
    @autotest(n=5, auto_backward=False)
    def test_integers(test_case):
        x = choice_tensor(5, size=(3, 4))
        return x + 1

    @autotest(n=5)
    def test_floats(test_case):
        x = choice_tensor([0.5, 1.5, 2.5], size=(6,), p=[0.2, 0.3, 0.5], dtype=np.float32, requires_grad=True)
        return torch.sin(x)

    def test_plain_torch(test_case):
        x = choice_pytorch_tensor([1, 2, 3], size=(2, 2)).value()
        test_case.assertEqual(tuple(x.shape), (2, 2))


if __name__ == "__main__":
    unittest.main()
