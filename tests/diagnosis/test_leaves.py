"""A wrong gradient has one key and one verdict, whatever call created the leaf."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import autotest as at
from autotest import Divergence
from autotest import torch as dual
from tests.support import faults
from tests.support.running import trials

MAKERS = {
    "drawn": lambda: at.random_tensor(ndim=1, dim0=3, low=0.5, high=1, dtype="float32"),
    "ones": lambda: dual.ones(3, requires_grad=True),
    "tensor": lambda: dual.tensor([1.0, 2.0, 3.0], requires_grad=True),
    "requires_grad_": lambda: dual.ones(3).requires_grad_(),
    "parameter": lambda: dual.nn.Parameter(dual.ones(3)),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_the_gradient_of_any_leaf_is_known_by_the_operator_that_computed_of_it(maker: str, tmp_path: Path) -> None:
    def body() -> Any:
        return dual.relu(MAKERS[maker]())

    with pytest.raises(Divergence) as raised:
        trials(body, tmp_path, faults.wrong_relu_gradient(), n=1)
    found = raised.value.finding
    assert found is not None
    assert found.operator == "relu"
    assert found.identity.key.startswith("faulty-relu-gradient-")
    assert found.blame == "candidate"
