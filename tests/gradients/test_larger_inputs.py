"""Numeric checks use inputs of a hundred elements if these can be made, and name the inputs that stay smaller."""

from __future__ import annotations

import math

import pytest

from autotest import random_tensor, torch
from autotest.frameworks.torch import TorchFramework
from autotest.gradients.larger_inputs import ENOUGH, too_small, with_larger_inputs
from tests.support.faulty import FaultyTorch, with_gradient
from tests.support.running import agrees, trial


def larger(body):
    found = with_larger_inputs(trial(body).program, TorchFramework())
    assert found is not None
    return found


def late(gradient):
    """Return torch whose gradient of exp is wrong in the last of more than sixty elements."""
    changed = gradient.clone()
    if changed.numel() > 60:
        changed.view(-1)[-1] *= 1.01
    return changed


@pytest.mark.parametrize(
    "body",
    [
        lambda: torch.exp(random_tensor(shape=(2, 3))),
        lambda: torch.exp(random_tensor(shape=(1,))),
        lambda: random_tensor(shape=(2, 3)) @ random_tensor(shape=(3, 4)),
        lambda: torch.exp(random_tensor(shape=(3, 4), layout="transposed")),
        lambda: torch.nn.Linear(4, 3)(random_tensor(shape=(5, 4))),
        lambda: torch.nn.functional.embedding(
            random_tensor(shape=(4,), dtype=int, high=3), random_tensor(shape=(3, 2))
        ),
    ],
)
def test_inputs_grow_to_a_hundred_elements(body):
    found = larger(body)
    assert too_small(found.after) == []
    assert all(math.prod(shape) >= ENOUGH for shape in found.after.values())


def test_what_broadcasts_still_does():
    found = larger(lambda: random_tensor(shape=(5, 4)) + random_tensor(shape=(1, 4)))
    assert found.after["x1"][0] == 1 < found.after["x0"][0]


def test_what_was_drawn_stays_where_it_was():
    program = trial(lambda: torch.exp(random_tensor(shape=(2, 3)))).program
    found = with_larger_inputs(program, TorchFramework())
    old, new = program.arrays[0].data, found.program.arrays[0].data
    assert (new[:2, :3] == old).all()
    assert old.min() <= new.min()
    assert new.max() <= old.max()
    assert len(set(new.reshape(-1).tolist())) == new.size


def test_a_fault_in_a_late_element_is_found_although_the_trial_drew_few():
    fault = FaultyTorch({"exp": with_gradient(late)})

    def body():
        return torch.exp(random_tensor(shape=(3, 4)))

    assert agrees(trial(body, fault))
    (found,) = trial(body, fault, check_grad="numeric").mismatches
    assert "on larger inputs: x0 (3, 4) -> (25, 4)" in found.message


def test_inputs_that_cannot_grow_are_named():
    outcome = trial(lambda: torch.exp(random_tensor(shape=())) * random_tensor(shape=(10, 10)), check_grad="numeric")
    assert agrees(outcome)
    assert outcome.too_small_inputs == ["x0"]
    assert trial(lambda: torch.exp(random_tensor(shape=(2, 3))), check_grad="numeric").too_small_inputs == []


def test_what_the_candidate_refuses_on_larger_inputs_is_checked_as_it_was_drawn():
    def refuses_many(exp):
        def replaced(x):
            if x.numel() > 60:
                raise RuntimeError("too many")
            return exp(x)

        return replaced

    outcome = trial(
        lambda: torch.exp(random_tensor(shape=(3, 4))), FaultyTorch({"exp": refuses_many}), check_grad="numeric"
    )
    assert agrees(outcome)
    assert not outcome.complaint
    assert outcome.numeric_pairs == 2
    assert outcome.too_small_inputs == ["x0"]


def test_nothing_grows_beyond_what_can_be_had():
    found = larger(lambda: torch.exp(random_tensor(shape=(1, 1, 1, 1, 1))))
    assert too_small(found.after) == []
    assert sum(array.data.size for array in found.program.arrays) < 1000
    assert larger(lambda: random_tensor(shape=(1,)).repeat(1, 1, 1, 1, 1, 1, 1)).after == {"x0": (100,)}
