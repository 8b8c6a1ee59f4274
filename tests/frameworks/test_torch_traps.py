"""A plain test never draws arguments with which torch itself ends the process."""

from __future__ import annotations

import pytest
import torch as real

from autotest import autotest, random_tensor, torch
from autotest.frameworks.torch import TorchFramework

LEAST = -(2**63)


@pytest.mark.parametrize(("kind", "name"), [("function", "lcm"), ("method", "lcm"), ("method", "lcm_")])
@pytest.mark.parametrize("place", [0, 1])
def test_the_least_common_multiple_of_the_least_integer_is_refused(kind, name, place):
    operands = [real.tensor([4, 3]), real.tensor([6, 3])]  # with 3, torch does not end the process
    lcm = TorchFramework().operation(kind, name)
    assert lcm(*map(real.clone, operands)).tolist() == [12, 3]
    operands[place][1] = LEAST
    with pytest.raises(RuntimeError, match="least integer"):
        lcm(*operands)


def test_a_plain_test_of_it_runs_to_its_end(against):
    against()
    draws = []

    @autotest(n=20)
    def lcm():
        x, y = (random_tensor(ndim=2, dtype="int64", requires_grad=False) for _ in range(2))
        draws.append(bool((x.pytorch == LEAST).any()) or bool((y.pytorch == LEAST).any()))
        return torch.lcm(x, y)

    lcm()
    assert any(draws)
