"""random_or_nothing as optional arguments."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestPooling(flow.unittest.TestCase):
    @autotest(n=5)
    def test_max(test_case):
        m = torch.nn.MaxPool2d(
            kernel_size=random(2, 4).to(int),
            stride=random_or_nothing(1, 3).to(int),
            padding=constant(0) | constant(1),
        )
        m.train(random_bool())
        x = random_tensor(ndim=4, dim2=random(6, 9), dim3=random(6, 9))
        return m(x)

    @autotest(n=5)
    def test_average(test_case):
        m = torch.nn.AvgPool2d(kernel_size=random(2, 4).to(int))
        x = random_tensor(ndim=4, dim2=random(6, 9), dim3=random(6, 9))
        return m(x)


if __name__ == "__main__":
    unittest.main()
