"""A test that runs its own backward and returns nothing."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestOwnBackward(flow.unittest.TestCase):
    @autotest(n=3, auto_backward=False, check_graph=False)
    def test_backward(test_case):
        x = random_tensor(ndim=2, dim0=3, dim1=4)
        y = torch.sigmoid(x).sum()
        y.backward()
        return x


if __name__ == "__main__":
    unittest.main()
