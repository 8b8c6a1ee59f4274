"""Networks in graph mode: set-up runs before the graph, and a fault of the graph only is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autotest import random_tensor, torch
from autotest.base.settings import Settings
from autotest.diagnosis.graph_finding import script_of
from autotest.diagnosis.verification import run_script
from autotest.emission.graph_script import ComparedResult
from autotest.frameworks import Pair, chosen_pair
from autotest.frameworks.torch_compile import TorchCompile
from autotest.replaying import graph_check
from autotest.replaying.graph_capture import divide
from autotest.trials.trial import run_trial
from tests.networks.bodies import calling, distinct, inputs
from tests.networks.models import MODELS
from tests.support.graph_torch import GraphTorch
from tests.support.running import pair_with

SETTINGS = Settings(rtol=1e-3, atol=1e-4)


def checked(body: Callable[[], Any], pair: Pair) -> graph_check.GraphReport:
    outcome = run_trial(body, 1, SETTINGS, pair)
    assert outcome.rejection is None
    assert not outcome.mismatches
    return graph_check.check([outcome.recorder], SETTINGS)


def trained(name: str) -> Callable[[], Any]:
    """Return a body whose network has weights that were drawn, and written to after its creation."""
    return lambda: distinct(MODELS[name](torch))(*inputs(name))


def in_graph_only(fault: Callable[[Any], Any], path: str) -> GraphTorch:
    """Return torch with a module that is wrong in graph mode only."""
    candidate = GraphTorch()

    def replacement(original: Any) -> Any:
        class Wrong(original):  # type: ignore[misc]
            def forward(self, *args: Any) -> Any:
                result = super().forward(*args)
                return fault(result) if candidate.running else result

        return Wrong

    candidate.root.replace(path, replacement)
    return candidate


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("training", [True, False])
def test_every_model_is_checked_as_a_whole(name: str, training: bool) -> None:
    outcome = run_trial(calling(name, training=training), 1, SETTINGS, pair_with(GraphTorch()))
    report = graph_check.check([outcome.recorder], SETTINGS)
    assert report.mismatches == [[]]
    assert report.left_out.keys() <= {"values on the host"}
    assert report.compared > outcome.gradients


@pytest.mark.parametrize(("name", "layer"), [("vit", "LayerNorm"), ("resnet", "BatchNorm2d"), ("experts", "Linear")])
def test_a_layer_that_is_wrong_in_a_graph_alone_is_found(name: str, layer: str) -> None:
    report = checked(trained(name), pair_with(in_graph_only(lambda y: y + 0.01, f"nn.{layer}")))
    assert report.mismatches[0][0].message.startswith(f"nn.{layer}: graph disagrees with eager")


class Scaled(torch.nn.Module):
    """A layer with its own parameter, buffer and counter."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.randn(3))
        self.register_buffer("shift", torch.arange(3) * 0.5)
        self.register_buffer("calls", torch.zeros(1))
        torch.nn.init.uniform_(self.scale, 0.5, 1.5)

    def forward(self, x: Any) -> Any:
        self.calls += 1
        return torch.mul(x, self.scale) + self.shift


def own_parts() -> Any:
    net = torch.nn.Sequential(Scaled(), Scaled())
    with torch.no_grad():
        net[0].scale.mul_(2)
    net[1].scale.requires_grad = False
    return net(random_tensor(shape=(4, 3), low=-1, high=1))


def test_parameters_and_buffers_of_a_class_are_the_graphs_too() -> None:
    report = checked(own_parts, pair_with(GraphTorch()))
    assert not report.left_out
    # Two results of each layer, and the gradients of the drawn inputs and of one scale.
    assert report.compared == 2 * 2 + 2
    wrong = checked(own_parts, pair_with(GraphTorch({"mul": lambda mul: lambda a, b: mul(a, b) + 1})))
    assert wrong.mismatches[0]


@pytest.mark.parametrize("name", ["relu_", "relu"])
def test_weights_that_were_written_into_are_the_graphs_too(name: str) -> None:
    def body() -> Any:
        net = torch.nn.Linear(3, 3)
        with torch.no_grad():
            getattr(torch.nn.functional, name)(net.weight, **({} if name.endswith("_") else {"inplace": True}))
        return net(random_tensor(shape=(4, 3)))

    assert not checked(body, pair_with(GraphTorch())).left_out


def test_a_class_that_is_set_up_anew_between_its_calls_is_left_out() -> None:
    def changed() -> Any:
        net, x = torch.nn.Sequential(Scaled(), torch.nn.BatchNorm1d(3)), random_tensor(shape=(4, 3))
        first = net(x)
        return first + net.eval()(x)

    def computed() -> Any:
        net = Scaled()
        net.register_buffer("last", torch.nn.Linear(3, 3)(random_tensor(shape=(4, 3))).detach())
        return net(random_tensor(shape=(4, 3))) + net.last

    pair = pair_with(GraphTorch())
    assert checked(changed, pair).left_out == {"modules that change between their calls": 1}
    assert checked(computed, pair).left_out == {"modules that are set up with results of other modules": 1}


@pytest.mark.oneflow
def test_parameters_and_buffers_of_a_class_are_in_a_graph_of_oneflow() -> None:
    report = checked(own_parts, chosen_pair())
    assert report.mismatches == [[]]
    assert not report.left_out
    assert report.compared == 2 * 2 + 2


@pytest.mark.oneflow
def test_a_graph_of_oneflow_that_cannot_be_built_leaves_nothing_that_the_next_one_dies_of() -> None:
    def normalised() -> Any:
        # A graph calls no hooks, so that the backward to a weight that a hook computes fails.
        return torch.nn.utils.weight_norm(torch.nn.Linear(4, 2))(random_tensor(shape=(3, 4), low=1, high=2))

    report = checked(normalised, chosen_pair())
    assert report.mismatches == [[]]
    assert report.left_out == {"backward, which its graph mode refuses": 1}
    assert report.compared == 1


@pytest.mark.oneflow
@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_models_agree_with_themselves_in_graphs_of_oneflow(name: str) -> None:
    report = checked(trained(name), chosen_pair())
    assert report.mismatches == [[]]
    assert report.left_out.keys() <= {"values on the host"}
    assert report.compared > 10


@pytest.mark.slow
@pytest.mark.parametrize("name", ["resnet", "vit"])
def test_the_models_agree_with_themselves_when_they_are_compiled(name: str) -> None:
    report = checked(trained(name), pair_with(TorchCompile("aot_eager")))
    assert report.mismatches == [[]]
    assert not report.left_out


@pytest.mark.oneflow
@pytest.mark.slow
@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("candidate", ["oneflow", "compiled"])
def test_the_script_about_a_network_runs_alone(candidate: str) -> None:
    pair = chosen_pair() if candidate == "oneflow" else pair_with(TorchCompile("aot_eager"))
    divided = divide(run_trial(own_parts, 1, SETTINGS, pair).recorder)
    compared = [ComparedResult(name, 1e-3, 1e-4) for name, _ in graph_check.results(divided)]
    script = script_of(divided, compared, "Nothing.", ())
    assert run_script(script)[0] == 0, run_script(script)[1]
    status, output = run_script(script.replace("return [result for", "return [result * 2 for"))
    assert status == 1, output
