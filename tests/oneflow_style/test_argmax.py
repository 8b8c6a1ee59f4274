"""Results that carry no gradient."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestArgmax(flow.unittest.TestCase):
    @autotest(n=5, auto_backward=False)
    def test_axis(test_case):
        x = random_tensor(ndim=3, requires_grad=False)
        return torch.argmax(x, dim=random(0, 3).to(int), keepdim=random().to(bool))

    @autotest(n=5, auto_backward=False, check_graph="ValidatedFalse")
    def test_comparison(test_case):
        x = random_tensor(2, 3, 4)
        y = random_tensor(2, 3, 4)
        return x > y


if __name__ == "__main__":
    unittest.main()
