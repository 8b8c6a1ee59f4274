"""Every placement and distribution."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@autotest(n=1, check_graph=True)
def _test_add(test_case, placement, sbp):
    x = random_tensor(ndim=2, dim0=8, dim1=8).to_global(placement=placement, sbp=sbp)
    y = random_tensor(ndim=2, dim0=8, dim1=8).to_global(placement=placement, sbp=sbp)
    return torch.add(x, y)


class TestGlobalAdd(flow.unittest.TestCase):
    @globaltest
    def test_add(test_case):
        for placement in all_placement():
            for sbp in all_sbp(placement, max_dim=2, except_partial_sum=True):
                _test_add(test_case, placement, sbp)


if __name__ == "__main__":
    unittest.main()
