"""Gradient faults that are hard to see: each is found by the check that exists for it, and right gradients pass.

Each fault is planted once in the candidate, and once on both sides, where only differences show it.
"""

from __future__ import annotations

import pytest
import torch as real

from autotest import gradcheck, random_tensor, torch
from autotest.frameworks.torch import TorchFramework
from autotest.gradients.checking import check
from autotest.gradients.function import FunctionOfInputs
from autotest.gradients.rule import Rule
from tests.gradients.test_gradcheck import leaf
from tests.support.faulty import FaultyTorch
from tests.support.running import agrees, trial


def planted(forward, backward):
    """Return a function of tensors with value `forward` and gradients ``backward(ctx, inputs, *cotangents)``."""

    class Planted(real.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.save_for_backward(*inputs)
            return forward(*inputs)

        @staticmethod
        def backward(ctx, *cotangents):
            return backward(ctx, ctx.saved_tensors, *cotangents)

    return Planted.apply


def right_square(ctx, inputs, g):
    return 2 * inputs[0] * g


def no_graph(ctx, inputs, g):
    with real.no_grad():
        return 2 * inputs[0] * g


def many_rows_alone(ctx, inputs, g):
    return 2 * inputs[0] * g * (1.01 if g.ndim and g.shape[0] > 1 else 1)


SQUARES = {
    "sign lost for negative inputs": lambda ctx, inputs, g: 2 * inputs[0].abs() * g,
    "transposed": lambda ctx, inputs, g: (2 * inputs[0] * g).transpose(-1, -2).contiguous(),
    "cotangent ignored": lambda ctx, inputs, g: 2 * inputs[0],
    "twice": lambda ctx, inputs, g: 4 * inputs[0] * g,
    "a little too much": lambda ctx, inputs, g: 2 * inputs[0] * g + 1e-3,
    "summed over rows": lambda ctx, inputs, g: (2 * inputs[0] * g).mean(0, keepdim=True).expand_as(g),
    "rolled by one": lambda ctx, inputs, g: (2 * inputs[0] * g).roll(1, 0),
    "the last element alone": lambda ctx, inputs, g: 2 * inputs[0] * g * real.ones_like(g).index_fill(
        -1, real.tensor([g.shape[-1] - 1]), 1.01
    ),
    "of more than one row": many_rows_alone,
}  # fmt: skip


def square():
    return torch.square(random_tensor(shape=(5, 5), low=-2, high=2))


def fault(path, function):
    return FaultyTorch({path: lambda _: lambda *args: function(*args)})  # noqa: PLW0108 - it has no signature


@pytest.mark.parametrize("name", SQUARES)
def test_a_fault_is_caught_by_the_other_side_by_numbers_and_by_gradcheck(name):
    function = planted(lambda x: x * x, SQUARES[name])
    wrong = fault("square", function)
    assert trial(square, wrong).mismatches[0].stage == "backward"
    assert agrees(trial(square, wrong, reference=wrong))
    assert trial(square, wrong, reference=wrong, check_grad="numeric").mismatches[0].stage == "replay"
    assert not gradcheck(function, leaf(5, 5, low=-2.0, high=2.0), rtol=1e-4, raise_exception=False)


def test_the_right_function_passes_all_of_them():
    function = planted(lambda x: x * x, right_square)
    wrong = fault("square", function)
    assert agrees(trial(square, wrong, check_grad="numeric", grad_order=2))
    assert gradcheck(function, leaf(5, 5, low=-2.0, high=2.0))


SEVERAL = {
    "the second output alone": (
        lambda x: (x * 2, x * 3),
        lambda ctx, inputs, g, h: 2 * g + 4 * h,
        lambda op: op(random_tensor(shape=(4, 5))),
        (leaf(4, 5),),
    ),
    "the second use of a leaf": (
        lambda x, y: x * y,
        lambda ctx, inputs, g: (g * inputs[1], g * inputs[0] * (inputs[0] is not inputs[1])),
        lambda op: op(*[random_tensor(shape=(4, 5))] * 2),
        None,
    ),
    "the second input alone": (
        lambda x, y: x * y,
        lambda ctx, inputs, g: (g * inputs[1], g * inputs[0] * 1.01),
        lambda op: op(random_tensor(shape=(4, 5)), random_tensor(shape=(4, 5))),
        (leaf(4, 5), leaf(4, 5, seed=1)),
    ),
    "a broadcast input alone": (
        lambda x, y: x * y,
        lambda ctx, inputs, g: (g * inputs[1], (g * inputs[0]).mean(0, keepdim=True)),
        lambda op: op(random_tensor(shape=(4, 5)), random_tensor(shape=(1, 5))),
        (leaf(4, 5), leaf(1, 5, seed=1)),
    ),
    "inputs that are not contiguous": (
        lambda x: x * x,
        lambda ctx, inputs, g: 2 * inputs[0] * g * (1 if inputs[0].is_contiguous() else 1.01),
        lambda op: op(random_tensor(shape=(4, 5), layout="transposed")),
        (leaf(4, 5).detach().T.requires_grad_(),),
    ),
    "complex inputs": (
        lambda x: x * x,
        lambda ctx, inputs, g: 2 * inputs[0] * g,
        lambda op: op(random_tensor(shape=(4, 5), dtype="complex64", low=-1)),
        (real.complex(leaf(4, 5), leaf(4, 5, seed=1)).detach().requires_grad_(),),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SEVERAL)
def test_a_fault_in_one_of_several_is_caught_alike(name):
    forward, backward, body, inputs = SEVERAL[name]
    function = planted(forward, backward)
    right = planted(forward, RIGHT[name])

    def op(*args):
        return torch.mul(*args)

    wrong, good = fault("mul", function), fault("mul", right)
    assert agrees(trial(lambda: body(op), good, reference=good, check_grad="numeric"))
    assert trial(lambda: body(op), wrong, reference=good).mismatches[0].stage == "backward"
    assert trial(lambda: body(op), wrong, reference=wrong, check_grad="numeric").mismatches[0].stage == "replay"
    if inputs is not None:
        assert gradcheck(right, inputs)
        assert not gradcheck(function, inputs, raise_exception=False)


RIGHT = {
    "the second output alone": lambda ctx, inputs, g, h: 2 * g + 3 * h,
    "the second use of a leaf": lambda ctx, inputs, g: (g * inputs[1], g * inputs[0]),
    "the second input alone": lambda ctx, inputs, g: (g * inputs[1], g * inputs[0]),
    "a broadcast input alone": lambda ctx, inputs, g: (g * inputs[1], (g * inputs[0]).sum(0, keepdim=True)),
    "inputs that are not contiguous": right_square,
    "complex inputs": lambda ctx, inputs, g: 2 * inputs[0].conj() * g,
}


def test_a_parameter_alone():
    function = planted(lambda x, w: x @ w.T, lambda ctx, inputs, g: (g @ inputs[1], 1.01 * g.T @ inputs[0]))
    wrong = FaultyTorch(
        {"nn.functional.linear": lambda _: lambda x, w, b=None: function(x, w) + (0 if b is None else b)}
    )

    def body():
        m = torch.nn.Linear(4, 3)
        return torch.nn.functional.linear(random_tensor(shape=(5, 4)), m.weight, m.bias)

    assert trial(body, wrong).mismatches[0].name.endswith("weight.grad")
    found = trial(body, wrong, reference=wrong, check_grad="numeric").mismatches
    assert [mismatch.name.rpartition(".")[0] for mismatch in found] == ["m0.weight"]


def test_a_backward_that_is_not_linear():
    wrong = fault("square", planted(lambda x: x * x, lambda ctx, inputs, g: 2 * inputs[0] * g.abs()))
    assert trial(square, wrong).mismatches
    (found,) = trial(square, wrong, reference=wrong, check_grad="numeric").mismatches
    assert "backward is not linear" in found.message


def test_cotangents_that_are_laid_out_with_gaps():
    wrong = fault(
        "square", planted(lambda x: x * x, lambda ctx, inputs, g: 2 * inputs[0] * g * (1 if g.is_contiguous() else 2))
    )
    assert agrees(trial(square, wrong, reference=wrong))
    (found,) = trial(square, wrong, reference=wrong, check_grad="numeric").mismatches
    assert "a non-contiguous copy" in found.message


def test_a_backward_that_changes_what_it_reads():
    function = planted(lambda x: x * x, lambda ctx, inputs, g: 2 * inputs[0].mul_(1.5) / 1.5 * g)
    wrong = FaultyTorch({"square": lambda _: lambda x: function(x.view_as(x))})
    assert trial(square, wrong).mismatches
    assert trial(square, wrong, reference=wrong, check_grad="numeric").mismatches


def test_a_gradient_that_is_none_in_the_second_order():
    function = planted(lambda x: x * x, no_graph)
    wrong = fault("square", function)
    assert agrees(trial(square, wrong))
    assert trial(square, wrong, grad_order=2).mismatches
    assert trial(square, wrong, reference=wrong, check_grad="numeric", grad_order=2).mismatches
    framework = TorchFramework()
    assert check(FunctionOfInputs(framework, function, [leaf(3)]), Rule()).passed


def test_a_gradient_that_is_accumulated_twice():
    assert trial(square, FaultyTorch(gradient=lambda x: None if x.grad is None else x.grad * 2)).mismatches


def test_forward_mode_alone():
    class Squares(real.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g

        @staticmethod
        def jvp(ctx, tangent):
            return 2.01 * ctx.saved_tensors[0] * tangent

    wrong = fault("square", Squares.apply)
    assert agrees(trial(square, wrong, reference=wrong, check_grad="numeric"))
    assert "forward mode" in trial(square, wrong, reference=wrong, check_grad="forward").mismatches[0].message
    assert gradcheck(Squares.apply, leaf(3))
    assert not gradcheck(Squares.apply, leaf(3), check_forward_ad=True, raise_exception=False)
