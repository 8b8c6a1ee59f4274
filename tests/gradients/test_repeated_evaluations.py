"""A check evaluates its function hundreds of times; what does not change between the evaluations is done once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from autotest.frameworks.torch import TorchFramework
from autotest.gradients.function import FunctionOfInputs, slope
from autotest.gradients.program_function import ProgramFunction
from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call

NUMBERS = Array(np.linspace(0.5, 2.0, 4).reshape(2, 2), "float64")


class Counting(TorchFramework):
    """Counts the tensors that are made of arrays, and those that are written into."""

    made = written = 0

    def tensor(self, array: Array, **options: Any) -> Any:
        self.made += 1
        return super().tensor(array, **options)

    def overwrite(self, tensor: Any, array: Array) -> None:
        self.written += 1
        self.made -= 1  # the numbers to write
        super().overwrite(tensor, array)


def test_an_input_that_no_call_reads_is_made_once() -> None:
    calls = (
        tensor_call(0, 0, NUMBERS, requires_grad=True),
        tensor_call(1, 1, NUMBERS, requires_grad=False),
        Call("function", "mul", (Ref(0), Ref(1)), {}, 2),
        tensor_call(3, 2, NUMBERS, requires_grad=False, note="cotangent"),
    )
    framework = Counting()
    function = ProgramFunction(Program(calls, (NUMBERS,) * 3), 4, [2], framework)
    assert framework.made == 3
    (found,) = function(function.leaves[0].tensor)
    assert framework.made == 4  # the second factor: a call may have written into it
    assert found.tolist() == (NUMBERS.data**2).tolist()


def test_an_input_is_restored_once_after_all_its_elements_were_varied() -> None:
    framework = Counting()
    leaf = torch.tensor(NUMBERS.data, requires_grad=True)
    function = FunctionOfInputs(framework, lambda x: [x.exp(), 1 / x], [leaf])
    found = function.differences(0, 1e-6)
    assert framework.written == 2 * leaf.numel() + 1
    assert leaf.tolist() == NUMBERS.data.tolist()
    for k, differences in enumerate(found):
        above, below = function.around(0, k, 1e-6)
        for one, (higher, lower) in zip(differences, zip(above, below, strict=True), strict=True):
            assert one.tolist() == slope(higher, lower, 2e-6).tolist()


def test_an_input_is_restored_if_the_function_raises() -> None:
    leaf = torch.tensor(NUMBERS.data, requires_grad=True)

    def function(x: Any) -> Any:
        if (x > 2).any():
            raise ValueError("planted")
        return x.exp()

    varied = FunctionOfInputs(TorchFramework(), function, [leaf])
    with pytest.raises(ValueError, match="planted"):
        varied.differences(0, 1e-6)
    assert leaf.tolist() == NUMBERS.data.tolist()
