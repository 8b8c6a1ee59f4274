"""Undefined contents that were made outside of a trial accuse no candidate in it."""

from __future__ import annotations

import pytest

from autotest import random_tensor, torch
from autotest.base.settings import Settings
from autotest.replaying.agreement import agree
from tests.support.faulty import FaultyTorch, plus, returning
from tests.support.running import agrees, pair_with, trial


def own_memory():
    """Return a candidate whose uninitialised memory has other contents than the reference's."""
    return FaultyTorch({"empty": returning(lambda x: x.fill_(7.0))})


@pytest.mark.parametrize("made", [lambda: torch.empty(100), lambda: torch.nn.functional.dropout(torch.ones(100))])
def test_a_tensor_has_the_contents_of_the_reference_and_what_is_computed_from_it_is_compared(against, made):
    against(own_memory())
    outside = made()

    def body():
        return torch.sigmoid(torch.nan_to_num(outside)) + random_tensor(shape=(100,))

    for seed in range(2):
        outcome = trial(body, own_memory(), seed=seed)
        assert agrees(outcome)
        assert agree(outcome.program, pair_with(), Settings()).mismatches == []
    assert trial(body, FaultyTorch({"sigmoid": plus(1.0)})).mismatches


def test_a_buffer_of_a_network_stays_undefined(against):
    against(own_memory())

    class Masked(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mask", torch.nn.functional.dropout(torch.ones(100)))
            self.register_buffer("junk", torch.empty(100))
            self.scale = torch.nn.Parameter(torch.ones(100))

        def forward(self, x):
            return x * self.scale, x * self.mask + self.junk

    net = Masked()
    outcome = trial(lambda: net(random_tensor(shape=(100,), low=-1, high=1)), own_memory())
    assert agrees(outcome)
