"""A keyword that torch does not have, and that some trials leave out: the others are refused."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestOptionalKeywords(flow.unittest.TestCase):
    @autotest(n=4)
    def test_of_oneflow_alone(test_case):
        x = random_tensor(ndim=2)
        return torch.nn.functional.relu(x, of_oneflow_alone=oneof(1, nothing()))


if __name__ == "__main__":
    unittest.main()
