"""Boolean tensors as arguments."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestMasks(flow.unittest.TestCase):
    @autotest(n=5)
    def test_where(test_case):
        x = random_tensor(ndim=2, dim0=3, dim1=4, low=-1, high=1)
        y = random_tensor(ndim=2, dim0=3, dim1=4)
        return torch.where(x > 0, x, y)

    @autotest(n=5)
    def test_masked_fill(test_case):
        x = random_tensor(ndim=2, dim0=3, dim1=4, low=-1, high=1)
        return x.masked_fill(x < 0, random(1, 3).to(float))


if __name__ == "__main__":
    unittest.main()
