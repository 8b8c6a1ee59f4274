"""No operator in the list of operators without a gradient has one in torch."""

from __future__ import annotations

import operator

import pytest
import torch

from autotest import autotest, random_tensor
from autotest import torch as dual
from autotest.gradients.nondifferentiable import WITHOUT_GRADIENT, listed


def leaf(*shape):
    return torch.linspace(-2.3, 3.1, 12, dtype=torch.float64)[:6].reshape(shape or (2, 3)).requires_grad_()


BINARY = "eq ne lt le gt ge greater less greater_equal less_equal not_equal isclose allclose equal".split()
BINARY += "logical_and logical_or logical_xor nextafter heaviside floor_divide".split()
UNARY = (
    "isnan isinf isfinite isneginf isposinf signbit any all logical_not argmax argmin argsort argwhere nonzero".split()
)
UNARY += "count_nonzero zeros_like ones_like empty_like rand_like randn_like ceil floor round trunc fix sign".split()
SAMPLES = {
    **{name: lambda name=name: getattr(torch, name)(leaf(), leaf() * 1) for name in BINARY},
    **{name: lambda name=name: getattr(torch, name)(leaf()) for name in UNARY},
    "contains": lambda: operator.contains(leaf(), 0.5),
    "searchsorted": lambda: torch.searchsorted(leaf(6), leaf()),
    "bucketize": lambda: torch.bucketize(leaf(), leaf(6)),
    "bincount": lambda: torch.bincount(torch.tensor([1, 2])),
    "full_like": lambda: torch.full_like(leaf(), 2.0),
    "randint_like": lambda: torch.randint_like(leaf(), 2),
    "new_zeros": lambda: leaf().new_zeros(2),
    "new_ones": lambda: leaf().new_ones(2),
    "new_empty": lambda: leaf().new_empty(2),
    "new_full": lambda: leaf().new_full((2,), 1.0),
    "detach": lambda: leaf().detach(),
    "item": leaf()[0, 0].item,
    "tolist": lambda: leaf().tolist(),
    "numpy": leaf().detach().numpy,
    "histc": lambda: torch.histc(leaf()),
    "floordiv": lambda: leaf() // leaf(),
}


@pytest.mark.parametrize("name", sorted(WITHOUT_GRADIENT))
def test_a_listed_operator_has_no_gradient(name):
    entry = WITHOUT_GRADIENT[name]
    if name == "nextafter" and not torch.__version__.startswith("2.0."):
        pytest.skip("torch has learnt its gradient since 2.0, which the list is about")
    result = SAMPLES[name]()
    assert entry.reason
    carries = isinstance(result, torch.Tensor) and result.requires_grad
    if entry.kind == "none":
        assert not carries
        return
    if not carries:
        return
    given = leaf()
    result = getattr(torch, name)(given, *([leaf()] if name in BINARY else [])) if hasattr(torch, name) else given // 2
    if entry.kind == "unimplemented":
        with pytest.raises(RuntimeError, match="not implemented"):
            result.sum().backward()
    else:
        (gradient,) = torch.autograd.grad(result.sum(), given, allow_unused=True)
        assert gradient is None or not gradient.any()


def test_names_are_found_in_every_spelling():
    assert listed("argmax") == listed("torch.argmax") == listed("argmax_")
    assert listed("floor_").kind == "zero"
    assert listed("relu") is None
    assert listed("nn.ReLU") is None


def test_complex_signs_have_a_gradient_to_compare():
    autotest()(lambda: dual.sgn(random_tensor(ndim=2, dtype="complex64")))()
