"""Normalisation over batches, layers, groups and instances.

Contents are spread over [-2, 2) and never a single number wide where they are divided by their spread: what is nearly
constant has a spread of pure rounding, and dividing by it tells nothing of a framework.
"""

from __future__ import annotations

import unittest

import pytest

from autotest import autotest, nothing, oneof, random, random_bool, random_tensor, torch


def image(channels, rank):
    sizes = [random(3, 6).to(int) for _ in range(rank)]
    return random_tensor(shape=(random(3, 6).to(int), channels, *sizes), low=-2, high=2, contents="uniform")


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
    return m(random_tensor(shape=(random(1, 4).to(int), 2, *shape), low=-2, high=2))


class TestNormalisation(unittest.TestCase):
    @autotest()
    def test_groups(self):
        groups, size = random(1, 4).to(int), random(1, 4).to(int)
        m = torch.nn.GroupNorm(groups, groups * size, affine=random_bool() | nothing())
        return m(image(groups * size, oneof(1, 2).value()))

    @autotest()
    def test_of_a_matrix(self):
        m = torch.nn.BatchNorm1d(3)
        m.train(random_bool())
        return m(random_tensor(shape=(random(4, 8).to(int), 3), low=-2, high=2))

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
        mean, variance = (
            random_tensor(shape=(3,), low=-1, high=1, requires_grad=False),
            random_tensor(shape=(3,), low=1, high=2, requires_grad=False),
        )
        weight, bias = (random_tensor(shape=(3,), low=-2, high=2) for _ in range(2))
        return torch.nn.functional.batch_norm(x, mean, variance, weight, bias, training=random_bool(), momentum=0.3)

    @autotest()
    def test_functional_layer_norm(self):
        x = random_tensor(shape=(2, 3, 5), low=-2, high=2)
        weight, bias = (random_tensor(shape=(5,), low=-2, high=2) for _ in range(2))
        return torch.nn.functional.layer_norm(x, (5,), weight, bias)

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
        # Half of the shapes leave one value per channel, which torch refuses when training: so must OneFlow.
        m = torch.nn.BatchNorm1d(3)
        return m(random_tensor(shape=(oneof(1, 5), 3), low=-2, high=2, dtype="float32", contents="uniform"))
