"""Products of matrices and the rest of linear algebra."""

from __future__ import annotations

import unittest

import pytest

from autotest import autotest, nothing, oneof, random, random_bool, random_tensor, torch

LAYOUTS = oneof("contiguous", "transposed", "strided", "offset", "expanded")


def size():
    return random(1, 6).to(int)


RANKS = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2), (2, 3), (3, 3), (4, 3), (3, 4), (4, 4), (1, 3), (3, 1)]


@pytest.mark.parametrize("ranks", [*RANKS, pytest.param((4, 1), marks=pytest.mark.slow)])
@autotest()
def test_matmul_of_ranks(ranks):
    first, second = ranks
    rows, inner, columns, batch = size(), size(), size(), size()
    left = [2, batch, rows, inner][4 - first :] if first > 1 else [inner]
    right = [2, batch, inner, columns][4 - second :] if second > 1 else [inner]
    x = random_tensor(shape=left, low=-1, layout=LAYOUTS)
    y = random_tensor(shape=right, low=-1, layout=LAYOUTS)
    return torch.matmul(x, y)


@pytest.mark.parametrize("bias", [True, False])
@autotest()
def test_linear(bias):
    features = size()
    m = torch.nn.Linear(features, random(1, 9).to(int), bias=bias)
    m.train(random_bool())
    return m(random_tensor(shape=oneof((3, features), (2, 3, features), (1, 1, features)), low=-1))


@pytest.mark.parametrize("bias", [True, False])
@autotest()
def test_linear_of_a_vector(bias):
    features = size()
    return torch.nn.Linear(features, size(), bias=bias)(random_tensor(shape=(features,), low=-1))


@pytest.mark.parametrize("name", ["tril", "triu"])
@autotest()
def test_triangles(name):
    x = random_tensor(ndim=random(2, 5), dim0=None, low=-1, layout=LAYOUTS)
    return getattr(torch, name)(x, diagonal=random(-4, 5).to(int) | nothing())


def baddbmm(beta, size=size):
    batch, rows, inner, columns = size(), size(), size(), size()
    x = random_tensor(shape=(batch, rows, columns), low=-1)
    y, z = random_tensor(shape=(batch, rows, inner), low=-1), random_tensor(shape=(batch, inner, columns), low=-1)
    return torch.baddbmm(x, y, z, beta=beta, alpha=random(-2, 2).to(float))


class TestProducts(unittest.TestCase):
    @autotest()
    def test_mm(self):
        inner = size()
        x = random_tensor(shape=(size(), inner), low=-1, dtype=oneof("float32", "float64"))
        y = random_tensor(shape=(inner, size()), low=-1)
        return torch.mm(x.float(), y), x.float() @ y

    @autotest()
    def test_bmm(self):
        batch, inner = size(), size()
        x = random_tensor(shape=(batch, size(), inner), low=-1, layout=LAYOUTS)
        y = random_tensor(shape=(batch, inner, size()), low=-1, layout=LAYOUTS)
        return torch.bmm(x, y)

    @autotest()
    def test_mv(self):
        inner = size()
        return torch.mv(random_tensor(shape=(size(), inner), low=-1), random_tensor(shape=(inner,), low=-1))

    @autotest()
    def test_dot(self):
        length = size()
        return torch.dot(random_tensor(shape=(length,), low=-1), random_tensor(shape=(length,), low=-1))

    @autotest()
    def test_addmm(self):
        rows, inner, columns = size(), size(), size()
        x = random_tensor(shape=oneof((rows, columns), (1, columns), (columns,)), low=-1)
        y, z = random_tensor(shape=(rows, inner), low=-1), random_tensor(shape=(inner, columns), low=-1)
        factor = random(-2, 2).to(float) | nothing()
        return torch.addmm(x, y, z, beta=factor, alpha=random(-2, 2).to(float) | nothing())

    @autotest()
    def test_baddbmm(self):
        return baddbmm(beta=random(0.25, 2.0) * oneof(-1, 1))

    @autotest(n=5)
    def test_baddbmm_without_what_is_added_to(self):
        # For fewer than 400 products, torch 2.0.1 multiplies uninitialised memory, which may be NaN, by 0.
        return baddbmm(beta=0.0, size=lambda: random(8, 12).to(int))

    @autotest()
    def test_einsum(self):
        i, j, k = size().value(), size().value(), size().value()
        x, y = random_tensor(shape=(2, i, j), low=-1), random_tensor(shape=(2, j, k), low=-1)
        return torch.einsum("bij,bjk->bik", x, y), torch.einsum("bij->bji", x), torch.einsum("bij->b", x)

    @autotest()
    def test_einsum_of_traces_and_outer_products(self):
        n = size()
        x, y = random_tensor(shape=(n, n), low=-1), random_tensor(shape=(size(),), low=-1)
        return torch.einsum("ii->i", x), torch.einsum("ij,k->ikj", x, y)

    @autotest()
    def test_tensordot(self):
        j, k = size(), size()
        x, y = random_tensor(shape=(size(), j, k), low=-1), random_tensor(shape=(j, k, size()), low=-1)
        return torch.tensordot(x, y, dims=2), torch.tensordot(x, y, dims=([1, 2], [0, 1]))

    @autotest()
    def test_functional_linear(self):
        features, out = size(), size()
        x, weight = random_tensor(shape=(2, 3, features), low=-1), random_tensor(shape=(out, features), low=-1)
        return torch.nn.functional.linear(x, weight, random_tensor(shape=(out,), low=-1))

    @autotest()
    def test_two_layers(self):
        m = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))
        return m(random_tensor(shape=(size(), 4), low=-1))


class TestLinearAlgebra(unittest.TestCase):
    @autotest()
    def test_diag(self):
        return torch.diag(random_tensor(shape=oneof((5,), (4, 5), (3, 3)), low=-1), random(-2, 3).to(int))

    @autotest()
    def test_diagonal(self):
        x = random_tensor(ndim=3, dim0=None, low=-1)
        return torch.diagonal(x, offset=random(-1, 2).to(int), dim1=0, dim2=1)

    @autotest()
    def test_diagonal_of_other_dimensions(self):
        # Few different sizes: if they are equal, a gradient with permuted dimensions has the right shape.
        x = random_tensor(shape=(oneof(2, 3), oneof(2, 3), oneof(2, 3)), low=-1)
        return torch.diagonal(x, dim1=oneof(0, 1), dim2=2)

    @autotest()
    def test_cross(self):
        # With gradients: without that of x, OneFlow crashes, and without that of y, it raises, see test_frozen.
        x, y = [random_tensor(shape=(3, 4, 3), low=-1, requires_grad=True) for _ in range(2)]
        return torch.cross(x, y, dim=oneof(0, 2))

    @autotest()
    def test_cross_without_a_dimension(self):
        # The first dimension of size 3 is dimension 2 in the smaller operand, and 0 in the larger one.
        x = random_tensor(shape=oneof((1, 1, 3), (3, 1, 3)), requires_grad=True)
        return torch.cross(x, random_tensor(shape=(3, 1, 3), requires_grad=True))

    @autotest()
    def test_inverse(self):
        # Strongly diagonal, so that the inverse does not amplify the rounding of the factorisation.
        n = random(1, 5).to(int).value()
        x = random_tensor(shape=(2, n, n), low=-0.2, high=0.2) + 2 * torch.eye(n)
        return torch.linalg.inv(x), torch.inverse(x)

    @autotest()
    def test_vector_norm(self):
        x = random_tensor(ndim=3, dim0=None, low=0.5, high=2)
        order = oneof(1, 2, 3.5, float("inf"), float("-inf"))
        return torch.linalg.vector_norm(x, ord=order, dim=random(0, 3), keepdim=random_bool())

    @autotest()
    def test_matrix_norm(self):
        x = random_tensor(ndim=3, dim0=None, dim1=random(2, 5), dim2=random(2, 5), low=0.5, high=2)
        return torch.linalg.matrix_norm(x, ord=oneof("fro", 1, -1, float("inf")), keepdim=random_bool())

    @autotest()
    def test_norm(self):
        x = random_tensor(ndim=2, dim0=None, low=0.5, high=2)
        return torch.linalg.norm(x), torch.linalg.norm(x, dim=oneof(0, 1), ord=oneof(1, 2))

    @autotest(n=10, auto_backward=False)
    def test_eye(self):
        return torch.eye(
            random(1, 6).to(int), random(1, 6).to(int) | nothing(), dtype=oneof(torch.float32, torch.int64).value()
        )
