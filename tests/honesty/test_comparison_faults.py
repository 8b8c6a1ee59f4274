"""Faults that a careless comparison misses (1 to 12, and 26)."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
import torch as real

from autotest import autotest, random_tensor, torch
from tests.support.faulty import FaultyTorch, plus, returning, with_gradient


def positive(*shape):
    return random_tensor(shape=shape, low=1, high=2)


def constant_fault(path, value):
    """Return a replacement that always returns `value`."""
    return FaultyTorch({path: lambda original: lambda *args, **kwargs: value.clone()})


@pytest.mark.parametrize(
    ("expected", "actual"), [((4, 3), (3,)), ((5,), ()), ((1, 3), (3, 1)), ((1,), (0,)), ((3,), (4, 3)), ((0,), (1,))]
)
def test_a_shape_that_would_broadcast(caught, expected, actual):
    caught(lambda: torch.ones(expected), constant_fault("ones", real.ones(actual)), "shape", auto_backward=False)


@pytest.mark.parametrize("dtype", [real.float64, real.float16, real.bfloat16])
def test_another_dtype(caught, dtype):
    caught(lambda: torch.ones(3), constant_fault("ones", real.ones(3, dtype=dtype)), "dtype", auto_backward=False)


@pytest.mark.parametrize("wrong", [100001, 99999])
def test_an_integer_within_a_relative_tolerance(caught, wrong):
    fault = constant_fault("full", real.tensor([wrong]))
    caught(lambda: torch.full((1,), 100000), fault, "value", rtol=1e-3, atol=5.0, auto_backward=False)


def test_a_boolean_is_not_a_number(caught):
    fault = FaultyTorch({"isfinite": returning(lambda result: result.to(real.int64))})
    caught(lambda: torch.isfinite(positive(3)), fault, "dtype")


def test_tolerance_is_relative_to_the_reference(caught):
    # |2 - 1| is half of the candidate's value, and all of the reference's.
    fault = constant_fault("ones", real.full((1,), 2.0))
    caught(lambda: torch.ones(1), fault, "value", rtol=0.5, atol=0.0, auto_backward=False)


@pytest.mark.parametrize(
    ("rtol", "atol", "expected", "actual"),
    [(0.1, 0.0, 1e-3, 1.5e-3), (0.0, 0.1, 1e3, 1.001e3), (0.1, 1e-4, 1e-3, 2e-3)],
)
def test_rtol_is_not_atol(caught, rtol, atol, expected, actual):
    fault = constant_fault("full", real.full((1,), actual))
    caught(lambda: torch.full((1,), expected), fault, "value", rtol=rtol, atol=atol, auto_backward=False)


def test_rtol_and_atol_by_position(against):
    fault = constant_fault("full", real.full((1,), 1e-3 + 1e-4))
    against(fault)

    def body():
        return torch.full((1,), 1e-3)

    autotest(1, 0.2, 0.0, auto_backward=False)(body)()
    with pytest.raises(AssertionError):
        autotest(1, 0.0, 1e-5, auto_backward=False)(body)()


def unused_beside_used():
    x, unused = positive(3), positive(2)
    y = torch.relu(x)
    return y + unused.detach().sum()


@pytest.mark.parametrize("side", ["candidate", "reference"])
def test_a_gradient_on_one_side_only(caught, side):
    def everywhere(tensor):
        return real.zeros_like(tensor) if tensor.grad is None else tensor.grad

    fault = FaultyTorch(gradient=everywhere if side == "candidate" else lambda tensor: None)
    assert "gradient, " in str(caught(unused_beside_used, fault, "gradient"))


@pytest.mark.parametrize("change", [lambda g: g.reshape(-1), lambda g: g[None], lambda g: g.T, lambda g: g[:, :1]])
def test_a_gradient_of_another_shape(caught, change):
    fault = FaultyTorch(gradient=lambda tensor: None if tensor.grad is None else change(tensor.grad))
    raised = caught(lambda: torch.relu(positive(2, 3)), fault)
    assert raised.finding.first.stage == "backward"


def test_a_gradient_of_another_dtype(caught):
    fault = FaultyTorch(gradient=lambda tensor: None if tensor.grad is None else tensor.grad.double())
    raised = caught(lambda: torch.relu(positive(2, 3)), fault)
    assert raised.finding.first.stage == "backward"


DOUBLED = FaultyTorch({"relu": with_gradient(lambda gradient: 2 * gradient)})


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_wrong_gradient_behind_one_of_several_outputs(caught, position):
    def body():
        outputs = [torch.exp(positive(3)) for _ in range(2)]
        outputs.insert(position, torch.relu(positive(3)))
        return tuple(outputs)

    caught(body, DOUBLED, "gradient")


def test_a_forgotten_return(caught):
    def body():
        torch.relu(positive(3))

    caught(body, DOUBLED, "gradient")


def test_a_wrong_bfloat16(caught):
    def body():
        return torch.relu(random_tensor(shape=(3,), low=1, high=2, dtype="bfloat16"))

    # Neighbouring bfloat16 numbers near 1 differ by 2^-7; eight such steps are more than rounding.
    caught(body, FaultyTorch({"relu": plus(0.0625)}), "value")


def test_a_wrong_plain_float(caught):
    caught(lambda: (positive(3).sum().item(), torch.ones(1))[1], FaultyTorch(tensors={"item": plus(0.01)}), "value")


def test_an_empty_tuple_that_is_not_empty(caught, against):
    empty = {"broadcast_tensors": lambda original: lambda *args: ()}
    filled = {"broadcast_tensors": lambda original: lambda *args: (real.ones(1),)}

    @autotest(n=2)
    def body():
        return torch.broadcast_tensors(torch.ones(1))

    against(FaultyTorch(empty), FaultyTorch(empty, name="reference"))
    body()
    for one, other in ((empty, filled), (filled, empty)):
        against(FaultyTorch(one), FaultyTorch(other, name="reference"))
        with pytest.raises(AssertionError, match="broadcast_tensors"):
            body()


@pytest.mark.parametrize(
    ("ask", "method", "wrong"),
    [
        (lambda x: x.dim(), "dim", plus(1)),
        (lambda x: x.size(0), "size", plus(1)),
        (lambda x: x.stride(), "stride", returning(lambda stride: stride[::-1])),
        (lambda x: x.is_contiguous(), "is_contiguous", returning(lambda contiguous: not contiguous)),
        (lambda x: x.tolist(), "tolist", returning(lambda values: [*values, 0.0])),
        (lambda x: x.numel(), "numel", plus(1)),
    ],
)
def test_a_wrong_plain_fact_about_a_tensor(caught, ask, method, wrong):
    def body():
        x = positive(2, 3)
        ask(x)
        return x + 1

    caught(body, FaultyTorch(tensors={method: wrong}))


def test_a_tensor_on_another_device(caught):
    fault = FaultyTorch(value=lambda frozen: dataclasses.replace(frozen, device="cuda"))
    caught(lambda: torch.relu(positive(3)), fault, "device")


def test_a_tensor_that_lost_its_graph(caught):
    fault = FaultyTorch({"relu": returning(lambda result: result.detach().requires_grad_(False))})
    caught(lambda: torch.relu(positive(3)), fault, "requires_grad", auto_backward=False)


class WithoutBias(real.nn.Linear):
    def __init__(self, *features):
        super().__init__(*features, bias=False)


class WithMore(real.nn.Linear):
    def __init__(self, *features):
        super().__init__(*features)
        self.scale = real.nn.Parameter(real.ones(1))


class WithBuffer(real.nn.Linear):
    def __init__(self, *features):
        super().__init__(*features)
        self.register_buffer("calls", real.zeros(1))


@pytest.mark.parametrize("other", [WithoutBias, WithMore, WithBuffer])
def test_a_missing_parameter(caught, other):
    fault = FaultyTorch({"nn.Linear": lambda original: other})
    caught(lambda: torch.nn.Linear(3, 4)(positive(2, 3)), fault, "structure")


def test_a_wrong_gradient_in_a_nested_module(caught):
    def wrong_for_weight(linear):
        def wrong(x, weight, bias=None):
            return linear(x, with_gradient(lambda gradient: 1.5 * gradient)(lambda same: same)(weight), bias)

        return wrong

    def body():
        inner = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh())
        return torch.nn.Sequential(inner, torch.nn.Linear(4, 2))(positive(2, 3))

    raised = caught(body, FaultyTorch(tensors={"linear": wrong_for_weight}), "gradient")
    assert any(mismatch.name.endswith("weight.grad") for mismatch in raised.finding.mismatches)


SPECIAL = ("nan", "inf", "-inf", "0.0", "3.4e38")


@pytest.mark.parametrize(("value", "instead"), list(itertools.permutations(SPECIAL, 2)))
def test_a_nan_that_became_zero(caught, value, instead):
    wrong = real.full((3,), float(value))
    wrong[1] = float(instead)
    caught(lambda: torch.full((3,), float(value)), constant_fault("full", wrong), "value", auto_backward=False)


def test_an_infinity_of_the_other_sign(caught):
    caught(
        lambda: torch.full((3,), float("inf")),
        constant_fault("full", real.full((3,), -float("inf"))),
        "value",
        auto_backward=False,
    )


def test_only_the_mean_is_right(caught):
    fault = FaultyTorch({"relu": returning(lambda result: result.flip(0))})
    caught(lambda: torch.relu(random_tensor(shape=(8,), low=0, high=1)), fault, "value")


def test_a_fault_after_what_is_none_on_both_sides(caught):
    def body():
        unused, x = positive(2), positive(3)
        return unused.grad, torch.relu(x)

    caught(body, FaultyTorch({"relu": plus(1.0)}), "value")
    caught(body, DOUBLED, "gradient")


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_fault_deep_inside_of_a_container(caught, position):
    def wrong(parts):
        changed = list(parts)
        changed[position] = changed[position] + 1
        return tuple(changed)

    def body():
        return {"parts": [torch.split(positive(6), 2), None]}

    caught(body, FaultyTorch({"split": returning(wrong)}), "value")


def test_a_fault_in_a_container_that_the_test_did_not_return(caught):
    def body():
        torch.split(positive(6), 2)
        return torch.ones(1)

    caught(body, FaultyTorch({"split": returning(lambda parts: (*parts[:-1], parts[-1] + 1))}), "value")


def test_one_wrong_element_among_many(caught):
    def wrong(result):
        result = result.clone()
        result[123, 45] += 1e-3
        return result

    raised = caught(lambda: torch.relu(positive(300, 300)), FaultyTorch({"relu": returning(wrong)}), "value")
    assert "Mismatched 1 / 90000" in str(raised)
    assert "(123, 45)" in str(raised)


@pytest.mark.parametrize("factor", [1.001, 1.04, 0.96])
def test_five_percent(caught, factor):
    caught(lambda: torch.relu(positive(3)), FaultyTorch({"relu": returning(lambda y: y * factor)}), "value")


def test_an_answer_that_is_always_zero(caught):
    caught(lambda: torch.relu(positive(3)), FaultyTorch({"relu": returning(real.zeros_like)}), "value")


@pytest.mark.parametrize(
    ("name", "body", "wrong"),
    [
        ("softmax", lambda: torch.softmax(random_tensor(shape=(4, 5)), 1), real.zeros_like),
        ("flip", lambda: torch.flip(random_tensor(shape=(5,)), (0,)), lambda gradient: gradient.flip(0)),
        ("sort", lambda: torch.sort(random_tensor(shape=(5,)))[0], lambda gradient: gradient.roll(1)),
        (
            "nn.functional.layer_norm",
            lambda: torch.nn.functional.layer_norm(random_tensor(shape=(4, 5)), (5,)),
            real.zeros_like,
        ),
    ],
)
def test_a_gradient_that_a_uniform_cotangent_hides(caught, name, body, wrong):
    caught(body, FaultyTorch({name: with_gradient(wrong)}), "gradient")


def writing_into(is_written):
    """Return a replacement that computes right results and gradients, but zeroes the gradient that is pushed back."""

    def replacement(original):
        class Writing(real.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.view_as(x)

            @staticmethod
            def backward(ctx, gradient):
                kept = gradient.clone()
                if is_written(gradient):
                    gradient.zero_()
                return kept

        return lambda *args: Writing.apply(original(*args))

    return replacement


def in_columns(gradient):
    return not gradient.is_contiguous() and gradient.t().is_contiguous()


def with_gaps(gradient):
    return gradient.stride(-1) == 2


@pytest.mark.parametrize("is_written", [real.is_tensor, in_columns, with_gaps])
def test_a_backward_that_writes_into_what_is_pushed_back(caught, is_written):
    fault = FaultyTorch({"sin": writing_into(is_written)})
    caught(lambda: torch.sin(random_tensor(ndim=2, low=1, high=2)), fault, "value", n=20)
