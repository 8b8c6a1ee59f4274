"""Normalisation over batches, layers, groups and instances.

Numbers are spread over [-2, 2), and are never a single number if they are divided by their deviation: nearly
constant numbers have a deviation of pure rounding, and dividing by it shows no fault. Tests of any numbers follow:
what is left of these is cleared as rounding. The dtype is that of the weights: OneFlow accepts another one, which torch
refuses and which has a test of its own.
"""

from __future__ import annotations

import unittest

import pytest

from autotest import autotest, nothing, oneof, random, random_bool, random_tensor, torch


def image(channels, rank, requires_grad=None):
    sizes = [random(3, 6).to(int) for _ in range(rank)]
    return random_tensor(
        shape=(random(3, 6).to(int), channels, *sizes),
        low=-2,
        high=2,
        dtype="float32",
        contents="uniform",
        requires_grad=requires_grad,
    )


@pytest.mark.parametrize("rank", [1, 2, 3])
@autotest()
def test_batch_normalisation(rank):
    channels = random(1, 5).to(int)
    m = getattr(torch.nn, f"BatchNorm{rank}d")(
        channels,
        eps=oneof(1e-5, 1e-3) | nothing(),
        momentum=oneof(0.1, 0.5, 1.0) | nothing(),
        affine=random_bool() | nothing(),
        track_running_stats=random_bool() | nothing(),
    )
    m.train(random_bool())
    x = image(channels, rank)
    return m(x), m(x * 2)


@pytest.mark.parametrize("rank", [1, 2, 3])
@autotest()
def test_instance_normalisation(rank):
    channels = random(1, 5).to(int)
    m = getattr(torch.nn, f"InstanceNorm{rank}d")(channels, affine=random_bool(), eps=oneof(1e-5, 1e-3) | nothing())
    m.train(random_bool())
    return m(image(channels, rank))


@pytest.mark.parametrize("rank", [1, 2, 3])
@autotest(n=5)
def test_running_statistics_of_instances(rank):
    m = getattr(torch.nn, f"InstanceNorm{rank}d")(2, track_running_stats=True)
    m(image(2, rank))


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 4)])
@autotest()
def test_layer_normalisation(shape):
    m = torch.nn.LayerNorm(shape, elementwise_affine=random_bool() | nothing(), eps=oneof(1e-5, 1e-3) | nothing())
    return m(random_tensor(shape=(random(1, 4).to(int), 2, *shape), low=-2, high=2, dtype="float32"))


# Those that OneFlow computes by BatchNorm are not among them: its variance of close numbers is in the ledger already.
OF_ANY_NUMBERS = {
    "LayerNorm": lambda size: torch.nn.LayerNorm(size)(random_tensor(ndim=2, dim1=size, dtype="float32")),
    "GroupNorm": lambda size: torch.nn.GroupNorm(size, size)(random_tensor(ndim=3, dim1=size, dtype="float32")),
    "layer_norm": lambda size: torch.nn.functional.layer_norm(random_tensor(ndim=2, dim1=size), (size.value(),)),
}


@pytest.mark.parametrize("name", OF_ANY_NUMBERS)
@autotest(special_values=False)
def test_of_any_numbers(name):
    """Also of a single one or of equal ones, which differ from their mean by what is rounded."""
    return OF_ANY_NUMBERS[name](random(1, 8).to(int))


MODULES = {
    "BatchNorm1d": lambda: torch.nn.BatchNorm1d(4),
    "BatchNorm2d": lambda: torch.nn.BatchNorm2d(4),
    "BatchNorm3d": lambda: torch.nn.BatchNorm3d(4),
    "GroupNorm": lambda: torch.nn.GroupNorm(2, 4),
    "InstanceNorm1d": lambda: torch.nn.InstanceNorm1d(4, affine=True),
    "InstanceNorm2d": lambda: torch.nn.InstanceNorm2d(4, affine=True),
    "InstanceNorm3d": lambda: torch.nn.InstanceNorm3d(4, affine=True),
    "LayerNorm": lambda: torch.nn.LayerNorm(4),
}


def doubles(name):
    rank = int(name[-2]) if name.endswith("d") else 1
    return random_tensor(shape=(3, 4, *[4] * rank), low=-2, high=2, dtype="float64", contents="uniform")


@pytest.mark.parametrize("name", MODULES)
@autotest(n=5)
def test_in_double_precision(name):
    return MODULES[name]().double()(doubles(name))


@pytest.mark.parametrize("name", MODULES)
@autotest(n=3, check_errors=True, auto_backward="auto")
def test_of_another_dtype_is_refused(name):
    return MODULES[name]()(doubles(name)) if random(0, 3).to(int).value() else doubles(name) + 1


class TestNormalisation(unittest.TestCase):
    @autotest()
    def test_groups(self):
        groups, size = random(1, 4).to(int), random(1, 4).to(int)
        affine = (random_bool() | nothing()).value()
        m = torch.nn.GroupNorm(groups, groups * size, affine=affine)
        # With weights, torch 2.0.1 crashes in the backward of a channels_last image that needs no gradient itself.
        x = image(groups * size, oneof(1, 2).value(), requires_grad=True)
        if affine is not False:
            return m(x)
        # Without weights, torch 2.0.1 crashes in the backward if an input or a cotangent has the layout channels_last.
        # A contiguous image of one channel has it, too.
        return m(x.flatten().reshape(x.shape)).flatten()

    @autotest()
    def test_groups_of_a_matrix(self):
        return torch.nn.GroupNorm(2, 4)(random_tensor(ndim=2, dim1=4, low=-2, high=2))

    @autotest()
    def test_of_a_matrix(self):
        m = torch.nn.BatchNorm1d(3)
        m.train(random_bool())
        shape, layout = (random(4, 8).to(int), 3), oneof("contiguous", "transposed", "strided", "offset")
        return m(random_tensor(shape=shape, low=-2, high=2, dtype="float32", contents="uniform", layout=layout))

    @autotest()
    def test_running_statistics_after_several_batches(self):
        m = torch.nn.BatchNorm2d(2, momentum=oneof(0.1, 0.9))
        for _ in range(3):
            m(image(2, 2))
        m.eval()
        return m(image(2, 2))

    @autotest(n=5)
    def test_running_statistics_as_plain_averages(self):
        m = torch.nn.BatchNorm2d(2, momentum=None)
        m(image(2, 2))

    @autotest()
    def test_functional_batch_norm(self):
        x = image(3, 2)
        # All contiguous, because OneFlow neither updates statistics nor reads weights that are views: see below.
        mean, variance = (
            random_tensor(shape=(3,), low=low, high=low + 1, dtype="float32", layout="contiguous", requires_grad=False)
            for low in (-1, 1)
        )
        weight, bias = (
            random_tensor(shape=(3,), low=-2, high=2, dtype="float32", layout="contiguous") for _ in range(2)
        )
        return torch.nn.functional.batch_norm(x, mean, variance, weight, bias, training=random_bool(), momentum=0.3)

    @autotest(n=5)
    def test_running_statistics_that_are_a_view(self):
        x = image(3, 2)
        mean = random_tensor(shape=(3,), low=-1, high=1, layout="strided", dtype="float32", requires_grad=False)
        return torch.nn.functional.batch_norm(x, mean, torch.ones(3), training=True, momentum=0.3)

    @autotest(n=5)
    def test_weights_that_are_a_view(self):
        x = image(3, 2)
        weight = random_tensor(shape=(3,), low=-2, high=2, layout=oneof("offset", "strided"), dtype="float32")
        return torch.nn.functional.batch_norm(x, torch.zeros(3), torch.ones(3), weight, torch.zeros(3))

    @autotest()
    def test_functional_layer_norm(self):
        x = random_tensor(shape=(2, 3, 5), low=-2, high=2)
        weight, bias = (random_tensor(shape=(5,), low=-2, high=2) for _ in range(2))
        return torch.nn.functional.layer_norm(x, (5,), weight, bias)

    @autotest(n=5)
    def test_functional_layer_norm_without_bias(self):
        weight = random_tensor(shape=(5,), low=1, high=2, requires_grad=False)
        return torch.nn.functional.layer_norm(random_tensor(shape=(2, 3, 5), low=-2, high=2), (5,), weight)

    @autotest()
    def test_normalize(self):
        x = random_tensor(ndim=3, dim0=None, low=0.5, high=2)
        return torch.nn.functional.normalize(
            x, p=oneof(1.0, 2.0, 3.0) | nothing(), dim=random(-3, 3).to(int) | nothing()
        )

    @autotest()
    def test_normalize_of_zeros(self):
        x = random_tensor(shape=(3, 4), low=0, high=2, contents="integers")
        return torch.nn.functional.normalize(x, dim=1)

    @autotest(n=10, check_errors=True)
    def test_of_a_batch_of_one_is_refused(self):
        # Half of the shapes have one value per channel, which torch refuses in training, and OneFlow must, too.
        m = torch.nn.BatchNorm1d(3)
        shape = (oneof(1, 5), 3)
        return m(random_tensor(shape=shape, low=-2, high=2, dtype="float32", contents="uniform", layout="contiguous"))

    @autotest(n=10)
    def test_of_equal_numbers(self):
        # Rounding of their deviation is no fault. OneFlow loses more, see the ledger.
        x = random_tensor(shape=(5, 3), low=1, high=2, dtype="float32", contents="uniform", layout="expanded")
        return torch.nn.BatchNorm1d(3, affine=False)(x)
