"""Convolutions and their transposes, as modules and as functions; unfolding into windows and folding back."""

from __future__ import annotations

import unittest

import pytest

from autotest import autotest, constant, nothing, oneof, random, random_bool, random_device, random_tensor, torch

#: float32 sums of up to 6 * 4 * 4 * 4 products of numbers below one: at most 384 roundings of 2**-24 relative to a
#: sum of absolute values of about 100 is 2e-3 in the worst case and its root, 1e-4, in the usual one.
SUMS = {"rtol": 1e-4, "atol": 1e-4}


def image(*shape, **more):
    """With the weights' dtype: OneFlow crashes with another one, which torch refuses, see test_edges."""
    return random_tensor(shape=shape, low=-1, high=1, dtype="float32", **more)


@pytest.mark.parametrize("rank", [1, 2, 3])
@autotest(n=15, **SUMS)
def test_convolution(rank):
    channels = random(1, 6)
    m = getattr(torch.nn, f"Conv{rank}d")(
        in_channels=channels,
        out_channels=random(1, 6),
        kernel_size=random(1, 4),
        stride=random(1, 3) | nothing(),
        padding=random(0, 3).to(int) | nothing(),
        dilation=random(1, 3) | nothing(),
        groups=random(1, 3) | nothing(),
        bias=random_bool() | nothing(),
        padding_mode=constant("zeros") | nothing(),
    )
    m.train(random_bool())
    return m(image(random(1, 4), channels, *[random(5, 8).to(int) for _ in range(rank)]))


@pytest.mark.parametrize("rank", [1, 2, 3])
@autotest(n=15, check_errors=True, **SUMS)
def test_transposed_convolution(rank):
    # An output_padding must be smaller than the stride or the dilation. torch refuses others, and OneFlow must, too.
    channels = random(1, 6)
    m = getattr(torch.nn, f"ConvTranspose{rank}d")(
        in_channels=channels,
        out_channels=random(1, 6),
        kernel_size=random(1, 4),
        stride=random(1, 4) | nothing(),
        padding=random(1, 3).to(int) | nothing(),
        output_padding=random(0, 3).to(int) | nothing(),
        dilation=random(1, 4) | nothing(),
        groups=random(1, 3) | nothing(),
        bias=random_bool() | nothing(),
    )
    # At least 5, so that the result has elements. The next test has results without elements.
    return m(image(random(1, 4), channels, *[random(5, 8).to(int) for _ in range(rank)]))


@pytest.mark.parametrize("rank", [1, 2, 3])
@autotest(n=5)
def test_transposed_convolution_to_nothing(rank):
    # With a dilation, torch 2.0.1 uses oneDNN, which returns an empty tensor; its own code refuses, as OneFlow does.
    m = getattr(torch.nn, f"ConvTranspose{rank}d")(1, 1, 1, padding=2, dilation=2, bias=False)
    return m(image(2, 1, *[4] * rank))


@pytest.mark.parametrize("name", ["conv1d", "conv2d", "conv3d"])
@autotest(n=15, **SUMS)
def test_functional_convolution(name):
    rank = int(name[4])
    channels, out = random(1, 5).to(int), random(1, 5).to(int)
    x = random_tensor(shape=(2, channels, *[6] * rank), low=-1, high=1)
    weight = random_tensor(shape=(out, channels, *[random(1, 4).to(int) for _ in range(rank)]), low=-1, high=1)
    bias = random_tensor(shape=(out,), low=-1, high=1) if random_bool().value() else None
    return getattr(torch.nn.functional, name)(
        x, weight, bias, stride=random(1, 3).to(int), padding=random(0, 2).to(int)
    )


@pytest.mark.parametrize("name", ["conv_transpose1d", "conv_transpose2d", "conv_transpose3d"])
@autotest(n=15, **SUMS)
def test_functional_transposed_convolution(name):
    rank = int(name[-2])
    channels, out = random(1, 5).to(int), random(1, 5).to(int)
    # torch 2.0.1 reads uninitialised memory if an input, or a weight of kernel size 1, is a transposed view.
    x = random_tensor(shape=(2, channels, *[4] * rank), low=-1, high=1, layout="contiguous")
    size = (channels, out, *[random(1, 4).to(int) for _ in range(rank)])
    # With a gradient: without one, OneFlow crashes, see test_frozen.
    weight = random_tensor(shape=size, low=-1, high=1, layout="contiguous", requires_grad=True)
    stride = random(1, 3).to(int)
    return getattr(torch.nn.functional, name)(x, weight, stride=stride, padding=random(0, 2).to(int))


class TestConvolution(unittest.TestCase):
    @autotest(n=15, **SUMS)
    def test_window_sizes_that_differ_by_dimension(self):
        m = torch.nn.Conv2d(
            2,
            3,
            kernel_size=(random(1, 4).to(int), random(1, 4).to(int)),
            stride=(random(1, 3).to(int), random(1, 3).to(int)),
            padding=(random(0, 2).to(int), random(0, 2).to(int)),
        )
        device = random_device()
        m.to(device)
        return m(image(2, 2, 7, 6).to(device))

    @autotest(n=10, **SUMS)
    def test_depthwise(self):
        channels = random(1, 6)
        m = torch.nn.Conv2d(channels, channels * 2, 3, padding=1, groups=channels)
        return m(image(2, channels, 5, 5))

    @autotest(n=10, **SUMS)
    def test_padding_by_name(self):
        m = torch.nn.Conv2d(2, 3, random(1, 4), padding=oneof("same", "valid"))
        return m(image(2, 2, 6, 6))

    @autotest(n=10, **SUMS)
    def test_padding_modes(self):
        m = torch.nn.Conv2d(2, 3, 3, padding=1, padding_mode=oneof("reflect", "replicate", "circular"))
        return m(image(2, 2, 6, 6))

    @autotest(n=10, **SUMS)
    def test_without_a_batch(self):
        return torch.nn.Conv2d(2, 3, 3)(image(2, 6, 6))

    @autotest(n=10, rtol=1e-7, atol=1e-10)
    def test_in_double_precision(self):
        m = torch.nn.Conv1d(3, 2, random(1, 4), padding=random(0, 2).to(int)).double()
        return m(random_tensor(shape=(2, 3, 6), low=-1, high=1, dtype="float64"))

    @autotest(n=10, **SUMS)
    def test_of_a_layout_that_is_not_contiguous(self):
        layout = oneof("transposed", "strided", "offset", "expanded")
        return torch.nn.Conv2d(3, 2, 2)(image(2, 3, 5, 4, layout=layout))


class TestWindows(unittest.TestCase):
    @autotest(n=15)
    def test_unfold(self):
        m = torch.nn.Unfold(
            kernel_size=random(1, 4).to(int),
            dilation=random(1, 3).to(int) | nothing(),
            padding=random(0, 2).to(int) | nothing(),
            stride=random(1, 3).to(int) | nothing(),
        )
        return m(random_tensor(shape=(2, random(1, 4).to(int), 7, 6), low=-1, high=1))

    @autotest(n=15)
    def test_fold(self):
        kernel = random(1, 4).to(int)
        x = random_tensor(shape=(2, 3 * kernel * kernel, (7 - kernel) * (6 - kernel)), low=-1, high=1)
        return torch.nn.functional.fold(x, output_size=(6, 5), kernel_size=kernel)

    @autotest()
    def test_tensor_unfold(self):
        x = random_tensor(shape=(5, 6, 4), low=-1, high=1)
        return x.unfold(oneof(0, 1, -1), random(1, 4).to(int), random(1, 3).to(int))
