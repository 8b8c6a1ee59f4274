"""Classes over dual modules can do what torch's classes can; their calls run on both sides and are recorded."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import pytest
import torch as real

from autotest import random_tensor, torch
from autotest.base.errors import UsageError
from autotest.base.settings import Settings
from autotest.emission import program_text
from autotest.frameworks import chosen_pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import Scope
from autotest.recording.pairing import pair_up
from autotest.replaying.agreement import agree
from autotest.replaying.replay import replay
from autotest.trials.trial import run_trial
from tests.networks.bodies import ALL_MODELS, calling
from tests.networks.models import MODELS
from tests.support.faulty import FaultyTorch, plus
from tests.support.running import agrees, pair_with, targets, trial


class Block(torch.nn.Module):
    def __init__(self, width, rate=0.0):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
        self.scale = torch.nn.Parameter(torch.ones(width))
        self.register_buffer("calls", torch.zeros(1))
        self.drop = torch.nn.Dropout(rate)
        self.width = width

    def forward(self, x):
        self.calls += 1
        return x + self.scale * torch.relu(self.drop(self.linear(x)))


class Net(torch.nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.first = torch.nn.Linear(3, 4)
        self.blocks = torch.nn.ModuleList([Block(4) for _ in range(depth)])
        self.last = torch.nn.Sequential(Block(4), torch.nn.Tanh())

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def x(*shape, **options):
    return random_tensor(shape=shape or (5, 3), low=-1, high=1, **options)


def test_a_network_is_called_compared_and_its_parameters_have_gradients():
    outcome = trial(lambda: Net()(x()))
    assert agrees(outcome)
    compared = {pairing.suffix for pairing in pair_up(outcome.recorder).pairings}
    assert {".weight", ".weight.grad", ".bias.grad", ".grad"} <= compared


def test_its_program_is_a_tree_of_modules_and_a_straight_list_of_calls_that_can_be_replayed():
    outcome = trial(lambda: Net(1)(x()))
    text = program_text(outcome.program)
    assert "m0 = torch.nn.Module()  # class Net" in text
    assert "m0.first = m1" in text
    assert "# class Block" in text
    assert replay(outcome.program, TorchFramework()).error is None
    assert agree(outcome.program, pair_with(), Settings()).mismatches == []


def test_each_call_says_where_in_the_network_it_was_made():
    outcome = trial(lambda: Net()(x()))
    scopes = {str(call.scope): call.target for call in outcome.recorder.calls}
    assert {"Net.first", "Net.blocks.0.linear", "Net.blocks.1", "Net.last.0.linear", "Net.last.1"} <= scopes.keys()
    assert scopes["Net.blocks.1"] == "add"
    assert [call.scope for call in outcome.program.calls] == [call.scope for call in outcome.recorder.calls]


def test_a_fault_in_a_forward_is_found():
    outcome = trial(lambda: Net()(x()), FaultyTorch({"relu": plus(1.0)}))
    assert outcome.mismatches[0].name.startswith("v")
    assert outcome.recorder.calls[outcome.mismatches[0].slot].scope == Scope("Net", "blocks.0")


@pytest.mark.parametrize("name", ALL_MODELS)
@pytest.mark.parametrize("training", [True, False])
def test_the_models_agree_with_torch_as_the_candidate(name, training):
    assert agrees(trial(calling(name, training=training)))


def test_what_a_class_inherits_and_overrides_is_pythons_own():
    class Wider(Net):
        def __init__(self):
            super().__init__(depth=1)
            self.extra = torch.nn.Linear(4, 2)

        def forward(self, x):
            return self.extra(super().forward(x))

    outcome = trial(lambda: Wider()(x()))
    assert agrees(outcome)
    assert targets(outcome).count("nn.Linear") == 4


def test_a_layer_of_the_framework_can_be_a_base_class_too():
    class Scaled(torch.nn.Linear):
        def __init__(self, inside, outside):
            super().__init__(inside, outside, bias=False)
            self.factor = 3.0

        def forward(self, x):
            return super().forward(x) * self.factor

    def body():
        layer = Scaled(3, 2)
        assert isinstance(layer, torch.nn.Linear)
        return torch.nn.Sequential(layer, torch.nn.ReLU())(x())

    assert agrees(trial(body))


def test_what_is_no_module_cannot_be_a_base_class():
    with pytest.raises(UsageError, match=r"only modules can, such as torch\.nn\.Module"):

        class Own(torch.optim.SGD):
            pass


def test_parts_come_back_as_the_objects_that_were_put_in():
    def body():
        net = Net()
        assert net.blocks[1] is [*net.blocks][1] is net.get_submodule("blocks.1")
        assert net.blocks[-1].width == 4
        assert [type(block) for block in net.blocks[:1]] == [Block]
        assert net.to("cpu") is net
        assert net.last[0].linear is net.last[0].linear
        assert len(net.blocks) == 2
        names = [name for name, _ in net.named_modules()]
        assert names[:4] == ["", "first", "blocks", "blocks.0"]
        assert [name for name, _ in net.named_children()] == ["first", "blocks", "last"]
        return net(x())

    assert agrees(trial(body))


def test_a_module_dict_holds_classes():
    class Switch(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.ways = torch.nn.ModuleDict({"one": Block(3), "two": torch.nn.Linear(3, 3)})

        def forward(self, x, way):
            assert list(self.ways) == list(self.ways.keys()) == ["one", "two"]
            return self.ways[way](x) + sum(module(x) for module in self.ways.values())

    assert agrees(trial(lambda: Switch()(x(), "one")))


def test_modes_reach_everything_inside_and_overridden_ones_are_called():
    told = []

    class Told(Block):
        def train(self, mode=True):
            told.append(mode)
            return super().train(mode)

    class Holder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Told(3, rate=0.5)

        def forward(self, x):
            return self.inner(x) if self.training else 2 * self.inner(x)

    def body():
        net = Holder().eval()
        assert not net.inner.training
        return net(x())

    outcome = trial(body)
    assert agrees(outcome)
    assert told[-1] is False


def test_an_overridden_mode_inside_of_others_is_set_once():
    told = []

    class Told(torch.nn.Module):
        def __init__(self, depth):
            super().__init__()
            self.inner = torch.nn.Sequential(Told(depth - 1) if depth else torch.nn.Dropout(0.5))

        def train(self, mode=True):
            told.append(mode)
            return super().train(mode)

        def forward(self, x):
            return self.inner(x)

    assert agrees(trial(lambda: Told(5).eval()(x())))
    assert told == [False] * 6


def test_a_network_that_keeps_its_mode_keeps_it_as_torch_does():
    class Frozen(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.drop = torch.nn.Dropout(0.5)
            super().train(False)

        def train(self, mode=True):
            return self

        def forward(self, x):
            return self.drop(x)

    class Holder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.frozen, self.norm = Frozen(), torch.nn.Sequential(torch.nn.BatchNorm1d(3))

        def forward(self, x):
            return self.norm(self.frozen(x))

    def body():
        net = Holder().eval().train()
        assert [module.training for module in net.modules()] == [True, False, False, True, True]
        assert [module.candidate.training for module in net.modules()] == [True, False, False, True, True]
        return net(x())

    assert agrees(trial(body))


def test_a_network_is_trained_with_an_optimizer_and_a_scheduler():
    def body():
        net = Net(1)
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
        batch = x(requires_grad=False)
        for _ in range(3):
            optimizer.zero_grad()
            net(batch).pow(2).mean().backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
        return net(batch)

    assert agrees(trial(body))


def test_weights_can_be_tied_and_modules_shared():
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Embedding(7, 4)
            self.head = torch.nn.Linear(4, 7, bias=False)
            self.head.weight = self.embed.weight
            self.again = self.head

        def forward(self, tokens):
            return self.again(self.head(self.embed(tokens)) @ self.head.weight)

    def body():
        net = Tied()
        assert [name for name, _ in net.named_parameters()] == ["embed.weight"]
        return net(random_tensor(shape=(2, 3), low=0, high=7, dtype="int64"))

    outcome = trial(body)
    assert agrees(outcome)
    assert outcome.gradients == 1
    assert agree(outcome.program, pair_with(), Settings()).mismatches == []


def test_state_is_saved_and_loaded_and_a_copy_goes_its_own_way():
    def body():
        net = Net(1)
        twin = copy.deepcopy(net)
        assert type(twin) is Net
        assert type(twin.blocks[0]) is Block
        assert twin.blocks[0].width == 4
        with torch.no_grad():
            twin.blocks[0].scale.mul_(2)
        assert float(net.blocks[0].scale.sum()) == 4.0
        net.load_state_dict(twin.state_dict())
        assert float(net.blocks[0].scale.sum()) == 8.0
        return net(x()) + twin(x())

    outcome = trial(body)
    assert agrees(outcome)
    assert agree(outcome.program, pair_with(), Settings()).mismatches == []
    assert "copy.deepcopy(m0)" in program_text(outcome.program)


def test_children_of_a_copy_whose_names_are_digits_are_the_children_of_these_names():
    linear, relu, tanh = torch.nn.Linear, torch.nn.ReLU, torch.nn.Tanh

    def body():
        by_name = copy.deepcopy(torch.nn.ModuleDict({"0": linear(3, 2), "7": linear(3, 2)}))
        turned = copy.deepcopy(torch.nn.Sequential(OrderedDict([("1", relu()), ("0", tanh())])))
        own = torch.nn.Module()
        own.add_module("0", linear(3, 2))
        children = dict(turned.named_children())
        assert list(children) == ["1", "0"]
        assert torch.equal(children["0"](torch.ones(1)), torch.tanh(torch.ones(1)))
        return sum(child(x()) for child in (*by_name.values(), *copy.deepcopy(own).children()))

    assert agrees(trial(body))


def test_functions_are_applied_to_every_part():
    def initialise(module):
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.constant_(module.bias, 0.5)

    def body():
        net = Net(1)
        net.apply(initialise)
        assert net.first.bias.reference.tolist() == [0.5] * 4
        net.requires_grad_(False)
        net.zero_grad()
        return net.double()(x(dtype="float64"))

    assert agrees(trial(body))


def test_hooks_have_dual_bodies_and_are_part_of_the_program():
    def body():
        net = Net(1)
        seen = []
        net.first.register_forward_hook(lambda module, args, result: result * 2)
        net.blocks[0].register_forward_pre_hook(lambda module, args: (args[0] + 1,))
        handle = net.last.register_forward_hook(lambda module, args, result: seen.append(result.sum()))
        result = net(x())
        handle.remove()
        net(x())
        assert len(seen) == 1
        return result

    outcome = trial(body)
    assert agrees(outcome)
    assert outcome.recorder.opaque is None
    assert agree(outcome.program, pair_with(), Settings()).mismatches == []


def test_a_hook_on_a_part_of_a_sequential_is_called_too():
    def body():
        net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
        net[0].register_forward_hook(lambda module, args, result: result + 1)
        return net(x())

    outcome = trial(body)
    assert agrees(outcome)
    assert "add" in targets(outcome)


def test_a_layer_that_calls_its_parts_itself_cannot_hold_a_class():
    def body():
        layer = torch.nn.TransformerEncoder(Block(4), 1)
        return layer(x(2, 3, 4))

    with pytest.raises(UsageError, match="calls its parts itself"):
        trial(body)


def test_it_prints_as_a_tree_with_the_names_of_its_classes():
    texts = []
    trial(lambda: texts.append(str(Net(1))) or Net(1)(x()))
    assert "(blocks): ModuleList(\n    (0): Block(\n      (linear): Linear(" in texts[0]


def test_a_network_from_outside_of_the_trial_is_one_network_in_its_program():
    pair = pair_with()
    net = trial_network(pair)
    outcome = trial(lambda: net(x()))
    assert agrees(outcome)
    again = trial(lambda: net(x()))
    assert agrees(again)
    assert agree(again.program, pair_with(), Settings()).mismatches == []


def trial_network(pair):
    """Return a network that another trial created."""
    made = []
    trial(lambda: made.append(Net(1)) or made[0](x()))
    return made[0]


def test_what_is_missing_is_told_in_a_sentence():
    class Forgetful(torch.nn.Module):
        def __init__(self):
            self.linear = torch.nn.Linear(3, 3)

    class Silent(torch.nn.Module):
        pass

    with pytest.raises(AttributeError, match=r"before super\(\).__init__\(\)"):
        trial(lambda: Forgetful()(x()))
    with pytest.raises(NotImplementedError, match="Silent has no forward"):
        trial(lambda: Silent()(x()))


def test_a_candidate_that_does_not_register_what_is_assigned_is_found():
    class Careless(real.nn.Module):
        def __setattr__(self, name: str, value: Any) -> None:
            if not isinstance(value, real.nn.Parameter):
                super().__setattr__(name, value)

    class One(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(3))

        def forward(self, x):
            return x * 2

    outcome = trial(lambda: One()(x()), FaultyTorch({"nn.Module": lambda original: Careless}))
    assert any("weight" in mismatch.message for mismatch in outcome.mismatches)


@pytest.mark.oneflow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("training", [True, False])
def test_the_models_agree_with_oneflow(name, training):
    outcome = run_trial(calling(name, training=training), 1, Settings(rtol=1e-3, atol=1e-4), chosen_pair())
    assert agrees(outcome)


def test_what_is_in_a_sequential_is_told_by_its_whole_path():
    outcome = trial(lambda: torch.nn.Sequential(Block(3), Block(3))(x()))
    scopes = {str(call.scope) for call in outcome.recorder.calls}
    assert {"Sequential.0.linear", "Sequential.1.linear", "Sequential.1"} <= scopes


def test_a_context_decorates_a_method_and_each_call_is_in_a_new_one():
    class Following(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        @torch.no_grad()
        def follow(self, kept=0.5):
            for parameter in self.linear.parameters():
                parameter.mul_(kept)

        def forward(self, x):
            return self.linear(x)

    def body():
        net = Following()
        before = float(net.linear.weight.sum())
        net.follow()
        net.follow(kept=0.25)
        assert float(net.linear.weight.sum()) == pytest.approx(before / 8)
        return net(x())

    outcome = trial(body)
    assert agrees(outcome)
    assert agree(outcome.program, pair_with(), Settings()).mismatches == []


def test_what_a_spectral_norm_draws_is_given_to_both_sides():
    assert agrees(trial(lambda: torch.nn.utils.spectral_norm(torch.nn.Linear(3, 4))(x())))


def test_what_a_framework_would_call_by_itself_is_told_in_a_sentence():
    with pytest.raises(UsageError, match="register_parametrization calls its parts itself"):
        trial(
            lambda: torch.nn.utils.parametrize.register_parametrization(torch.nn.Linear(3, 3), "weight", Block(3))(x())
        )
