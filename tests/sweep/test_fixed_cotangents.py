"""The cotangents that nobody draws show a gradient that conjugates or permutes them, and are exact in every dtype."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import autotest
from autotest.comparison import TensorValue
from autotest.frameworks import Pair
from autotest.program import Array, Call, Program, Ref
from autotest.program.fixed_cotangents import fixed_cotangent
from autotest.program.isolation import isolated
from autotest.program.rewriting import tensor_call
from autotest.sweeping.judging import Judge
from tests.support.faulty import Replacement
from tests.sweep.planted import TORCH, fault

#: Permuted gradients of these shapes do not show if the cotangents repeat with a period of a size, or one off by one.
SHAPES = [(2,), (4, 15), (4, 5, 3), (3, 3, 5), (4, 14), (4, 16), (16, 16), (4, 61), (62, 62), (128, 128), (8, 1000)]


def with_cotangent(change: Callable[[Any], Any]) -> Replacement:
    """Return a replacement with the same result, whose gradient is that of the cotangent ``change(cotangent)``."""

    class Through(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> Any:
            return change(cotangent)

    return lambda original: lambda *args, **kwargs: Through.apply(original(*args, **kwargs))


def exponential(shape: tuple[int, ...], dtype: str) -> Program:
    numbers = np.linspace(-1, 1, math.prod(shape)).reshape(shape)
    array = Array((numbers * (1 + 0.5j) if dtype == "complex64" else numbers).astype(dtype), dtype)
    return Program((tensor_call(0, 0, array, requires_grad=True), Call("function", "exp", (Ref(0),), {}, 1)), (array,))


def test_a_sweep_finds_a_gradient_that_conjugates_its_cotangent() -> None:
    pair = Pair(TORCH, fault("exp", with_cotangent(torch.conj)))
    assert not Judge(pair).judge(exponential((3,), "complex64")).checks["gradient"]
    assert Judge(pair).judge(exponential((3,), "float32")).checks["gradient"]


def test_a_sweep_finds_a_gradient_that_is_reversed_whatever_the_sizes() -> None:
    pair = Pair(TORCH, fault("exp", with_cotangent(lambda cotangent: cotangent.flip(0))))
    for shape in SHAPES:
        assert not Judge(pair).judge(exponential(shape, "float32")).checks["gradient"], shape


def test_the_alignment_of_networks_finds_a_gradient_that_conjugates_its_cotangent() -> None:
    class Right(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.full((3,), 1 + 0.5j))

        def forward(self, x: Any) -> Any:
            return self.exp(self.weight * x)

        exp = staticmethod(torch.exp)

    class Wrong(Right):
        exp = staticmethod(with_cotangent(torch.conj)(torch.exp))

    given = (np.arange(6).reshape(2, 3) * 0.1 + 0.2j).astype("complex64")
    found = autotest.align(Right(), Wrong(), given)
    assert [item.stage for item in found.mismatches] == ["backward"] * 2


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64"])
def test_a_call_alone_gets_the_cotangent_that_a_sweep_pushes_back(dtype: str) -> None:
    carrier = "float32" if dtype == "bfloat16" else dtype
    result = TensorValue(np.ones((4, 15), carrier), dtype, "cpu", True)
    program = exponential((4, 15), "float32")
    alone, _ = isolated(
        program, 1, {0: TensorValue(np.ones((4, 15), carrier), dtype, "cpu", True)}, result, gradients=True
    )
    (pushed,) = [alone.arrays[call.args[0].index] for call in alone.inputs() if call.note == "cotangent"]
    assert pushed.dtype == dtype
    assert pushed.data.dtype == carrier
    assert np.array_equal(pushed.data, fixed_cotangent((4, 15), dtype).data)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_permutation_of_a_dimension_or_of_two_leaves_cotangents_as_they_are(shape: tuple[int, ...]) -> None:
    numbers = fixed_cotangent(shape, "float64").data
    others = [np.flip(numbers, axis) for axis in range(len(shape))]
    others += [np.roll(numbers, 1, axis) for axis in range(len(shape))]
    if len(set(shape)) < len(shape) == 2:
        others += [numbers.T, np.flip(numbers.T)]
    for other in others:
        assert np.mean(numbers != other) > 0.3


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_cotangents_are_exact_in_low_precision_and_never_zero_or_large(dtype: str) -> None:
    numbers = fixed_cotangent((100, 100), "float64").data
    low = fixed_cotangent((100, 100), dtype).data
    assert np.array_equal(numbers, torch.from_numpy(low).to(getattr(torch, dtype)).double().numpy())
    assert np.abs(numbers).min() > 0.01
    assert np.abs(numbers).max() < 1


def test_the_sum_of_the_cotangents_of_many_elements_does_not_overflow_in_half_precision() -> None:
    sums = np.cumsum(fixed_cotangent((8, 64, 32, 32), "float64").data)
    assert np.abs(sums).max() < np.finfo("float16").max / 2


def test_the_parts_of_complex_cotangents_are_different_numbers() -> None:
    numbers = fixed_cotangent((100, 100), "complex128").data
    assert np.all(numbers.imag != 0)
    assert np.all(numbers.imag != numbers.real)
    assert np.array_equal(numbers.real, fixed_cotangent((100, 100), "float64").data)


@pytest.mark.parametrize("shape", [(), (0, 3), (61**2,), (61**2 + 5,)])
def test_cotangents_have_any_shape(shape: tuple[int, ...]) -> None:
    numbers = fixed_cotangent(shape, "float32").data
    assert numbers.shape == shape
    assert np.array_equal(numbers.reshape(-1)[:5], fixed_cotangent((5,), "float32").data[: numbers.size])
