"""Activations, as functions and as modules, and the normalised exponentials."""

from __future__ import annotations

import unittest

import pytest

from autotest import autotest, nothing, oneof, random, random_bool, random_tensor, torch

FUNCTIONS = (
    "celu",
    "elu",
    "gelu",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "logsigmoid",
    "mish",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "softplus",
    "softsign",
    "tanh",
)
MODULES = (
    "CELU",
    "ELU",
    "GELU",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "Mish",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Softplus",
    "Softsign",
    "Tanh",
)
LAYOUTS = oneof("contiguous", "transposed", "strided", "offset", "expanded")


@pytest.mark.parametrize("name", FUNCTIONS)
@autotest()
def test_function(name):
    x = random_tensor(ndim=random(0, 6), dim0=None, low=-8, high=8, dtype=oneof("float32", "float64"), layout=LAYOUTS)
    return getattr(torch.nn.functional, name)(x)


@pytest.mark.parametrize("name", MODULES)
@autotest()
def test_module(name):
    m = getattr(torch.nn, name)()
    m.train(random_bool())
    return m(random_tensor(ndim=random(1, 5), dim0=None, low=-4, high=4))


@pytest.mark.parametrize("name", MODULES)
@autotest()
def test_module_of_special_values(name):
    m = getattr(torch.nn, name)()
    return m(random_tensor(shape=(3, 5), low=-8, high=8, contents="special", requires_grad=False))


@pytest.mark.parametrize("name", ["ReLU", "ReLU6", "Hardtanh", "Hardsigmoid", "Hardswish", "LeakyReLU", "ELU", "CELU"])
@autotest()
def test_gradient_at_the_corners(name):
    """Integers from -6 to 6 include the points where the pieces of these functions meet."""
    x = random_tensor(shape=(4, 5), low=-6, high=7, contents="integers")
    return getattr(torch.nn, name)()(x)


@pytest.mark.parametrize("name", ["ReLU", "ReLU6", "Hardtanh", "ELU", "CELU", "SiLU", "LeakyReLU", "Hardsigmoid"])
@autotest(n=10)
def test_in_place(name):
    x = random_tensor(ndim=2, dim0=None, low=-8, high=8) * 1
    return getattr(torch.nn, name)(inplace=True)(x), x


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@autotest()
def test_normalised_exponential(name):
    ndim = random(1, 5).to(int)
    x = random_tensor(ndim=ndim, dim0=None, low=-10, high=10, dtype=oneof("float32", "float64"), layout=LAYOUTS)
    return getattr(torch.nn.functional, name)(x, dim=random(-ndim, ndim))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@autotest()
def test_normalised_exponential_of_special_values(name):
    x = random_tensor(shape=(4, 5), low=-10, high=10, contents="special", requires_grad=False)
    return getattr(torch.nn.functional, name)(x, dim=1)


class TestWithParameters(unittest.TestCase):
    @autotest()
    def test_leaky_relu(self):
        x = random_tensor(ndim=2, dim0=None, low=-3, high=3)
        return torch.nn.functional.leaky_relu(x, random(-1, 2).to(float))

    @autotest()
    def test_elu_and_celu(self):
        x = random_tensor(ndim=2, dim0=None, low=-3, high=3)
        alpha = random(0.5, 2.0)
        return torch.nn.ELU(alpha=alpha)(x), torch.nn.CELU(alpha=alpha)(x)

    @autotest()
    def test_hardtanh(self):
        x = random_tensor(ndim=2, dim0=None, low=-3, high=3)
        return torch.nn.Hardtanh(random(-2.0, -0.5), random(0.5, 2.0))(x)

    @autotest(n=10)
    def test_hardtanh_in_double_precision(self):
        return torch.nn.Hardtanh(-1.2, 0.9)(random_tensor(shape=(4, 5), low=-3, high=3, dtype="float64"))

    @autotest()
    def test_softplus(self):
        x = random_tensor(ndim=2, dim0=None, low=-9, high=9)
        return torch.nn.Softplus(beta=random(1, 4), threshold=random(1, 20))(x)

    @autotest()
    def test_shrinking(self):
        x = random_tensor(ndim=2, dim0=None, low=-3, high=3)
        size = random(0.1, 2.0)
        return torch.nn.Hardshrink(size)(x), torch.nn.Softshrink(size)(x)

    @autotest()
    def test_threshold(self):
        x = random_tensor(ndim=2, dim0=None, low=-3, high=3)
        return torch.nn.Threshold(threshold=random(-1.0, 1.0), value=random(-5.0, 5.0))(x)

    @autotest()
    def test_gelu_by_tanh(self):
        x = random_tensor(ndim=2, dim0=None, low=-3, high=3, dtype="float32")
        return torch.nn.functional.gelu(x, approximate=oneof("none", "tanh"))

    @autotest()
    def test_gelu_by_tanh_of_doubles(self):
        x = random_tensor(ndim=2, low=-5, high=-2, dtype="float64")
        return torch.nn.functional.gelu(x, approximate="tanh")

    @autotest()
    def test_glu(self):
        x = random_tensor(shape=(4, 2 * random(1, 4).to(int)), low=-3, high=3)
        return torch.nn.functional.glu(x, dim=oneof(0, 1, -1) | nothing())

    @autotest()
    def test_prelu(self):
        channels = random(1, 5).to(int)
        m = torch.nn.PReLU(num_parameters=oneof(1, channels), init=random(0.1, 0.9) | nothing())
        # With its weight's dtype: OneFlow crashes with another one, which torch refuses, see test_edges.
        return m(random_tensor(shape=(3, channels, 4), low=-3, high=3, dtype="float32"))

    @autotest()
    def test_softmax_modules(self):
        x = random_tensor(shape=(3, 4, 5), low=-3, high=3)
        return torch.nn.Softmax(dim=oneof(0, 1, 2))(x), torch.nn.LogSoftmax(dim=oneof(0, 1, -1))(x)

    @autotest()
    def test_softmax_in_another_dtype(self):
        x = random_tensor(shape=(3, 4), low=-3, high=3)
        return torch.nn.functional.softmax(x, dim=1, dtype=torch.float64)

    @autotest(n=10)
    def test_dropout_when_evaluating(self):
        m = torch.nn.Dropout(random(0.1, 0.9))
        m.eval()
        return m(random_tensor(ndim=3, dim0=None, low=-3, high=3))
