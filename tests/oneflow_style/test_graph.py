"""Every value of check_graph."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestGraph(flow.unittest.TestCase):
    @autotest(n=3, check_graph=True)
    def test_on(test_case):
        x = random_tensor(ndim=2, dim0=3, dim1=4)
        return torch.tanh(x) + x.sum()

    @autotest(n=3, check_graph=False)
    def test_off(test_case):
        x = random_tensor(ndim=2, dim0=3, dim1=4)
        return torch.tanh(x)

    @autotest(n=3, check_graph="ValidatedFalse")
    def test_off_for_a_reason(test_case):
        x = random_tensor(ndim=2, dim0=3, dim1=4)
        return torch.tanh(x)


if __name__ == "__main__":
    unittest.main()
