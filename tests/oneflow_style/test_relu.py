"""A module on a random device."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestRelu(flow.unittest.TestCase):
    @autotest(n=5)
    def test_module(test_case):
        m = torch.nn.ReLU()
        m.train(random_bool())
        device = random_device()
        m.to(device)
        x = random_tensor().to(device)
        y = m(x)
        return y

    @autotest(n=5)
    def test_function(test_case):
        x = random_tensor(ndim=3).to(cpu_device())
        return torch.nn.functional.relu(x)


if __name__ == "__main__":
    unittest.main()
