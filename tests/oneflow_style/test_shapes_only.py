"""Results whose values nobody can compare."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestShapesOnly(flow.unittest.TestCase):
    @autotest(n=5, auto_backward=False, check_allclose=False, check_graph="ValidatedFalse")
    def test_dropout(test_case):
        m = torch.nn.Dropout(p=random(0, 1).to(float))
        m.train()
        x = random_tensor(ndim=3)
        return m(x)

    @autotest(n=5)
    def test_dropout_that_does_nothing(test_case):
        m = torch.nn.Dropout(p=random(0, 1).to(float))
        m.train(False)
        x = random_tensor(ndim=3)
        return m(x)


if __name__ == "__main__":
    unittest.main()
