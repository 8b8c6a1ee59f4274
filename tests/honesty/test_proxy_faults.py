"""Faults of the proxy objects in test bodies (21 to 23)."""

from __future__ import annotations

import gc

import pytest
import torch as real

from autotest import DualObject, autotest, random_tensor, torch
from tests.support.faulty import FaultyTorch, plus, returning
from tests.support.running import agrees, trial


class Stubborn(real.nn.BatchNorm1d):
    """A module whose training mode cannot be assigned."""

    def __setattr__(self, name, value):
        if name != "training" or "training" not in self.__dict__:
            super().__setattr__(name, value)


def test_an_assigned_attribute_reaches_both_sides(caught):
    def body():
        layer = torch.nn.BatchNorm1d(3)
        layer.training = False
        return layer(random_tensor(shape=(5, 3)))

    caught(body, FaultyTorch({"nn.BatchNorm1d": lambda original: Stubborn}), "value")


def test_an_assigned_requires_grad_reaches_both_sides(caught):
    def body():
        x = random_tensor(shape=(3,))
        x.requires_grad = False
        return torch.relu(x), torch.exp(random_tensor(shape=(2,)))

    # If it were assigned on the reference only, the candidate's tensor would require grad without any fault.
    caught(body, FaultyTorch({"relu": returning(lambda y: y.requires_grad_())}), "requires_grad")


def test_an_assigned_parameter_reaches_both_sides(caught):
    def body():
        layer = torch.nn.Linear(3, 2)
        layer.weight = torch.nn.Parameter(torch.ones(2, 3))
        return layer(random_tensor(shape=(4, 3)))

    caught(body, FaultyTorch({"nn.Parameter": lambda original: lambda x: original(x + 1)}), "value")


@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad=True:UserWarning")
@pytest.mark.parametrize(
    ("ask", "method"),
    [
        (lambda x: bool(x.sum() > 100), "gt"),
        (len, "__len__"),
        (lambda x: float(x.sum()), "sum"),
        (lambda x: int(x.sum()), "sum"),
        (lambda x: 7.0 in x, "__contains__"),
        (lambda x: [row for row in x], "unbind"),  # noqa: C416 - iterating is the point
    ],
)
def test_bool_len_and_hash_work_and_are_compared(caught, ask, method):
    def wrong(original):
        def changed(*args, **kwargs):
            result = original(*args, **kwargs)
            if isinstance(result, bool):
                return not result
            if isinstance(result, tuple):
                return result[:-1]
            return result.logical_not() if getattr(result, "dtype", None) is real.bool else result + 1

        return changed

    def body():
        x = random_tensor(shape=(3,), low=1, high=2)
        assert hash(x) == hash(x)
        assert {x: 1}[x] == 1
        ask(x)
        return torch.ones(1)

    caught(body, FaultyTorch(tensors={method: wrong}))


def test_containers_are_unwrapped(caught):
    def body():
        x, y = random_tensor(shape=(2, 2)), random_tensor(shape=(2, 2))
        torch.nn.functional.pad(input=x, pad=(1, 1), mode="constant")
        torch.einsum("ij,jk->ik", [x, y])
        torch.block_diag(*[x, (y,)[0]])
        torch.autograd.grad([x.sum()], (x,), grad_outputs=[torch.ones(())])
        return torch.cat(tensors=[x, torch.stack((y, y))[0]])

    caught(body, FaultyTorch({"cat": lambda cat: lambda tensors: cat([tensors[0], tensors[1] + 1])}), "value")


def test_a_reused_identity_hides_nothing(caught):
    def body():
        total = torch.zeros(3)
        for number in range(60):
            # A body that keeps nothing frees each of these at once, and the next one gets the same id.
            total = total + torch.relu(torch.full((3,), float(number)))
            gc.collect(0)
        return torch.zeros(1)

    once = FaultyTorch({"relu": lambda relu: lambda x: relu(x) + 1000.0 * bool((x == 47).all())})
    raised = caught(body, once, "value", n=1, auto_backward=False)
    # The wrong result, and each of the sums after it.
    assert len(raised.finding.mismatches) == 1 + (60 - 47)


def test_no_class_is_made_for_an_object(against):
    against()

    def classes():
        found, todo = 0, [DualObject]
        while todo:
            found += 1
            todo.extend(todo.pop().__subclasses__())
        return found

    before = classes()
    kinds = set()

    def body():
        x = random_tensor()
        layer = torch.nn.ReLU()
        kinds.update(type(item) for item in (x, layer, layer(x), torch.split(x, 1)))
        return layer(x)

    autotest(n=5)(body)()
    assert classes() == before
    assert {kind.__name__ for kind in kinds} == {"Value", "Module"}


def test_an_alias_is_compared_through_each_of_its_names(caught):
    def body():
        x = random_tensor(shape=(4, 3), requires_grad=False)
        row, flat = x[1], x.view(-1)
        row.mul_(2)
        return flat, x

    caught(body, FaultyTorch(tensors={"__getitem__": returning(lambda row: row.clone())}), "value")


def test_an_input_that_the_candidate_spoils(caught):
    def spoil(relu):
        def spoiling(x):
            y = relu(x)
            x.data.zero_()
            return y

        return spoiling

    caught(lambda: torch.relu(random_tensor(low=1, high=2)), FaultyTorch({"relu": spoil}), "value")


def test_the_sides_share_no_memory(against):
    def body():
        x = random_tensor(shape=(3,), requires_grad=False)
        x.reference.add_(1)
        return x + 1

    assert {mismatch.symptom for mismatch in trial(body).mismatches} == {"value"}
    assert agrees(trial(lambda: random_tensor() + 1, FaultyTorch(tensors={"sub": plus(1.0)})))
