"""Values outside of any trial."""

import unittest
from typing import Tuple

import oneflow as flow
import oneflow.unittest

from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestGenerators(flow.unittest.TestCase):
    def test_value_stays_and_eval_draws_anew(test_case):
        number = random(1, 1000000).to(int)
        test_case.assertEqual(number.value(), number.value())
        test_case.assertTrue(any(number.eval() != number.value() or number.eval() for _ in range(3)))
        test_case.assertIsInstance(number.eval(), int)

    def test_types(test_case):
        test_case.assertIsInstance(random(1, 6).to(float).value(), float)
        test_case.assertIsInstance(random_bool().value(), bool)
        test_case.assertEqual(constant("x").value(), "x")

    def test_several_numbers_are_a_list(test_case):
        size = random(2, 4).to(Tuple[int, int])
        test_case.assertIsInstance(size.value(), list)
        test_case.assertTrue(all(number in (2, 3) for number in size.value()))

    @autotest(n=3)
    def test_a_list_as_a_size(test_case):
        x = random_tensor(ndim=4, dim2=6, dim3=6)
        size = random(2, 4).to(Tuple[int, int])
        return torch.nn.functional.avg_pool2d(x, size, stride=random_or_nothing(1, 3))

    def test_oneof(test_case):
        test_case.assertEqual(oneof(1, 2, possibility=1.0).value(), 1)
        test_case.assertIn(oneof("a", "b", "c").value(), ("a", "b", "c"))
        test_case.assertIn((random(1, 2).to(int) | constant(7)).value(), (1, 7))

    def test_devices(test_case):
        test_case.assertEqual(cpu_device().value(), "cpu")
        test_case.assertEqual(gpu_device().value(), "cuda")
        test_case.assertEqual(random_device().value(), "cpu")


if __name__ == "__main__":
    unittest.main()
