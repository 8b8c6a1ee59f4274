"""A generator of plain torch tensors."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestPlainTensors(flow.unittest.TestCase):
    def test_shape_and_dtype(test_case):
        x = random_pytorch_tensor(ndim=3, dim0=2, dim1=3, dim2=4, low=-1, high=1).value()
        test_case.assertEqual(tuple(x.shape), (2, 3, 4))
        test_case.assertTrue(bool((x >= -1).all()) and bool((x < 1).all()))
        y = random_pytorch_tensor(2, 3, 4, low=0, high=9, dtype=int).value()
        test_case.assertEqual(str(y.dtype), "torch.int64")


if __name__ == "__main__":
    unittest.main()
