"""Pooling by maximum, by average and to a given size, as modules and as functions."""

from __future__ import annotations

import unittest

import pytest

from autotest import autotest, nothing, oneof, random, random_bool, random_tensor, torch


def image(rank, least=5):
    sizes = [random(least, least + 4).to(int) for _ in range(rank)]
    return random_tensor(shape=(random(1, 4).to(int), random(1, 4).to(int), *sizes), low=-1)


@pytest.mark.parametrize("rank", [1, 2, 3])
@autotest()
def test_maximum(rank):
    kernel = random(2, 5)
    m = getattr(torch.nn, f"MaxPool{rank}d")(
        kernel_size=kernel,
        stride=random(1, 3) | nothing(),
        padding=random(0, 2).to(int) | nothing(),
        dilation=random(1, 3) | nothing(),
        ceil_mode=random_bool() | nothing(),
    )
    # At least as large as the window: OneFlow accepts smaller ones, which torch refuses, see test_modules.
    return m(image(rank, 9 if rank < 3 else 7))


@pytest.mark.parametrize("rank", [1, 2, 3])
@autotest()
def test_maximum_with_its_places(rank):
    m = getattr(torch.nn, f"MaxPool{rank}d")(random(1, 4), stride=random(1, 3) | nothing(), return_indices=True)
    values, places = m(image(rank))
    return values, places


@pytest.mark.parametrize("rank", [1, 2, 3])
@autotest()
def test_average(rank):
    m = getattr(torch.nn, f"AvgPool{rank}d")(
        kernel_size=random(2, 5),
        stride=random(1, 3) | nothing(),
        padding=random(0, 2).to(int) | nothing(),
        ceil_mode=random_bool() | nothing(),
        count_include_pad=random_bool() | nothing(),
    )
    return m(image(rank))


@pytest.mark.parametrize("rank", [1, 2, 3])
@autotest()
def test_average_to_a_size(rank):
    return getattr(torch.nn, f"AdaptiveAvgPool{rank}d")(random(1, 8))(image(rank))


@pytest.mark.parametrize("rank", [1, 2, 3])
@autotest()
def test_maximum_to_a_size(rank):
    return getattr(torch.nn, f"AdaptiveMaxPool{rank}d")(random(1, 5))(image(rank))


@pytest.mark.parametrize("rank", [1, 2, 3])
@autotest(n=10)
def test_maximum_undone(rank):
    sizes = [2 * random(2, 4).to(int) for _ in range(rank)]
    x = random_tensor(shape=(random(1, 4).to(int), 2, *sizes), low=-1)
    values, places = getattr(torch.nn, f"MaxPool{rank}d")(2, return_indices=True)(x)
    return getattr(torch.nn, f"MaxUnpool{rank}d")(2)(values, places)


@pytest.mark.parametrize("rank", [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["MaxPool", "AvgPool", "AdaptiveAvgPool"])
@autotest(n=10)
def test_without_a_batch(kind, rank):
    image = random_tensor(shape=(random(1, 4).to(int), *[6] * rank), low=-1)
    return getattr(torch.nn, f"{kind}{rank}d")(random(1, 4).to(int))(image)


class TestFunctional(unittest.TestCase):
    @autotest()
    def test_max_pool2d(self):
        return torch.nn.functional.max_pool2d(image(2), random(1, 4).to(int), stride=random(1, 3).to(int))

    @autotest()
    def test_avg_pool2d(self):
        return torch.nn.functional.avg_pool2d(image(2), random(1, 4).to(int), stride=random(1, 3).to(int))

    @autotest()
    def test_adaptive_avg_pool2d_to_sizes_that_differ(self):
        return torch.nn.functional.adaptive_avg_pool2d(image(2), (random(1, 6).to(int), random(1, 6).to(int)))

    @autotest()
    def test_adaptive_size_that_is_kept(self):
        return torch.nn.AdaptiveAvgPool2d((oneof(3, None), 2))(image(2))

    @autotest()
    def test_divisor_override(self):
        return torch.nn.AvgPool2d(2, divisor_override=random(1, 5).to(int))(image(2))

    @autotest()
    def test_maximum_among_ties(self):
        x = random_tensor(shape=(2, 2, 6, 6), low=0, high=3, contents="integers")
        return torch.nn.MaxPool2d(random(2, 4))(x)

    @autotest()
    def test_maximum_of_nan_and_infinities(self):
        x = random_tensor(shape=(1, 2, 6, 6), low=-1, contents="special", requires_grad=False) * 1
        return torch.nn.MaxPool2d(2)(x)
