"""One test for each of twenty-six operators, six of which `tests.support.deadly:six` makes deadly."""

import pytest

from autotest import autotest, random_tensor, torch

OPERATORS = (
    "relu sigmoid tanh exp sin cos abs neg sqrt square floor ceil sign round expm1 log1p rsqrt reciprocal erfc softmax "
    "sinh cosh tan atan asinh erf"
).split()


@pytest.mark.parametrize("name", OPERATORS)
@autotest()
def test_operator(name):
    x = random_tensor(ndim=2, low=0.5, high=1.5)
    return torch.softmax(x, dim=1) if name == "softmax" else getattr(torch, name)(x)
