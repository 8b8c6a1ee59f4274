"""A report begins with the first mismatch, and with the name of the call that caused it."""

from __future__ import annotations

from typing import Any

import pytest
import torch as real

from autotest import Divergence, autotest, random_tensor, skip_grad_check, torch
from autotest.results.finding import Finding
from tests.support.faulty import FaultyTorch, plus, raising, with_gradient
from tests.support.running import agrees, trial


@pytest.fixture(autouse=True)
def _quick(quick: object) -> None:
    """Remove the settings of the outer run."""


@pytest.fixture
def found(against: Any) -> Any:
    def check(body: Any, fault: FaultyTorch) -> Finding:
        against(fault)
        with pytest.raises(Divergence) as raised:
            skip_grad_check(reason="planted faults")(autotest(n=1)(body))()
        return raised.value.finding

    return check


class Steps(real.optim.SGD):
    def step(self, *args: Any) -> Any:
        super().step(*args)
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.data += 0.1


STEPS = FaultyTorch({"optim.SGD": lambda sgd: Steps})


def trained_layer() -> None:
    m = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
    torch.relu(m(random_tensor(shape=(2, 2)))).sum().backward()
    optimizer.step()


def trained_leaf() -> None:
    x = random_tensor(shape=(2, 2), low=1, high=2)
    optimizer = torch.optim.SGD([x], lr=0.1)
    torch.relu(x).sum().backward()
    optimizer.step()


@pytest.mark.parametrize("body", [trained_layer, trained_leaf])
def test_a_wrong_step_is_the_optimizers(found: Any, body: Any) -> None:
    finding = found(body, STEPS)
    assert finding.operator == "optim.SGD"
    assert finding.program.calls[finding.divergent].target == "step"
    assert "updates a parameter differently with the same gradients" in finding.verdict[0]


def test_a_wrong_gradient_comes_before_what_an_optimizer_made_of_it(found: Any) -> None:
    finding = found(trained_leaf, FaultyTorch({"relu": with_gradient(lambda gradient: gradient * 2)}))
    assert [mismatch.name for mismatch in finding.mismatches] == ["x0.grad", "x0"]
    assert finding.operator == "relu"
    assert finding.blame == "candidate"


def test_a_gradient_after_several_steps_comes_behind_what_the_first_step_wrote(found: Any) -> None:
    def body() -> None:
        x = random_tensor(shape=(2, 2), low=1, high=2)
        optimizer = torch.optim.SGD([x], lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            (x * x).sum().backward()
            optimizer.step()

    finding = found(body, STEPS)
    assert finding.operator == "optim.SGD"
    assert finding.divergent == min(call.slot for call in finding.program.calls if call.target == "step")


class Raises(real.nn.BatchNorm1d):
    def forward(self, x: Any) -> Any:
        raise RuntimeError("no kernel inside")


@pytest.mark.parametrize("network", [False, True])
def test_a_call_that_raises_is_named_after_its_module_and_is_all_that_is_told(found: Any, network: bool) -> None:
    def body() -> Any:
        m = torch.nn.BatchNorm1d(3)
        return (torch.nn.Sequential(m) if network else m)(random_tensor(shape=(2, 3)))

    finding = found(body, FaultyTorch({"nn.BatchNorm1d": lambda norm: Raises}))
    (only,) = finding.mismatches
    name = "nn.Sequential" if network else "nn.BatchNorm1d"
    assert only.message.startswith(f"{name}: torch accepts, faulty raised RuntimeError: no kernel inside.")


def test_what_diverged_before_a_call_raises_is_told_first(found: Any) -> None:
    def body() -> Any:
        return torch.nn.BatchNorm1d(3)(torch.sin(random_tensor(shape=(2, 3))))

    finding = found(body, FaultyTorch({"sin": plus(1.0), "nn.BatchNorm1d": lambda norm: Raises}))
    assert [mismatch.symptom for mismatch in finding.mismatches] == ["value", "exception"]
    assert finding.operator == "sin"


@pytest.mark.parametrize(("low", "shape"), [(1, (2, 3)), (0, ())])
def test_the_third_opinion_tells_how_far_off_each_side_is(found: Any, low: int, shape: tuple[int, ...]) -> None:
    finding = found(
        lambda: torch.relu(random_tensor(shape=shape, low=low, high=low + 1)), FaultyTorch({"relu": plus(1.0)})
    )
    opinion = next(line for line in finding.verdict if line.startswith("NumPy: "))
    assert ". torch is off by 0, faulty by 1 (" in opinion
    assert "[" not in opinion


def test_the_name_of_the_framework_in_the_name_of_a_type_is_no_difference() -> None:
    def body() -> Any:
        x = random_tensor(shape=(2, 3))
        assert x.type() == "torch.FloatTensor"
        return x * 2

    def types(name: str) -> FaultyTorch:
        return FaultyTorch(tensors={"type": lambda original: lambda x: name})

    assert agrees(trial(body, types("other.FloatTensor")))
    assert [found.symptom for found in trial(body, types("other.DoubleTensor")).mismatches] == ["value"]


def test_an_object_in_place_of_data_is_told_of_by_its_type() -> None:
    class Group:
        pass

    fault = FaultyTorch(
        tensors={"split": lambda original: lambda *args, **kwargs: (Group(), *original(*args, **kwargs)[1:])}
    )
    first, *_ = trial(lambda: torch.split(random_tensor(shape=(4, 2)), 2), fault, auto_backward=False).mismatches
    assert "expected a float32 tensor of shape (2, 2), actual an object of type Group" in first.message


def test_exceptions_keep_their_place(found: Any) -> None:
    finding = found(lambda: torch.relu(random_tensor()), FaultyTorch({"relu": raising(RuntimeError("no"))}))
    assert finding.first.message.startswith("relu: torch accepts, faulty raised RuntimeError: no.")
