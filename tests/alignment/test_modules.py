"""What modules refuse, and their state. These differences were seen while whole networks were compared."""

from __future__ import annotations

import copy

import pytest

from autotest import autotest, oneof, random, random_tensor, skip_grad_check, torch


@autotest(n=5, auto_backward=False)
def test_a_state_has_no_gradients():
    torch.nn.Linear(random(1, 4).to(int), 2).state_dict()


@pytest.mark.parametrize("rank", [1, 2, 3])
@autotest(n=5, check_errors=True)
def test_one_value_per_channel_has_no_spread(rank):
    # torch refuses a batch of one in training. The rejection counts only if OneFlow refuses, too.
    m = getattr(torch.nn, f"BatchNorm{rank}d")(3)
    return m(random_tensor(shape=(oneof(1, 4), 3, *[1] * rank), low=-2, high=2))


@autotest(n=5, auto_backward=False)
def test_a_copy_of_a_leaf_wants_its_gradient():
    return copy.deepcopy(random_tensor(shape=(2, 3), low=-1, high=1))


@autotest(n=5)
def test_linear_of_no_features():
    features = oneof(0, 2).value()
    m = torch.nn.Linear(features, 3)
    return m(random_tensor(shape=(2, features), low=-1, high=1))


@autotest(n=5, auto_backward=False, check_errors=True)
def test_pooling_over_more_than_there_is():
    m = torch.nn.MaxPool2d(oneof(2, 5).value())
    return m(random_tensor(shape=(1, 2, 3, 3), low=-1, high=1, requires_grad=False))


@skip_grad_check(reason="a layer that has overflown hands nothing on")
@autotest(n=5, auto_backward=False)
def test_layer_normalisation_beyond_the_greatest_numbers():
    x = random_tensor(shape=(2, 3), low=-1, high=1, contents="uniform", dtype="float32", requires_grad=False)
    return torch.nn.LayerNorm(3)(x * oneof(1.0, 3e38).value())
