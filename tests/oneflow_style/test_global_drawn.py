"""Placements and distributions that are drawn."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@autotest(n=2, check_graph=False)
def _test_matmul(test_case, placement):
    x = random_tensor(ndim=2, dim0=8, dim1=16)
    y = random_tensor(ndim=2, dim0=16, dim1=8)
    x = x.to_global(placement=placement, sbp=random_sbp(placement, max_dim=2, except_partial_sum=True).value())
    y = y.to_global(placement=placement, sbp=random_sbp(placement, max_dim=2, except_partial_sum=True).value())
    return torch.matmul(x, y)


class TestGlobalDrawn(flow.unittest.TestCase):
    @globaltest
    def test_matmul(test_case):
        for _ in range(2):
            _test_matmul(test_case, random_placement().value())

    @globaltest
    def test_lists(test_case):
        placement = random_placement().value()
        test_case.assertEqual(len(all_sbp(placement, max_dim=0).value()), 1)
        ways = all_sbp(dim=1, max_dim=3, except_broadcast=True, except_partial_sum=True, valid_split_axis=[0, 2])
        test_case.assertEqual(len(ways), 2)
        test_case.assertEqual(ways[0][0], flow.sbp.split(0))
        test_case.assertEqual(all_sbp(dim=2, max_dim=1, except_split=True).value()[0][0], flow.sbp.broadcast)


if __name__ == "__main__":
    unittest.main()
