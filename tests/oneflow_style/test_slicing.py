"""Indexing with slices, numbers and dual indices."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestSlicing(flow.unittest.TestCase):
    @autotest(n=5)
    def test_slices(test_case):
        x = random_tensor(ndim=3, dim0=5, dim1=5, dim2=5)
        return x[1:4, :, ::2]

    @autotest(n=5)
    def test_number(test_case):
        x = random_tensor(ndim=2, dim0=4, dim1=3)
        y = x[random(0, 4).to(int).value()]
        return y

    @autotest(n=5)
    def test_index_select(test_case):
        x = random_tensor(ndim=2, dim0=4, dim1=3)
        index = random_tensor(ndim=1, dim0=6, low=0, high=4, dtype=int)
        return torch.index_select(x, 0, index)


if __name__ == "__main__":
    unittest.main()
