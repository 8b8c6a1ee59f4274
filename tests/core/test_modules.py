"""Modules and optimizers on both sides: parameters, buffers, nested modules and their gradients."""

from __future__ import annotations

import collections

import numpy as np
import pytest
import torch as real

from autotest import random_tensor, torch
from autotest.comparison import TensorValue
from autotest.frameworks.torch import TorchFramework
from autotest.recording.pairing import pair_up
from autotest.replaying.agreement import results
from tests.support.faulty import FaultyTorch, plus
from tests.support.running import agrees, targets, trial


def linear(*features):
    return torch.nn.Linear(*features)


def x(*shape):
    return random_tensor(shape=shape)


def compared_names(outcome):
    return {pairing.suffix for pairing in pair_up(outcome.recorder).pairings}


def test_both_sides_start_from_the_references_parameters():
    def body():
        layer = linear(3, 4)
        assert layer.weight.reference.tolist() == layer.weight.candidate.tolist()
        assert layer.weight.reference is not layer.weight.candidate
        return layer(x(2, 3))

    outcome = trial(body)
    assert agrees(outcome)
    assert "load_state" in {call.kind for call in outcome.recorder.calls}


def test_gradients_of_parameters_are_compared():
    outcome = trial(lambda: linear(3, 4)(x(2, 3)))
    assert {".weight", ".weight.grad", ".bias", ".bias.grad"} <= compared_names(outcome)


def test_nested_modules_are_compared_by_dotted_name():
    def body():
        inner = torch.nn.Sequential(torch.nn.BatchNorm1d(4), torch.nn.ReLU())
        return torch.nn.Sequential(linear(3, 4), inner)(x(5, 3))

    outcome = trial(body)
    assert agrees(outcome)
    # A part is named after the object that the test created first.
    assert {".weight.grad", ".running_mean", ".num_batches_tracked"} <= compared_names(outcome)


def test_a_buffer_that_only_one_side_updates_is_found():
    class Frozen(real.nn.BatchNorm1d):
        def forward(self, batch):
            mean = self.running_mean.clone()
            result = super().forward(batch)
            self.running_mean = mean
            return result

    def body():
        return torch.nn.BatchNorm1d(3)(x(5, 3))

    assert agrees(trial(body))
    found = trial(body, FaultyTorch({"nn.BatchNorm1d": lambda original: Frozen})).mismatches
    assert [mismatch.name.partition(".")[2] for mismatch in found] == ["running_mean"]


@pytest.mark.parametrize("bias", [True, False])
def test_a_parameter_that_only_one_side_has_is_found_when_the_module_is_built(bias):
    class Other(real.nn.Linear):
        def __init__(self, *features, bias):
            super().__init__(*features, bias=not bias)

    outcome = trial(
        lambda: torch.nn.Linear(3, 4, bias=bias)(x(2, 3)), FaultyTorch({"nn.Linear": lambda original: Other})
    )
    assert [(mismatch.symptom, mismatch.stage) for mismatch in outcome.mismatches] == [("structure", "build")]


def test_a_parameter_of_another_shape_is_found_when_the_module_is_built():
    class Other(real.nn.Linear):
        def __init__(self, inputs, outputs):
            super().__init__(outputs, inputs)

    found = trial(lambda: linear(3, 4)(x(2, 3)), FaultyTorch({"nn.Linear": lambda original: Other})).mismatches
    assert "shape of weight" in found[0].message


def test_parameters_are_reached_through_the_module():
    def body():
        layer = linear(3, 4)
        layer.weight.data.fill_(1.0)
        layer.bias = torch.nn.Parameter(torch.zeros(4))
        result = layer(torch.ones(2, 3))
        assert result.candidate.tolist() == [[3.0] * 4] * 2
        return result

    assert agrees(trial(body))


def test_an_optimizer_over_several_steps():
    def body():
        network = torch.nn.Sequential(linear(3, 4), torch.nn.Tanh(), linear(4, 1))
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
        for _ in range(3):
            optimizer.zero_grad()
            network(x(5, 3)).square().mean().backward()
            optimizer.step()

    outcome = trial(body)
    assert agrees(outcome)
    assert targets(outcome).count("step") == 3


def test_an_optimizer_whose_third_step_is_wrong_is_found():
    class Tired(real.optim.SGD):
        steps = 0

        def step(self, *args, **kwargs):
            self.steps += 1
            return super().step(*args, **kwargs) if self.steps < 3 else None

    def body():
        layer = linear(3, 1)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            layer(x(5, 3)).sum().backward()
            optimizer.step()

    found = trial(body, FaultyTorch({"optim.SGD": lambda original: Tired})).mismatches
    assert {mismatch.name.partition(".")[2] for mismatch in found} >= {"weight"}


def test_learning_rates_are_reached_through_parameter_groups():
    def body():
        layer = linear(3, 1)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        optimizer.param_groups[0]["lr"] = 0.5
        assert optimizer.candidate.param_groups[0]["lr"] == 0.5
        layer(x(5, 3)).sum().backward()
        optimizer.step()

    assert agrees(trial(body))


def test_how_an_optimizer_keeps_its_settings_is_its_own_matter():
    def keeping(original):
        class Keeping(original):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                self.param_groups = [collections.UserDict(group) for group in self.param_groups]

            def state_dict(self):
                return {"param_groups": [], "kept": super().state_dict()}

            def load_state_dict(self, state):
                super().load_state_dict(state["kept"])

        return Keeping

    def body():
        layer = linear(3, 1)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.5)
        for _ in range(2):
            layer(x(5, 3)).sum().backward()
            optimizer.step()
            optimizer.load_state_dict(optimizer.state_dict())
            for group in optimizer.param_groups:
                group["lr"] *= 0.5

    assert agrees(trial(body, FaultyTorch({"optim.SGD": keeping})))


def test_parts_of_a_parameter_may_be_filled_outside_of_autograd():
    def body():
        table = torch.nn.Embedding(4, 3)
        with torch.no_grad():
            table.weight[0].fill_(0)
            table.weight.view(-1)[4:6].add_(1.0)
        assert table.candidate.weight[0].tolist() == [0.0] * 3
        return table(torch.tensor([0, 1]))

    assert agrees(trial(body))


def test_what_a_missing_reparametrization_left_undone_is_no_finding_of_its_own():
    without = FaultyTorch(missing=["nn.utils.spectral_norm"])
    found = trial(lambda: torch.nn.utils.spectral_norm(linear(3, 2))(x(4, 3)), without).mismatches
    assert [(mismatch.name, mismatch.symptom) for mismatch in found] == [("nn.utils.spectral_norm", "exception")]


def test_evaluation_mode_and_dropout():
    def body():
        dropout = torch.nn.Dropout(0.5)
        noisy = dropout(torch.ones(100))
        dropout.eval()
        return noisy, dropout(torch.ones(100))

    outcome = trial(body)
    assert agrees(outcome)
    assert len(outcome.program.undefined) == 1


def test_a_module_made_outside_is_adopted_by_each_trial(against):
    against()
    layer = torch.nn.Linear(3, 4)

    def body():
        return layer(x(2, 3))

    for seed in range(3):
        outcome = trial(body, seed=seed)
        assert agrees(outcome)
        assert {".weight", ".weight.grad", ".bias.grad"} <= compared_names(outcome)


def test_an_adopted_modules_gradients_do_not_pile_up_over_trials(against):
    candidate = FaultyTorch()
    against(candidate)
    layer = torch.nn.Linear(3, 1, bias=False)
    ones = torch.ones(1, 3)

    def body():
        layer(ones).backward(torch.ones(1, 1))

    for _ in range(2):
        assert agrees(trial(body, candidate))
        assert layer.weight.grad.candidate.tolist() == [[1.0, 1.0, 1.0]]


def test_a_fault_inside_of_a_module_is_named_after_the_module():
    outcome = trial(lambda: torch.nn.Sequential(linear(3, 4))(x(2, 3)), FaultyTorch(tensors={"linear": plus(1.0)}))
    assert outcome.mismatches[0].symptom == "value"


def initially(name, change):
    """Return a candidate whose class ``nn.<name>`` makes modules that are passed to `change` before their first use."""

    def fault(original):
        class Changed(original):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                with real.no_grad():
                    change(self)

        Changed.__name__ = original.__name__
        return Changed

    return FaultyTorch({f"nn.{name}": fault})


INITIALLY_WRONG = {
    "weight of a norm": ("LayerNorm", lambda m: m.weight.fill_(0.5), lambda: torch.nn.LayerNorm(3)(x(2, 3))),
    "buffer": ("BatchNorm1d", lambda m: m.running_var.zero_(), lambda: torch.nn.BatchNorm1d(3).eval()(x(2, 3))),
    "drawn argument": ("PReLU", lambda m: m.weight.fill_(0.25), lambda: torch.nn.PReLU(init=0.5)(-x(2, 3))),
    "bias beside drawn weights": (
        "MultiheadAttention",
        lambda m: m.in_proj_bias.add_(1),
        lambda: torch.nn.MultiheadAttention(4, 2)(x(3, 2, 4), x(3, 2, 4), x(3, 2, 4))[0],
    ),
    "only read": ("GroupNorm", lambda m: m.bias.add_(1), lambda: torch.nn.GroupNorm(1, 3).bias),
}


@pytest.mark.parametrize("name", INITIALLY_WRONG)
def test_initial_values_that_are_not_drawn_are_compared(name):
    kind, change, body = INITIALLY_WRONG[name]
    assert agrees(trial(body))
    outcome = trial(body, initially(kind, change))
    assert "value" in [mismatch.symptom for mismatch in outcome.mismatches]


def test_initial_values_that_are_drawn_are_the_references():
    body = lambda: torch.nn.Linear(1, 1)(x(2, 1))  # noqa: E731 - one number each, as of a constant
    assert agrees(trial(body, initially("Linear", lambda m: m.bias.add_(1))))


def test_a_class_of_the_test_has_initial_values_of_its_own():
    def body():
        class Norm(torch.nn.LayerNorm):
            pass

        return Norm(3)(x(2, 3))

    assert agrees(trial(body))
    assert trial(body, initially("LayerNorm", lambda m: m.weight.fill_(0.5))).mismatches


def test_parameters_that_a_module_draws_again_are_the_references():
    def body():
        layer = torch.nn.Linear(3, 2)
        layer.reset_parameters()
        return layer(x(4, 3))

    outcome = trial(body)
    assert agrees(outcome)
    once, again = (results(outcome.program, TorchFramework()) for _ in range(2))
    tensors = [place for place, value in once.items() if isinstance(value, TensorValue)]
    assert tensors
    assert all(np.array_equal(once[place].data, again[place].data) for place in tensors)


def test_values_that_a_module_sets_again_are_compared():
    def body():
        norm = torch.nn.LayerNorm(3)
        norm.reset_parameters()
        return norm(x(4, 3))

    def fault(original):
        class LayerNorm(original):
            def reset_parameters(self):
                super().reset_parameters()
                with real.no_grad():
                    self.weight.fill_(0.5)

        return LayerNorm

    assert agrees(trial(body))
    assert trial(body, FaultyTorch({"nn.LayerNorm": fault})).mismatches
