"""Programs of reproducers on a framework that has other names than torch."""

from __future__ import annotations

import numpy as np
import pytest

from autotest.frameworks import speaking_torch


@pytest.fixture
def other():
    return speaking_torch("tests.support.block_framework:framework")


def test_an_input_of_a_program_is_an_array(other):
    assert float((other.tensor(np.array([1.0, 2.0], "float32")) * 2).sum()) == 6


def test_a_program_may_call_tensor_itself(other):
    whole = other.tensor([[0, 1]])
    assert (whole.dtype, tuple(whole.shape)) == ("int64", (1, 2))
    assert other.tensor([1.5], dtype=other.float64).dtype == "float64"


def test_tensors_and_modules_are_told_apart_by_the_members_that_scripts_ask_for(other):
    tensor, module = other.tensor([1.5]), other.nn.Linear(2, 3)
    assert [hasattr(tensor, name) for name in ("requires_grad", "tolist", "named_parameters")] == [True, True, False]
    assert [hasattr(module, name) for name in ("requires_grad", "tolist", "named_parameters")] == [False, False, True]
