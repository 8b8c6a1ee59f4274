"""Reading and writing by index: slices, masks, tensors of indices, gather and scatter."""

from __future__ import annotations

import math
import unittest

import numpy as np
import pytest

import generators
from autotest import autotest, oneof, random, random_bool, random_tensor, torch


def matrix(**more):
    return random_tensor(shape=(random(3, 7).to(int).value(), random(3, 7).to(int).value()), low=-2, high=2, **more)


def places(x, dim, shape):
    """Return valid indices into dimension `dim` of `x`."""
    return random_tensor(shape=shape, dtype=int, contents=generators.indices(x.shape[dim]))


def permutations(bits, spec):
    """Contents in which each row has every index once."""
    return np.argsort(bits.unit64(math.prod(spec.shape)).reshape(spec.shape), axis=-1)


@pytest.mark.parametrize("dim", [0, 1, -1])
@autotest()
def test_gather(dim):
    x = matrix()
    shape = tuple(x.shape) if random_bool().value() else (2, 3)
    return torch.gather(x, dim, places(x, dim, shape))


@pytest.mark.parametrize("dim", [0, 1, -1])
@autotest()
def test_index_select(dim):
    x = matrix()
    return torch.index_select(x, dim, places(x, dim, (random(1, 6).to(int),)))


@pytest.mark.parametrize("dim", [0, 1, -1])
@autotest()
def test_narrow(dim):
    return torch.narrow(matrix(), dim, random(0, 2).to(int), random(1, 2).to(int))


class TestReading(unittest.TestCase):
    @autotest()
    def test_slices(self):
        x = random_tensor(shape=(6, 5, 4), low=-2, high=2)
        start, step = random(0, 3).to(int).value(), random(1, 3).to(int).value()
        return x[start:, ::step], x[..., 1], x[-1], x[:, None, 1:3], x[1:5:2, 0, -2:], x[None]

    @autotest()
    def test_slices_that_are_empty(self):
        x = matrix()
        return x[:0], x[2:1, 1:]

    @autotest()
    def test_tensor_of_indices(self):
        x = matrix()
        return x[places(x, 0, (random(1, 5).to(int),))]

    @autotest()
    def test_negative_indices(self):
        x = matrix()
        at = random_tensor(shape=(4,), dtype=int, contents=generators.indices(x.shape[0], negative=True))
        return x[at]

    @autotest()
    def test_tensors_of_indices_together(self):
        x = random_tensor(shape=(4, 5, 3), low=-2, high=2)
        rows, columns = places(x, 0, (2, 1)), places(x, 1, (3,))
        return x[rows, columns], x[:, columns]

    @autotest()
    def test_list_of_indices(self):
        return matrix()[[0, 2, 1, 0]]

    @autotest()
    def test_mask(self):
        x = matrix()
        return x[x > 0], torch.masked_select(x, x < 0.5)

    @autotest(auto_backward=False)
    def test_nonzero(self):
        x = random_tensor(
            ndim=random(1, 4), dim0=None, low=0, high=3, dtype=oneof("float32", "int64"), contents="integers"
        )
        return torch.nonzero(x)

    @autotest(n=5, auto_backward=False)
    def test_argwhere(self):
        return torch.argwhere(random_tensor(shape=(3, 4), low=0, high=3, dtype=int))

    @autotest(auto_backward=False)
    def test_nonzero_as_tuple(self):
        x = random_tensor(shape=(3, 4), low=0, high=3, contents="integers", requires_grad=False)
        return torch.nonzero(x, as_tuple=True)

    @autotest()
    def test_select(self):
        x = random_tensor(shape=(4, 5, 3), low=-2, high=2)
        return x.select(oneof(0, 1, 2), oneof(0, 2, -1))

    @autotest()
    def test_rows_of_a_tensor_that_is_walked_through(self):
        first, second = random_tensor(shape=(2, 3), low=-1)
        return first * second


class TestWriting(unittest.TestCase):
    @autotest()
    def test_masked_fill(self):
        x = matrix()
        return torch.masked_fill(x, x > 0, random(-3, 3).to(float)), x.masked_fill(x.detach() < -1, float("-inf"))

    @autotest()
    def test_scatter(self):
        x = random_tensor(shape=(4, 5), low=-2, high=2)
        # Each place once, because it is unspecified which of several writes to one place wins.
        at = random_tensor(shape=(4, 5), dtype=int, contents=permutations)
        return torch.scatter(x, 1, at, random_tensor(shape=(4, 5), low=-2, high=2))

    @autotest()
    def test_scatter_a_number(self):
        x = random_tensor(shape=(4, 5), low=-2, high=2)
        return torch.scatter(x, oneof(0, 1), places(x, 0, (2, 3)), random(-2, 2).to(float))

    @autotest()
    def test_scatter_add(self):
        x = random_tensor(shape=(4, 5), low=-2, high=2)
        dim = oneof(0, 1).value()
        return torch.scatter_add(x, dim, places(x, dim, (3, 4)), random_tensor(shape=(3, 4), low=-2, high=2))

    @autotest()
    def test_index_add(self):
        x = random_tensor(shape=(4, 5), low=-2, high=2)
        return torch.index_add(x, 0, places(x, 0, (3,)), random_tensor(shape=(3, 5), low=-2, high=2))

    @autotest()
    def test_assignment_to_slices(self):
        x = random_tensor(shape=(5, 6), low=-2, high=2) * 1
        x[1:3] = 7
        x[0, ::2] = random_tensor(shape=(3,), low=-2, high=2)
        x[..., -1] = random(-2, 2).to(float)
        return x

    @autotest(n=5)
    def test_assignment_with_a_cotangent_of_gaps(self):
        x = random_tensor(shape=(4, 3))
        y = x * 1
        y[1:3] = random_tensor(shape=(2, 3))
        y.backward(random_tensor(shape=(4, 3, 2), low=1, high=2, requires_grad=False)[..., 0])

    @autotest()
    def test_assignment_to_a_mask(self):
        x = random_tensor(shape=(5, 6), low=-2, high=2) * 1
        x[x.detach() > 0] = 0.5
        return x

    @autotest()
    def test_assignment_to_rows(self):
        x = random_tensor(shape=(5, 6), low=-2, high=2) * 1
        x[torch.tensor([0, 3])] = random_tensor(shape=(2, 6), low=-2, high=2)
        return x

    @autotest()
    def test_assignment_through_a_view(self):
        layout = oneof("contiguous", "transposed", "strided", "offset")
        x = random_tensor(shape=(5, 6), low=-2, high=2, requires_grad=False, layout=layout)
        row = x[2]
        row[1:] = 9
        return x * 2

    @autotest()
    def test_assignment_through_an_expanded_view(self):
        # In a separate test, because OneFlow 0.9.0 crashes: if a row is one number, it allocates memory for six.
        x = random_tensor(shape=(5, 6), low=-2, high=2, requires_grad=False, layout="expanded")
        row = x[2]
        row[1:] = 9
        return x * 2
