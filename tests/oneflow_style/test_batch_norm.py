"""A module with buffers that change."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestBatchNorm(flow.unittest.TestCase):
    @autotest(n=5, rtol=1e-3, atol=1e-3)
    def test_training_and_not(test_case):
        channel = random(1, 4).to(int)
        m = torch.nn.BatchNorm2d(
            num_features=channel,
            track_running_stats=True,
            affine=random_bool(),
        )
        m.train(random_bool())
        x = random_tensor(ndim=4, dim0=random(2, 4), dim1=channel, dim2=random(4, 6))
        return m(x)

    @autotest(n=3)
    def test_eval(test_case):
        m = torch.nn.BatchNorm1d(4)
        m.train(False)
        x = random_tensor(ndim=2, dim1=4)
        return m(x)


if __name__ == "__main__":
    unittest.main()
