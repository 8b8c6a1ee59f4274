"""Optional arguments, by keyword."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestConv2d(flow.unittest.TestCase):
    @autotest(n=5)
    def test_arguments(test_case):
        channels = random(1, 6)
        m = torch.nn.Conv2d(
            in_channels=channels,
            out_channels=random(1, 20),
            kernel_size=random(1, 4),
            stride=random() | nothing(),
            padding=random(1, 3).to(int) | nothing(),
            dilation=random(1, 3) | nothing(),
            groups=1,
            padding_mode=constant("zeros") | nothing(),
        )
        m.train(random_bool())
        x = random_tensor(ndim=4, dim0=random(1, 4), dim1=channels, dim2=random(8, 10), dim3=random(8, 10))
        return m(x)


if __name__ == "__main__":
    unittest.main()
