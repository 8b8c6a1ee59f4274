"""Timing of one operator."""

import unittest

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestProfile(flow.unittest.TestCase):
    @profile(torch.add)
    def profile_add(test_case):
        torch.add(torch.ones(4, 5), torch.ones(4, 5))

    def test_profile(test_case):
        profiler.set_hardware_info_list([("cpu", 1)])
        test_case.profile_add()


if __name__ == "__main__":
    unittest.main()
