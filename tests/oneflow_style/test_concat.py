"""Lists of dual tensors as one argument."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestConcat(flow.unittest.TestCase):
    @autotest(n=5)
    def test_list(test_case):
        x = random_tensor(ndim=2, dim0=random(1, 4), dim1=3)
        y = random_tensor(ndim=2, dim0=random(1, 4), dim1=3)
        return torch.cat((x, y, x), dim=0)

    @autotest(n=5)
    def test_stack(test_case):
        x = random_tensor(ndim=2, dim0=2, dim1=3)
        y = random_tensor(ndim=2, dim0=2, dim1=3)
        return torch.stack([x, y], dim=random(-1, 2).to(int))


if __name__ == "__main__":
    unittest.main()
