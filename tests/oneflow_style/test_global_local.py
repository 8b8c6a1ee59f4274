"""There and back again: to_global, to_local, placement and sbp."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


# Without backward: what each rank pushes into its own copy of a global tensor is summed, on two ranks twice one's.
@autotest(n=2, auto_backward=False, check_graph=False)
def _test_round_trip(test_case, placement):
    x = random_tensor(ndim=2, dim0=4, dim1=4)
    y = x.to_global(placement=placement, sbp=[flow.sbp.broadcast] * len(placement.ranks.shape))
    test_case.assertEqual(y.oneflow.placement, placement)
    z = y.to_local()
    return torch.exp(z)


@autotest(n=2, check_graph=False)
def _test_placed_like(test_case, placement):
    x = random_tensor(ndim=2, dim0=4, dim1=4)
    y = random_tensor(ndim=2, dim0=4, dim1=4)
    x = x.to_global(placement=placement, sbp=[flow.sbp.split(0)] * len(placement.ranks.shape))
    y = y.to_global(placement=x.oneflow.placement, sbp=x.oneflow.sbp)
    return x + y


class TestGlobalLocal(flow.unittest.TestCase):
    @globaltest
    def test_round_trip(test_case):
        for placement in all_placement():
            _test_round_trip(test_case, placement)
            _test_placed_like(test_case, placement)


if __name__ == "__main__":
    unittest.main()
