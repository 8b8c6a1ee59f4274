"""Hooks that observe the tests that run, and the events that they get."""

from __future__ import annotations

import pytest

from autotest import Divergence, autotest, random_tensor, torch
from autotest.running.run_hooks import run_hook
from tests.support import faults


@autotest(n=3)
def agreeing():
    return torch.exp(random_tensor())


def test_a_listener_reads_the_tally_when_the_test_has_ended():
    heard = []
    with run_hook(lambda *told: heard.append(told)):
        agreeing()
    ((test, context, tally),) = heard
    assert test.id == "test_listening.py::agreeing"
    assert (context.pair.sides, context.options.seed, tally.accepted) == (("torch", "torch"), 0, 3)


def test_a_test_that_fails_was_heard_of_too(against):
    against(faults.wrong_relu())

    @autotest(n=3)
    def diverging():
        return torch.relu(random_tensor())

    heard = []
    with run_hook(lambda *told: heard.append(told[0].id)), pytest.raises(Divergence):
        diverging()
    assert heard == ["test_listening.py::diverging"]


def test_listeners_inside_of_each_other_all_hear():
    outer, inner = [], []
    with run_hook(lambda *told: outer.append(1)):
        with run_hook(lambda *told: inner.append(1)):
            agreeing()
        agreeing()
    agreeing()
    assert (len(outer), len(inner)) == (2, 1)
