"""Recurrent cells, and the layers that run them over sequences."""

from __future__ import annotations

import unittest

import pytest

from autotest import autotest, nothing, oneof, random, random_bool, random_tensor, torch


def sizes():
    return random(1, 6).to(int).value(), random(1, 6).to(int).value(), random(1, 4).to(int).value()


@pytest.mark.parametrize("name", ["RNNCell", "GRUCell"])
@autotest()
def test_cell(name):
    features, hidden, batch = sizes()
    m = getattr(torch.nn, name)(features, hidden, bias=random_bool())
    x, h = random_tensor(shape=(batch, features), low=-1), random_tensor(shape=(batch, hidden), low=-1)
    return m(x, h)


@pytest.mark.parametrize("name", ["RNNCell", "GRUCell", "LSTMCell"])
@autotest(n=5)
def test_cell_without_a_state(name):
    return getattr(torch.nn, name)(3, 4)(random_tensor(shape=(2, 3), low=-1))


@pytest.mark.parametrize("name", ["RNN", "GRU"])
@autotest(n=10)
def test_layer(name):
    features, hidden, batch = sizes()
    layers, both = random(1, 3).to(int).value(), random_bool().value()
    m = getattr(torch.nn, name)(features, hidden, num_layers=layers, bidirectional=both, batch_first=random_bool())
    output, last = m(random_tensor(shape=(3, batch, features), low=-1))
    return output, last


class TestCells(unittest.TestCase):
    @autotest()
    def test_lstm_cell(self):
        features, hidden, batch = sizes()
        m = torch.nn.LSTMCell(features, hidden, bias=random_bool())
        x = random_tensor(shape=(batch, features), low=-1)
        state = random_tensor(shape=(batch, hidden), low=-1), random_tensor(shape=(batch, hidden), low=-1)
        h, c = m(x, state)
        return m(x, (h, c))

    @autotest(n=10)
    def test_rnn_cell_with_relu(self):
        m = torch.nn.RNNCell(3, 4, nonlinearity=oneof("tanh", "relu"))
        return m(random_tensor(shape=(2, 3), low=-1), random_tensor(shape=(2, 4), low=-1))

    @autotest(n=10)
    def test_cell_over_several_steps(self):
        m = torch.nn.GRUCell(3, 4)
        h = random_tensor(shape=(2, 4), low=-1)
        for _ in range(random(1, 4).to(int).value()):
            h = m(random_tensor(shape=(2, 3), low=-1), h)
        return h


class TestLayers(unittest.TestCase):
    @autotest(n=10)
    def test_lstm(self):
        features, hidden, batch = sizes()
        m = torch.nn.LSTM(
            features,
            hidden,
            num_layers=random(1, 3).to(int),
            bias=random_bool(),
            batch_first=random_bool(),
            bidirectional=random_bool(),
        )
        output, (h, c) = m(random_tensor(shape=(3, batch, features), low=-1))
        return output, h, c

    @autotest(n=10)
    def test_lstm_from_a_state(self):
        m = torch.nn.LSTM(3, 4)
        h, c = random_tensor(shape=(1, 2, 4), low=-1), random_tensor(shape=(1, 2, 4), low=-1)
        output, _ = m(random_tensor(shape=(5, 2, 3), low=-1), (h, c))
        return output

    @autotest(n=10)
    def test_lstm_with_projection(self):
        m = torch.nn.LSTM(3, 4, proj_size=2)
        output, _ = m(random_tensor(shape=(5, 2, 3), low=-1))
        return output

    @autotest(n=10)
    def test_without_a_batch(self):
        name = oneof("RNN", "GRU").value()
        output, _ = getattr(torch.nn, name)(3, 4, num_layers=oneof(1, 2) | nothing())(
            random_tensor(shape=(5, 3), low=-1)
        )
        return output
