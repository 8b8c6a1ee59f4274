"""The core with the real OneFlow: behaviour that torch against itself cannot show."""

from __future__ import annotations

import dataclasses

import pytest

from autotest import autotest, random_tensor, torch
from autotest.frameworks import registry
from autotest.frameworks.oneflow import OneFlowFramework
from autotest.gradients.programs import check_program
from autotest.recording.recorder import Recorder, recording
from tests.support.running import agrees, pair_with, trial

pytestmark = pytest.mark.oneflow


@pytest.fixture
def oneflow():
    return registry.framework("oneflow")


def network():
    layers = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    optimizer = torch.optim.SGD(layers.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        optimizer.zero_grad()
        layers(random_tensor(shape=(5, 3))).square().mean().backward()
        optimizer.step()


def contexts():
    x = random_tensor(ndim=2)
    with torch.no_grad():
        y = x * 2
    z = x * 3
    assert not y.oneflow.requires_grad
    assert z.oneflow.requires_grad
    return z


def random_numbers():
    x = torch.randn(3, 4)
    layer = torch.nn.Dropout(0.5)
    return x * 2, layer(x)


def in_place():
    x = random_tensor(ndim=2, dim0=3, requires_grad=False)
    row = x[0]
    x += 1
    x[1] = 5
    return row, x


def devices():
    x = random_tensor(shape=(3,))
    return x.to(x.device) + torch.ones(3, device=x.device)


@pytest.mark.parametrize("body", [network, contexts, random_numbers, in_place, devices])
def test_bodies_agree(body, oneflow):
    for seed in range(3):
        assert agrees(trial(body, oneflow, seed=seed))


def entered_twice():
    without_gradients = torch.no_grad()
    for _ in range(2):
        with without_gradients:
            torch.sin(random_tensor(shape=(2,)))


def test_a_context_that_is_entered_twice_leaves_gradients_to_the_next_trial(oneflow):
    trial(entered_twice, oneflow)
    assert oneflow.records_gradients()
    assert agrees(trial(contexts, oneflow))


def test_what_is_computed_after_a_context_is_checked_numerically(oneflow):
    def body():
        x = random_tensor(shape=(2,), dtype="float64")
        with torch.no_grad():
            y = torch.sin(x)
        return x * y

    (row,) = check_program(trial(body, oneflow).program, oneflow)[0].rows
    assert row.analytic != 0


def test_a_context_of_set_up_with_another_candidate_ends_on_this_one_too(oneflow):
    with recording(Recorder(pair_with())):
        layer = torch.nn.Linear(2, 2)
        for context in (torch.no_grad(), torch.no_grad()):
            with context:
                layer.weight.mul_(2)
    assert agrees(trial(lambda: layer(random_tensor(shape=(3, 2), dtype="float32")), oneflow))


def test_a_wrong_number_on_oneflows_side_is_found(oneflow):
    def body():
        x = random_tensor(shape=(3,))
        x.oneflow.data.add_(1)
        return torch.exp(x)

    assert {mismatch.symptom for mismatch in trial(body, oneflow).mismatches} >= {"value"}


@pytest.mark.filterwarnings("ignore:nn.functional.upsample is deprecated")
def test_an_operator_that_is_a_class_there_gives_an_object_of_another_type(oneflow):
    outcome = trial(lambda: torch.nn.functional.upsample(random_tensor(ndim=4), scale_factor=2.0), oneflow)
    assert [item.symptom for item in outcome.mismatches] == ["structure", "exception"]  # it has no backward either
    assert "actual an object of type Upsample" in outcome.mismatches[0].message


def test_a_decorated_test_runs_on_the_default_pair(oneflow, against):
    against(oneflow)

    @autotest(n=3)
    def body():
        return torch.relu(random_tensor(low=-1))

    body()


def test_a_framework_that_reads_in_a_way_of_its_own_is_read_so():
    class Lying(OneFlowFramework):
        def values(self, tensors):
            return [dataclasses.replace(value, data=value.data + 1) for value in super().values(tensors)]

    found = trial(lambda: torch.relu(random_tensor(shape=(2, 3))), Lying()).mismatches
    assert {mismatch.symptom for mismatch in found} == {"value", "gradient"}
    assert agrees(trial(lambda: torch.relu(random_tensor(shape=(2, 3))), OneFlowFramework()))
