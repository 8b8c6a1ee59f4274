"""Ports are trained beside their model. Faults of the port or of its optimizer are found, and nothing else."""

from __future__ import annotations

import gc
import itertools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import autotest
from autotest.aligning import running
from autotest.base.errors import UsageError
from autotest.cli import main
from autotest.frameworks.torch import TorchFramework
from autotest.program import Array

X = (np.arange(60).reshape(4, 3, 5) * 7 % 11 - 5).astype("float32") / 4


def network(library: Any, mistake: str = "") -> Any:
    """Return a network with a residual block, made of `library`; the block of a port may have a mistake."""
    nn = library.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.up, self.act, self.down = nn.LayerNorm(8), nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8)

        def forward(self, x: Any) -> Any:
            inner = self.norm(x)
            turned = mistake == "transposed"
            inner = library.matmul(inner, self.up.weight) + self.up.bias if turned else self.up(inner)
            inner = library.relu(inner) if mistake == "another activation" else self.act(inner)
            return (x.detach() if mistake == "detached" else x) + self.down(inner)

    class Net(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.norm = nn.Conv1d(3, 8, 3, padding=1), nn.BatchNorm1d(8)
            self.block, self.head = Block(), nn.Linear(8, 4)
            self.head.bias.requires_grad_(mistake != "frozen")

        def forward(self, x: Any) -> Any:
            x = self.conv(x)
            if mistake == "no buffers":
                mean = x.mean(dim=(0, 2), keepdim=True)
                x = (x - mean) / library.sqrt(((x - mean) ** 2).mean(dim=(0, 2), keepdim=True) + 1e-5)
                x = x * self.norm.weight.reshape(1, 8, 1) + self.norm.bias.reshape(1, 8, 1)
            else:
                x = self.norm(x)
            return self.head(self.block(library.relu(x).permute(0, 2, 1)).mean(dim=1))

    return Net()


def loss(output: Any) -> Any:
    return (output * output).mean()


def sgd(library: Any, parameters: Any) -> Any:
    return library.optim.SGD(parameters, lr=0.1, momentum=0.9)


def other_for_the_second(**differing: Any) -> Callable[..., Any]:
    """Return a function that makes AdamW, in turn for the reference and with other options for the candidate."""
    made: list[Any] = []

    def make(library: Any, parameters: Any) -> Any:
        options = {"lr": 0.01, "weight_decay": 0.01, **(differing if len(made) % 2 else {})}
        made.append(library.optim.AdamW(parameters, **options))
        return made[-1]

    return make


def aligned(candidate: Any, mistake: str, optimizer: Callable[..., Any] = sgd) -> Any:
    torch.manual_seed(0)
    model = network(torch)
    return autotest.align(model, network(candidate, mistake), X, loss=loss, optimizer=optimizer, steps=3)


MISTAKES = [
    # The class whose forward is wrong is named, and not a later layer, also after optimizer steps.
    ("transposed", "block", "block.act[output]"),
    ("another activation", "block", "block.down[output]"),
    # A layer that reads the same input is not named.
    ("detached", "block", "conv.weight.grad"),
    ("frozen", "head", "head.bias.grad"),
    ("no buffers", "norm", "norm.running_mean"),
]


@pytest.mark.parametrize(("mistake", "path", "first"), MISTAKES)
def test_what_is_wrong_in_a_port_is_told_by_its_innermost_module(mistake: str, path: str, first: str) -> None:
    found = aligned(torch, mistake)
    assert not found.passed
    assert found.step == 0
    assert found.network.path == path
    assert found.network.alone
    assert found.mismatches[0].name == first


@pytest.mark.oneflow
@pytest.mark.parametrize("mistake", ["detached", "frozen"])
def test_the_same_is_told_of_a_port_that_rounds_otherwise(mistake: str) -> None:
    import oneflow

    found = aligned(oneflow, mistake)
    assert not found.passed
    assert found.network.path == {"detached": "block", "frozen": "head"}[mistake]


#: The decay rate of the second moments shows only in the second step, because the first step corrects for it.
OPTIONS = [({"weight_decay": 0.0}, 0), ({"eps": 1e-6}, 0), ({"lr": 0.0101}, 0), ({"betas": (0.9, 0.99)}, 1)]


@pytest.mark.parametrize(("differing", "step"), OPTIONS, ids=str)
def test_a_port_that_is_stepped_otherwise_is_told_by_its_parameters(differing: Any, step: int) -> None:
    found = aligned(torch, "", other_for_the_second(**differing))
    assert (found.step, found.network.path) == (step, "")
    assert found.mismatches[0].name == "conv.weight"


@pytest.mark.oneflow
def test_a_gradient_that_is_rounding_does_not_hide_the_wrong_step_that_comes_later() -> None:
    import oneflow

    assert aligned(oneflow, "", other_for_the_second()).passed
    found = aligned(oneflow, "", other_for_the_second(betas=(0.9, 0.99)))
    assert (found.step, found.network.path) == (1, "")


def test_a_loss_that_differs_by_a_constant_is_told_though_no_gradient_shows_it() -> None:
    constants = itertools.cycle([0.0, 5.0])
    found = autotest.align(network(torch), network(torch), X, loss=lambda output: loss(output) + next(constants))
    assert [item.name for item in found.mismatches] == ["the loss"]


def test_a_backward_that_raises_is_told_in_a_sentence() -> None:
    class Written(torch.nn.Linear):
        def forward(self, x: Any) -> Any:
            y = super().forward(x).exp()
            y.detach().add_(1)
            return y

    with pytest.raises(UsageError, match=r"the torch \(port\) model raised RuntimeError in its backward: .*inplace"):
        autotest.align(torch.nn.Linear(5, 2), Written(5, 2), X)


def reference() -> Any:
    return network(torch)


def port() -> Any:
    return network(torch, "frozen")


def test_the_command_trains_too(capsys: pytest.CaptureFixture[str]) -> None:
    here = __name__
    training = ["--loss", f"{here}:loss", "--optimizer", f"{here}:sgd", "--steps", "2", "--input", "4,3,5"]
    assert main(["align", f"{here}:reference", f"{here}:reference", *training]) == 0
    assert main(["align", f"{here}:reference", f"{here}:port", *training]) == 1
    assert "head.bias.grad" in capsys.readouterr().out


def test_what_modules_hand_on_is_kept_once_and_what_a_later_one_writes_into_twice():
    layers = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(inplace=True), torch.nn.Tanh())
    with torch.no_grad():
        layers[0].weight.fill_(-1.0)
    inputs = [Array(np.ones((4, 2), "float32"), "float32")]
    (step,) = running.run(TorchFramework(), "torch", layers, inputs, running.Training(1, None, None))
    linear, relu, tanh, whole = step.calls
    assert whole.outputs[0] is tanh.outputs[0]
    assert whole.output_gradients[0] is tanh.output_gradients[0]
    assert tanh.inputs[0] is relu.outputs[0]
    assert tanh.input_gradients[0] is relu.output_gradients[0]
    assert linear.outputs[0].data.max() < 0, "as it was before the next one wrote into it"
    assert relu.outputs[0].data.max() == 0


def test_the_graph_of_a_step_is_gone_while_the_step_is_compared():
    alive = []

    class Watching(torch.nn.Linear):
        def forward(self, x):
            made = super().forward(x)
            alive.append(weakref.ref(made))
            return made

    inputs = [Array(np.ones((4, 2), "float32"), "float32")]
    steps = running.run(TorchFramework(), "torch", Watching(2, 3), inputs, running.Training(2, None, None))
    step = next(steps)
    gc.collect()
    assert alive[0]() is None
    assert step.calls[0].output_gradients[0] is not None
