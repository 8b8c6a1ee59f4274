"""No layer above the adapters accesses a framework's objects. Here any such access raises."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
import torch as real

from autotest import Divergence, align, random, random_tensor, torch
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import Array
from autotest.running.runner import run_test
from autotest.sweeping.judging import Judge
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from tests.support import running
from tests.support.faults import wrong_relu
from tests.support.faulty import FaultyTorch
from tests.support.opaque import Opaque, Touched, framework

#: Test bodies of tests/alignment, unchanged.
BODIES = [
    ("test_activation", "test_function", "gelu"),
    ("test_activation", "test_module_of_special_values", "ReLU"),
    ("test_activation", "test_in_place", "ReLU"),
    ("test_reduction", "test_extremes_with_their_places", "max"),
    ("test_reduction", "test_along_one_dimension", "mean"),
    ("test_matmul", "test_linear", True),
]
METHODS = [
    ("test_elementwise", "TestInPlace", "test_copying"),
    ("test_optimizer", "TestAroundOptimizers", "test_frozen_parameters_stay"),
    ("test_optimizer", "TestAroundOptimizers", "test_updates_without_autograd"),
    ("test_reduction", "TestOrder", "test_sort"),
]


@pytest.fixture
def alignment(monkeypatch):
    """Return ``alignment(name)``, which imports a module of tests/alignment with both sides opaque."""
    for side in ("REFERENCE", "CANDIDATE"):
        monkeypatch.setenv(f"AUTOTEST_{side}", "tests.support.opaque:framework")
    monkeypatch.setenv("AUTOTEST_N", "3")
    return lambda name: importlib.import_module(f"tests.alignment.{name}")


@pytest.mark.parametrize(("file", "name", "argument"), BODIES)
def test_a_body_passes_unchanged(alignment, file, name, argument):
    getattr(alignment(file), name)(argument)


@pytest.mark.parametrize(("file", "case", "name"), METHODS)
def test_a_method_passes_unchanged(alignment, file, case, name):
    getattr(alignment(file), case)(name).debug()


def options(folder):
    return Options(directory=folder, verify=False)


def network():
    m = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.ReLU())
    return m(random_tensor(shape=(3, 4), low=1, high=2, dtype="float32"))


def own_class():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.norm = torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3)
            self.last = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh())

        def forward(self, x):
            return self.last(self.norm(self.first(x)))

    return Net()(random_tensor(shape=(4, 4), low=1, high=2, dtype="float32"))


def test_a_network_of_ones_own_class_is_told_by_its_layer(tmp_path):
    class Steep(real.nn.Tanh):
        def forward(self, x):
            return super().forward(x) * 1.1

    pair = Pair(framework(), Opaque(FaultyTorch({"nn.Tanh": lambda _: Steep})))
    with pytest.raises(Divergence) as raised:
        run_test(ATest("test_it.py::test_it", own_class, Settings(n=3)), RunContext(pair, options(tmp_path)))
    assert raised.value.finding.network.path == "last.1"


def test_a_sweep_judges_such_programs_by_all_checks():
    for body in (own_class, lambda: torch.sort(random_tensor(shape=(5,))), lambda: torch.cumsum(random_tensor(2), 0)):
        program = running.trial(body, framework(), reference=framework()).recorder.snapshot()
        judged = Judge(Pair(framework(), framework())).judge(program, closely=True, twice=True, gaps=True, measure=True)
        assert judged.checks["value"]
        assert not judged.failures


@pytest.mark.parametrize("kind", ["numeric", "forward", "intermediate"])
def test_gradients_are_held_against_differences(kind):
    outcome = running.trial(network, framework(), reference=framework(), check_grad=kind, special_values=False)
    assert running.agrees(outcome)


@pytest.mark.parametrize("reference", [TorchFramework, framework])
@pytest.mark.parametrize(
    "body", [lambda: torch.relu(network() - 1), lambda: torch.relu(random_tensor(2, low=-1, high=1)) * 2]
)
def test_a_fault_is_found_diagnosed_and_shrunk_to_its_call(tmp_path, reference, body):
    pair = Pair(reference(), Opaque(wrong_relu()))
    with pytest.raises(Divergence) as raised:
        run_test(
            ATest("test_it.py::test_it", body, Settings()), RunContext(pair, Options(directory=tmp_path, verify=False))
        )
    found = raised.value.finding
    assert (found.operator.lower().rpartition(".")[2], found.blame) == ("relu", "candidate")
    assert len(found.program.calls) <= 4
    assert found.script


def scheduled():
    m = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(m.parameters(), lr=0.5)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    for _ in range(2):
        m(random_tensor(shape=(2, 3), low=-1, high=1, dtype="float32")).sum().backward()
        optimizer.step()
        scheduler.step()
    return m.weight


def test_a_wrong_scheduler_is_told_by_its_rates(tmp_path):
    def steeper(scheduler):
        return type("StepLR", (scheduler,), {"get_lr": lambda self: [1.5 * rate for rate in scheduler.get_lr(self)]})

    pair = Pair(framework(), Opaque(FaultyTorch({"optim.lr_scheduler.StepLR": steeper})))
    with pytest.raises(Divergence) as raised:
        run_test(ATest("test_it.py::test_it", scheduled, Settings(n=1)), RunContext(pair, options(tmp_path)))
    assert raised.value.finding.operator == "optim.lr_scheduler.StepLR"


def test_a_refusal_is_none_of_the_test_although_its_file_is_beside_the_adapter(tmp_path):
    """The adapter, its class of tensors and this test are all of the package `tests`."""

    def body():
        return torch.nn.Conv2d(3, 6, 1, groups=random(1, 4))(random_tensor(shape=(1, 3, 2, 2), dtype="float32"))

    pair, test = Pair(framework(), framework()), ATest("test_it.py::test_it", body, Settings(n=4))
    tally = run_test(test, RunContext(pair, options(tmp_path)))
    assert tally.accepted == 4
    assert "divisible by groups" in str(tally.rejections)


def test_models_are_aligned():
    opaque = framework()
    one, other = (opaque.invoke("function", "nn.Linear", (3, 2), {}) for _ in range(2))
    assert align(one, other, np.ones((2, 3), np.float32), pair=Pair(opaque, framework())).passed


def test_a_touch_is_told():
    with pytest.raises(Touched, match="shape"):
        _ = framework().tensor(Array(np.ones(2), "float64")).shape
