"""A function that torch does not have."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestBroadcastLike(flow.unittest.TestCase):
    @autotest(n=3, check_graph=False)
    def test_rows(test_case):
        x = random_tensor(ndim=2, dim0=1, dim1=4)
        like = random_tensor(ndim=2, dim0=3, dim1=4)
        return torch.broadcast_like(x, like)


if __name__ == "__main__":
    unittest.main()
