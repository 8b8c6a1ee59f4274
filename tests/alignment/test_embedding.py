"""Embeddings and one-hot codes."""

from __future__ import annotations

import unittest

import pytest

from autotest import autotest, nothing, random, random_tensor, torch


@pytest.fixture(params=[(), (3,), (2, 4)], ids=["scalar", "vector", "matrix"])
def shape(request):
    return request.param


@autotest(n=10)
def test_embedding_of_a_shape(shape):
    rows = random(1, 9).to(int)
    m = torch.nn.Embedding(rows, random(1, 6).to(int))
    return m(random_tensor(shape=shape, high=rows, dtype=int))


class TestEmbedding(unittest.TestCase):
    def setUp(self):
        self.rows = 7

    @autotest()
    def test_module(self):
        m = torch.nn.Embedding(self.rows, random(1, 6).to(int))
        return m(random_tensor(ndim=2, dim0=None, high=self.rows, dtype=int))

    @autotest()
    def test_padding_gets_no_gradient(self):
        m = torch.nn.Embedding(self.rows, 3, padding_idx=random(0, 7).to(int) | nothing())
        return m(random_tensor(shape=(3, 8), high=self.rows, dtype=int))

    @autotest()
    def test_rows_are_scaled_to_a_greatest_norm(self):
        m = torch.nn.Embedding(self.rows, 3, max_norm=random(0.5, 1.5))
        return m(random_tensor(shape=(2, 3), high=self.rows, dtype=int))

    @autotest()
    def test_gradients_are_scaled_by_frequency(self):
        m = torch.nn.Embedding(self.rows, 3, scale_grad_by_freq=True)
        return m(random_tensor(shape=(2, 6), high=self.rows, dtype=int))

    @autotest()
    def test_functional(self):
        weight = random_tensor(shape=(self.rows, 4), low=-1)
        x = random_tensor(shape=(2, 5), high=self.rows, dtype=int)
        return torch.nn.functional.embedding(x, weight, padding_idx=random(0, 7).to(int) | nothing())

    @autotest()
    def test_indices_of_32_bits(self):
        m = torch.nn.Embedding(self.rows, 2)
        return m(random_tensor(shape=(4,), high=self.rows, dtype="int32"))

    @autotest(auto_backward=False)
    def test_one_hot(self):
        x = random_tensor(ndim=2, dim0=None, high=5, dtype=int)
        return torch.nn.functional.one_hot(x, num_classes=random(5, 8).to(int)), torch.nn.functional.one_hot(x)

    @autotest(n=10)
    def test_into_a_linear_layer(self):
        m = torch.nn.Sequential(torch.nn.Embedding(self.rows, 4), torch.nn.Linear(4, 2), torch.nn.Sigmoid())
        return m(random_tensor(shape=(3,), high=self.rows, dtype=int))

    @autotest(n=5, auto_backward=False, check_errors=True)
    def test_an_index_beyond_the_last_row_is_refused(self):
        # torch refuses every second trial. The rejection counts only if OneFlow refuses, too.
        weight = random_tensor(shape=(self.rows, 2), requires_grad=False)
        x = random_tensor(shape=(3,), low=self.rows - 1, high=self.rows + 1, dtype=int)
        return torch.nn.functional.embedding(x, weight)
