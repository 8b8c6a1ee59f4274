"""A dual object made by hand out of two plain ones."""

import unittest

import numpy as np
import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *
from oneflow.test_utils.automated_test_util.torch_flow_dual_object import GetDualObject


@flow.unittest.skip_unless_1n1d()
class TestOwnPair(flow.unittest.TestCase):
    @autotest(n=3, check_graph=False)
    def test_get_dual_object(test_case):
        values = np.arange(6, dtype=np.float32).reshape(2, 3)
        x = GetDualObject("unused", torch.pytorch.tensor(values), flow.tensor(values))
        y = random_tensor(ndim=2, dim0=2, dim1=3)
        return torch.mul(x, y)


if __name__ == "__main__":
    unittest.main()
