"""A call that one side accepts and the other refuses is the same mismatch in the trial and in each replay."""

from __future__ import annotations

import pytest

from autotest import random_tensor, torch
from autotest.base.settings import Settings
from autotest.replaying.agreement import agree
from tests.support.faulty import FaultyTorch, raising
from tests.support.running import pair_with, trial


class Refusing:
    """Stands for a class whose name is written like a function's."""

    def __init__(self, *args):
        raise ValueError(f"\nnothing is known of {args}")


def refusing_inputs(layer):
    class RefusesInputs(layer):
        def forward(self, *args):
            raise RuntimeError("not " * 100)

    return RefusesInputs


CALLS = {
    "a function": (lambda: torch.relu(random_tensor()), {"relu": raising(RuntimeError("not\nimplemented"))}),
    "a class": (lambda: torch.nn.Linear(2, 2), {"nn.Linear": raising(RuntimeError("no layers"))}),
    "a class named like a function": (lambda: torch.finfo(torch.float32), {"finfo": lambda _: Refusing}),
    "a call of a module": (lambda: torch.nn.ReLU()(random_tensor()), {"nn.ReLU": refusing_inputs}),
    "a backward": (
        lambda: torch.autograd.backward(random_tensor().sum()),
        {"autograd.backward": raising(RuntimeError("no gradients"))},
    ),
}


@pytest.mark.parametrize(("body", "faults"), CALLS.values(), ids=CALLS.keys())
@pytest.mark.parametrize("side", ["candidate", "reference"])
def test_a_replay_finds_what_the_trial_found(body, faults, side):
    pair = pair_with(**{side: FaultyTorch(faults)})
    outcome = trial(body, pair.candidate, reference=pair.reference, check_errors=True)
    assert len(outcome.mismatches) == 1
    assert agree(outcome.recorder.program(), pair, Settings(check_errors=True)).mismatches == outcome.mismatches
