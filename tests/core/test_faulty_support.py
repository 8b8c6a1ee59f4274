"""Planted faults are where they were planted, and leave torch itself unchanged."""

from __future__ import annotations

import pytest
import torch

from autotest import Divergence, autotest, random_tensor
from autotest import torch as dual
from tests.support import faults
from tests.support.faulty import FaultyTorch, plus, with_gradient


@autotest(n=3)
def relu():
    return dual.relu(random_tensor(low=-1))


def test_torch_under_another_name_agrees_with_torch(against):
    against(faults.none())
    relu()


@pytest.mark.parametrize(
    ("fault", "symptom"),
    [
        (faults.wrong_relu, "value"),
        (faults.wrong_relu_gradient, "gradient"),
        (faults.short_relu, "shape"),
        (faults.missing_relu, "exception"),
    ],
)
def test_a_fault_is_seen_where_it_was_planted(against, fault, symptom):
    against(fault())
    with pytest.raises(Divergence) as caught:
        relu()
    assert caught.value.finding.first.symptom == symptom


def test_torch_itself_stays_whole():
    faulty = FaultyTorch({"nn.functional.relu": plus(1.0), "relu": plus(1.0)}, missing=("exp",))
    one = torch.ones(1)
    assert faulty.resolve("nn.functional.relu")(one) == 2
    assert not hasattr(faulty.root, "exp")
    assert torch.nn.functional.relu(one) == 1
    assert torch.relu(one) == 1
    assert hasattr(torch, "exp")


def test_a_fault_in_methods_reaches_operators_functions_and_modules(against):
    faulty = FaultyTorch(tensors={"add": plus(1.0), "linear": plus(1.0)})
    one = faulty.root.tensor([1.0])
    assert one + one == 3
    assert one.add(one) == 3
    assert torch.add(one, one) == 3

    @autotest(n=1)
    def linear():
        return dual.nn.Linear(3, 4)(random_tensor(shape=(2, 3)))

    linear()
    against(faulty)
    with pytest.raises(Divergence):
        linear()


def test_a_changed_gradient_leaves_values_alone():
    doubled = with_gradient(lambda gradient: 2 * gradient)(torch.relu)
    x = torch.ones(2, requires_grad=True)
    doubled(x).sum().backward()
    assert doubled(x).tolist() == [1, 1]
    assert x.grad.tolist() == [2, 2]
