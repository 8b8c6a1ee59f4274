"""Wrong gradients that no intermediate result shows: of layers that return their input, or write into it."""

from __future__ import annotations

from typing import Any

import pytest

from autotest import random_tensor
from autotest import torch as dual
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.results.finding import Finding
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.trial import run_trial
from tests.support.faulty import FaultyTorch, Replacement, with_gradient
from tests.support.running import pair_with

SETTINGS = Settings(n=1)


def block(torch: Any) -> Any:
    """A residual block with one layer of each class."""
    nn = torch.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.linear, self.tanh = nn.Linear(4, 4), nn.Tanh()
            self.norm, self.shortcut = nn.LayerNorm(4), nn.Identity()
            self.relu, self.drop = nn.ReLU(inplace=True), nn.Dropout(0.5)

        def forward(self, x: Any) -> Any:
            x = self.tanh(self.linear(x))
            y = self.norm(x * 2)
            y += self.shortcut(x)
            return self.drop(self.relu(y)) * 3

    return Block()


def called() -> Any:
    return block(dual).eval()(random_tensor(shape=(3, 4), low=-1, high=1))


def trained() -> Any:
    network = block(dual).eval()
    optimizer = dual.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    for _ in range(2):
        optimizer.zero_grad()
        loss = network(random_tensor(shape=(3, 4), low=-1, high=1)).square().mean()
        loss.backward()
        optimizer.step()
    return loss.detach()


def forward(change: Any) -> Replacement:
    """Return a class of modules whose forward is `change` of the module and its original forward."""

    def replacement(original: Any) -> Any:
        class Faulty(original):  # type: ignore[misc]
            def forward(self, x: Any) -> Any:
                return change(self, super().forward)(x)

        return Faulty

    return replacement


def smaller(_: Any, usual: Any) -> Any:
    return with_gradient(lambda gradient: gradient * 0.9)(usual)


def without_bias_gradient(module: Any, usual: Any) -> Any:
    def call(x: Any) -> Any:
        own = module._parameters.pop("bias")
        module.__dict__["bias"] = own.detach()
        try:
            return usual(x)
        finally:
            del module.__dict__["bias"]
            module._parameters["bias"] = own

    return call


def diagnosed(body: Any, name: str, change: Any) -> Finding:
    pair = pair_with(FaultyTorch({f"nn.{name}": forward(change)}))
    outcome = run_trial(body, 0, SETTINGS, pair)
    assert outcome.mismatches
    return FailedTrial(ATest("file.py::test", body, SETTINGS), outcome, pair).diagnosed(
        RunContext(pair, Options(verify=False, shrink=0.0)), 0
    )


@pytest.mark.parametrize("body", [called, trained])
@pytest.mark.parametrize(
    ("name", "path"), [("Identity", "shortcut"), ("Dropout", "drop"), ("LayerNorm", "norm"), ("Tanh", "tanh")]
)
def test_the_layer_is_named_whose_gradient_no_intermediate_result_shows(body: Any, name: str, path: str) -> None:
    network = diagnosed(body, name, smaller).network
    assert network is not None
    assert (network.path, network.alone) == (path, True)


def test_a_layer_that_writes_into_its_input_is_tried_on_a_copy() -> None:
    def steeper(_: Any, usual: Any) -> Any:
        return lambda x: with_gradient(lambda gradient: gradient * 0.9)(lambda y: y * 1)(usual(x))

    network = diagnosed(called, "ReLU", steeper).network
    assert network is not None
    assert (network.path, network.alone) == ("relu", True)


def test_a_step_is_not_blamed_for_a_gradient_that_is_missing() -> None:
    network = diagnosed(trained, "LayerNorm", without_bias_gradient).network
    assert network is not None
    assert (network.path, network.stage) == ("norm", "backward")
