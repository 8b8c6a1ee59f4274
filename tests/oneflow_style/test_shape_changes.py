"""Views and permutations."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestShapeChanges(flow.unittest.TestCase):
    @autotest(n=5)
    def test_permute(test_case):
        x = random_tensor(ndim=3, dim0=2, dim1=3, dim2=4)
        return x.permute(2, 0, 1)

    @autotest(n=5)
    def test_reshape(test_case):
        x = random_tensor(ndim=2, dim0=4, dim1=6)
        return torch.reshape(x, (3, 8)), x.flatten(), x.unsqueeze(random(0, 3).to(int))

    @autotest(n=5)
    def test_split(test_case):
        x = random_tensor(ndim=2, dim0=6, dim1=3)
        parts = torch.split(x, 2)
        return parts[0] * parts[1] + parts[2]


if __name__ == "__main__":
    unittest.main()
