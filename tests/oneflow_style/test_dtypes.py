"""dtypes drawn, converted, and checked."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestDtypes(flow.unittest.TestCase):
    @autotest(n=5, auto_backward=False, check_dtype=True)
    def test_integers(test_case):
        x = random_tensor(ndim=2, low=0, high=10, dtype=int)
        return x * 2

    @autotest(n=5, check_dtype=True)
    def test_doubles(test_case):
        x = random_tensor(ndim=2, dtype=float).to(torch.float64)
        return torch.exp(x)

    @autotest(n=5, auto_backward=False)
    def test_to_integer(test_case):
        x = random_tensor(ndim=2, low=0, high=10)
        return x.int()


if __name__ == "__main__":
    unittest.main()
