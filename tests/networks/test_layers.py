"""Faults in one layer of a network of the candidate: the report names that layer, and shows where the error begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import autotest as at
from autotest import torch
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.live_modules import wrong_alone
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.program import Call, Scope
from autotest.report import text
from autotest.report.layers import ROWS, layer_lines
from autotest.results.finding import Finding
from autotest.results.layers import ByLayer, Layer, first_divergent_layer, paths_of
from autotest.storage.store import Store
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.trial import run_trial
from tests.networks.further_models import FURTHER_MODELS
from tests.networks.models import MODELS
from tests.networks.planted_layers import Planted
from tests.networks.score import diagnosed, score
from tests.support.faulty import FaultyTorch
from tests.support.running import pair_with

SETTINGS = Settings(n=1)


def found(planted: Planted, candidate: str = "torch", shrink: float = 0.0) -> Finding:
    finding = diagnosed(planted, candidate, shrink)
    assert finding is not None, planted
    return finding


FEW = [
    Planted("mlp", True, "layers.1", "weight gradient"),
    Planted("mlp", False, "act", "gradient"),
    Planted("resnet", True, "layer2.0.bn1", "buffer not updated"),
    Planted("resnet", False, "layer3.0.downsample.0", "flipped weight"),
    Planted("unet", True, "bottom.body.1", "epsilon"),
    Planted("language_model", True, "decoder", "weight gradient"),
    Planted("encoder", True, "layers.1.attention.value", "no bias gradient"),
    Planted("vit", False, "blocks.1.norm2", "input gradient"),
    Planted("translator", True, "decoder.cell", "scaled"),
    Planted("relative", True, "1.attention.qkv", "transposed weight"),
    Planted("towers", True, "towers.right.1.other", "no bias gradient"),
    # The one with a normalised weight, of two layers that read the same input.
    Planted("temporal", True, "0.conv", "input gradient"),
]


@pytest.mark.filterwarnings("ignore:`torch.nn.utils.weight_norm` is deprecated:FutureWarning")  # in later versions
@pytest.mark.parametrize("planted", FEW, ids=str)
def test_the_layer_with_the_fault_is_named(planted: Planted) -> None:
    network = found(planted).network
    assert network is not None
    assert network.path == planted.path
    assert network.alone


WITH_ONEFLOW = [
    Planted("encoder", True, "layers.0.attention.query", "input gradient"),
    Planted("mlp", False, "act", "swapped activation"),
    # Their forward passes differ by rounding first.
    Planted("resnet", True, "layer2.0.downsample.1", "no bias gradient"),
    Planted("gan", True, "generator.body.1", "buffer not updated"),
]


@pytest.mark.oneflow
@pytest.mark.parametrize("planted", WITH_ONEFLOW, ids=str)
def test_the_layer_with_the_fault_is_named_where_the_healthy_layers_round_otherwise(planted: Planted) -> None:
    network = found(planted, "oneflow").network
    assert network is not None
    assert network.path == planted.path


@pytest.mark.slow
@pytest.mark.timeout(900)  # twenty diagnoses of a network take more than the usual 300 s on a busy machine
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("candidate", ["torch", pytest.param("oneflow", marks=pytest.mark.oneflow)])
def test_of_ten_faults_in_each_model_the_guilty_layer_is_named_and_never_a_later_one(
    model: str, candidate: str
) -> None:
    told = [*score(model, candidate)]
    wrong = [f"{one.planted}: {one.path}" for one in told if not one.right]
    assert not any(one.later for one in told), wrong
    assert len(wrong) <= len(told) // 20, wrong


#: With OneFlow, only models with layers that no other one has: a recurrent cell, sums by index, normalised weights.
FURTHER = [
    *((model, "torch") for model in FURTHER_MODELS),
    *(
        pytest.param(model, "oneflow", marks=pytest.mark.oneflow)
        for model in ("translator", "graph_attention", "temporal")
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "candidate"), FURTHER)
def test_of_some_faults_in_each_further_model_the_guilty_layer_is_named(model: str, candidate: str) -> None:
    wrong = [f"{one.planted}: {one.path}" for one in score(model, candidate, every=3) if not one.right]
    assert not wrong


def test_no_layer_is_blamed_for_what_a_body_does_beside_its_network() -> None:
    from autotest import torch

    def body() -> object:
        network = MODELS["mlp"](torch)
        network(*_inputs())
        return network.state_dict()

    def attached(original: Any) -> Any:
        class Attached(original):  # type: ignore[misc]
            def state_dict(self, *args: Any, **kwargs: Any) -> Any:
                return {name: value.requires_grad_() for name, value in super().state_dict(*args, **kwargs).items()}

        return Attached

    pair = pair_with(FaultyTorch({"nn.Module": attached}))
    outcome = run_trial(body, 0, SETTINGS, pair)
    test = ATest("file.py::test", body, SETTINGS)
    finding = FailedTrial(test, outcome, pair).diagnosed(RunContext(pair, Options(verify=False, shrink=0.0)), 0)
    assert finding.operator == "state_dict"
    assert finding.network is not None
    assert (finding.network.path, finding.network.alone) == ("", False)


def test_the_report_says_whose_fault_it_is_and_shows_the_modules_in_order(tmp_path: Path) -> None:
    finding = found(Planted("mlp", True, "norm", "gradient"))
    lines = text.divergence(finding, "place", "").splitlines()
    layer = next(line for line in lines if line.startswith("Layer:"))
    assert layer == "Layer:      norm is wrong: it differs even with the inputs of the reference"
    rows = [line.split()[0] for line in lines if line.startswith("    ") and " nn." in line]
    assert rows == ["layers.0", "norm", "act", "layers.1", "layers.2"]
    assert next(line for line in lines if "<-- begins here" in line).split()[0] == "norm"
    store = Store(tmp_path)
    store.save(finding, lambda place: "report")
    assert store.for_test("file.py::test")[0].finding.network == finding.network


def test_what_is_left_of_a_network_is_its_guilty_layer() -> None:
    finding = found(Planted("mlp", False, "norm", "gradient"), shrink=10.0)
    assert finding.program is not None
    assert [call.target for call in finding.program.calls if call.kind == "function"] == ["nn.LayerNorm"]


def _changed_by_hand(network: Any) -> None:
    network.layers[1].candidate.bias.data.add_(1)


def _wrong_epsilon(network: Any) -> None:
    network.norm.candidate.eps = 0.5


def _wrong_gradient(network: Any) -> None:
    network.act.candidate.register_full_backward_hook(lambda module, given, taken: (given[0] * 0.9,))


def _wrong_gradient_of_a_weight(network: Any) -> None:
    network.layers[1].candidate.weight.register_hook(lambda gradient: gradient * 0.9)


def _called(network: Any) -> object:
    return network(*_inputs())


def _trained(network: Any) -> object:
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        loss = network(*_inputs()).square().mean()
        loss.backward()
        optimizer.step()
    return loss.detach()


@pytest.mark.parametrize(
    ("change", "run", "path"),
    [
        (_changed_by_hand, _called, "layers.1"),
        (_wrong_epsilon, _called, "norm"),
        # Parameters that differ after the step do not show where the difference began.
        (_wrong_epsilon, _trained, "norm"),
        # No parameter has a wrong gradient here, and all parameters differ after the step.
        (_wrong_gradient, _called, "act"),
        (_wrong_gradient, _trained, "act"),
        (_wrong_gradient_of_a_weight, _called, "layers.1"),
        (_wrong_gradient_of_a_weight, _trained, "layers.1"),
    ],
)
def test_a_fault_that_no_replay_shows_again_is_told_by_the_module_that_is_wrong_alone(
    change: Any, run: Any, path: str
) -> None:
    def body() -> object:
        network = MODELS["mlp"](torch)
        change(network)
        return run(network)

    pair = pair_with()
    outcome = run_trial(body, 0, SETTINGS, pair)
    finding = FailedTrial(ATest("file.py::test", body, SETTINGS), outcome, pair).diagnosed(
        RunContext(pair, Options(verify=False, shrink=0.0)), 0
    )
    assert finding.network is not None
    assert finding.network.path == path
    # The state was changed by hand. No module computes wrongly.
    assert finding.network.alone == (change is not _changed_by_hand)


def test_the_table_measures_gradients_by_their_own_tolerance() -> None:
    planted, settings = Planted("mlp", True, "layers.2", "weight gradient"), Settings(n=1, grad_rtol=0.01, grad_atol=0)
    pair = pair_with(planted.candidate(FaultyTorch))
    failed = FailedTrial(
        ATest("file.py::test", planted.body, settings), run_trial(planted.body, 0, settings, pair), pair
    )
    network = failed.diagnosed(RunContext(pair, Options(verify=False, shrink=0.0)), 0).network
    assert network is not None
    # The gradient is a tenth too large.
    assert {layer.path: layer.gradient for layer in network.layers}["layers.2"] == pytest.approx(10, rel=0.01)


def _nothing(network: Any) -> None:
    pass


@pytest.mark.parametrize("in_the_trial_alone", [False, True])
def test_rounding_that_a_replay_shows_explains_nothing_that_the_trial_alone_showed(in_the_trial_alone: bool) -> None:
    change = _halved_gradient_at_the_end if in_the_trial_alone else _nothing

    def body() -> object:
        class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                # The gradient of a bias before a normalisation is pure rounding.
                self.first, self.norm, self.last = torch.nn.Linear(5, 6), torch.nn.BatchNorm1d(6), torch.nn.Linear(6, 3)

            def forward(self, x: Any) -> Any:
                return self.last(self.norm(self.first(x)))

        network = Net()
        change(network)
        return network(at.random_tensor(shape=(4, 5), low=-1, high=1))

    def rounding(tensor: Any) -> Any:
        gradient = tensor.grad
        rough = gradient is not None and gradient.element_size() == 4 and float(gradient.abs().max()) < 1e-6
        return gradient + 3e-8 if rough else gradient

    test, pair = ATest("file.py::test", body, SETTINGS), pair_with(FaultyTorch(gradient=rounding))
    # The first trial in which the gradient of the bias is not exactly zero.
    outcome = next(one for one in (run_trial(body, seed, SETTINGS, pair) for seed in range(9)) if one.mismatches)
    failed = FailedTrial(test, outcome, pair)
    assert (failed.cleared() is None) == in_the_trial_alone
    if in_the_trial_alone:
        context = RunContext(pair, Options(verify=False, shrink=0.0))
        network = failed.diagnosed(context, 0).network
        assert network is not None
        assert network.path == "last"


def _halved_gradient_at_the_end(network: Any) -> None:
    network.last.candidate.weight.register_hook(lambda gradient: gradient * 0.5)


def test_what_is_tried_alone_is_left_as_it_was() -> None:
    networks: list[Any] = []

    def body() -> object:
        networks.append(MODELS["mlp"](torch))
        _wrong_epsilon(networks[0])
        return _trained(networks[0])

    outcome = run_trial(body, 0, SETTINGS, pair_with())
    sides = [
        [one.detach().clone() for one in side.parameters()] for side in (networks[0].reference, networks[0].candidate)
    ]
    assert wrong_alone(outcome.recorder, SETTINGS) == ByLayer("norm", True, "forward")
    for before, side in zip(sides, (networks[0].reference, networks[0].candidate), strict=True):
        assert all(bool((one == other).all()) for one, other in zip(before, side.parameters(), strict=True))


def _inputs() -> list[object]:
    from tests.networks.bodies import inputs

    return inputs("mlp")


def test_paths_have_the_networks_class_in_front_where_there_are_several() -> None:
    def paths(*scopes: Scope | None) -> list[str]:
        return [*paths_of(Call("function", "relu", (), {}, 0, scope=scope) for scope in scopes).values()]

    assert paths(Scope("Net", "a"), Scope("Net"), None, Scope("Net", "b.c")) == ["a", "Net", "b.c"]
    assert paths(Scope("One", "a"), Scope("Two", "a")) == ["One.a", "Two.a"]


def test_a_long_table_is_cut_to_what_is_about_the_guilty_layer() -> None:
    layers = tuple(Layer(f"layers.{number}", "nn.Linear", 0.0 if number < 40 else 9.0, None) for number in range(60))
    lines = layer_lines(ByLayer("layers.40", True, "forward", layers))
    assert any("layers.40" in line and "<-- begins here" in line for line in lines)
    assert len([line for line in lines if "nn.Linear" in line]) == ROWS
    assert first_divergent_layer(layers, "forward") == layers[40]
    assert first_divergent_layer(layers, "backward") is None
