"""A reference that cannot differentiate all results of a program leaves no gradients of the others behind."""

from __future__ import annotations

import numpy as np
import pytest

from autotest.frameworks import Pair
from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.replaying.replay import replay
from autotest.sweeping.backward import with_backward
from autotest.sweeping.judging import Judge
from tests.sweep.planted import TORCH

X = Array(np.array([0.5, 1, 2], "float32"), "float32")
#: A function without a derivative, and one with a derivative; torch differentiates the last result first.
PAIR = (("heaviside", (Ref(1), Ref(1))), ("relu", (Ref(0),)))


@pytest.mark.parametrize("functions", [PAIR, PAIR[::-1]])
def test_gradients_of_a_backward_that_stopped_halfway_are_not_compared(
    functions: tuple[tuple[str, tuple[Ref, ...]], ...],
) -> None:
    inputs = [tensor_call(slot, slot, X, requires_grad=True) for slot in range(2)]
    calls = [Call("function", name, args, {}, 2 + at) for at, (name, args) in enumerate(functions)]
    program = Program((*inputs, *calls), (X, X))
    expected = replay(program, TORCH)
    assert with_backward(program, expected) is program
    assert [TORCH.gradient(value) for value in expected.values[:2]] == [None, None]
    judged = Judge(Pair(TORCH, TORCH)).judge(program)
    assert judged.checks["value"]
    assert "gradient" not in judged.checks
