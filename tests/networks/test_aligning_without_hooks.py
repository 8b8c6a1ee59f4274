"""Models of a framework without forward hooks are aligned module by module, and by the command."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from autotest import UsageError, align
from autotest.cli import main
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework

INPUTS = np.random.default_rng(0).random((2, 4), "float32")


class Lacking:
    """An attribute that a class lacks although its base has it."""

    def __get__(self, owner, kind=None):
        raise AttributeError("no such attribute")


class Scale(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x * self.factor


class WithoutHooks(Scale):
    register_forward_hook = Lacking()


class WithoutForward(WithoutHooks):
    forward = Lacking()

    def __call__(self, x):
        return x * self.factor


def model(kind, factor):
    return torch.nn.Sequential(torch.nn.Linear(4, 4), kind(factor), torch.nn.ReLU())


def aligned(port):
    pair = Pair(TorchFramework(), TorchFramework("port", "torch", "port"))
    return align(model(Scale, 2.0), port, INPUTS, pair=pair)


def test_the_module_that_differs_is_named():
    found = aligned(model(WithoutHooks, 2.5))
    assert found.network is not None
    assert found.network.path == "1"


def test_modules_are_left_as_they_were():
    port = model(WithoutHooks, 2.0)
    assert aligned(port).passed
    assert "forward" not in vars(port[1])
    port[1].forward = lambda x: x * 3.0
    assert not aligned(port).passed
    assert port[1].forward(1.0) == 3.0


def test_a_module_whose_calls_cannot_be_seen_is_told():
    with pytest.raises(UsageError, match="does not report the calls of a WithoutForward: expected the method"):
        aligned(model(WithoutForward, 2.0))


def original() -> Scale:
    return Scale(2.0)


def port() -> Scale:
    return Scale(2.5)


@pytest.mark.parametrize(("candidate", "status"), [("torch", 1), ("no_such", 2)])
def test_the_command_takes_the_candidate_as_the_other_commands_do(candidate, status, capsys):
    names = [f"{__name__}:{factory}" for factory in ("original", "port")]
    assert main(["align", *names, "--input", "2,3", "--candidate", candidate]) == status
    assert ("no framework is named 'no_such'" in capsys.readouterr().err) == (status == 2)
