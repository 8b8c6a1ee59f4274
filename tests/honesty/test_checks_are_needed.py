"""Each check is removed in turn, and the planted fault for which it exists is then missed.

Therefore a fault that other tests of this folder find is found by this check and by nothing else. The second half
removes the protections of right frameworks, and right frameworks are then accused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch as real

from autotest import NothingCompared, autotest, random, random_tensor, skip_grad_check, torch
from autotest.base.errors import GradientNotCompared
from autotest.base.settings import Tolerance
from autotest.frameworks.torch import TorchFramework
from autotest.recording import one_sided
from autotest.recording.recorder import Recorder
from autotest.replaying import updates
from autotest.running import runner
from autotest.trials import backward, comparing, trial
from tests.support.bodies import relu
from tests.support.checks import (
    Remove,
    as_floats,
    both,
    broadcast,
    compared,
    copying,
    of_tensors,
    pairings,
    plain,
    replaced,
    with_data,
    without_error_parity,
    wrapped,
)
from tests.support.faulty import FaultyTorch, plus, raising, returning, with_gradient


class Case(NamedTuple):
    """A check, and a body and a fault that need it."""

    remove: Remove
    body: Callable[[], Any]
    fault: FaultyTorch
    settings: dict[str, Any]


def uniform_cotangent(cotangent: Any) -> Any:
    def ones(*args: Any, **options: Any) -> Any:
        drawn = cotangent(*args, **options)
        for side in (drawn.reference, drawn.candidate):
            side.fill_(1.0)
        return drawn

    return ones


# -- bodies and faults ----------------------------------------------------------------------------------


def fixed(value: Any) -> FaultyTorch:
    return FaultyTorch({"full": lambda original: lambda *args, **kwargs: value.clone()})


def full(shape: tuple[int, ...], value: float) -> Callable[[], Any]:
    return lambda: torch.full(shape, value)


def relu_and_nothing() -> None:
    relu()


def relu_behind_another() -> Any:
    return torch.exp(random_tensor(shape=(2,))), relu()


def relu_aside() -> Any:
    relu()
    return torch.ones(1)


def relu_of_positive() -> Any:
    return torch.relu(random_tensor(shape=(6,), low=1, high=2))


def split_aside() -> Any:
    torch.split(random_tensor(shape=(6,)), 2)
    return torch.ones(1)


def asked() -> Any:
    x = random_tensor(shape=(2, 3))
    x.size(0)
    return x + 1


def trained() -> None:
    layer = torch.nn.BatchNorm1d(3)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    layer(random_tensor(shape=(5, 3), requires_grad=False)).square().sum().backward()
    optimizer.step()


def normalised() -> Any:
    return torch.nn.BatchNorm1d(3)(random_tensor(shape=(5, 3)))


def normalised_for_evaluation() -> Any:
    layer = torch.nn.BatchNorm1d(3)
    layer.training = False
    return layer(random_tensor(shape=(5, 3)))


def refused_now_and_then() -> Any:
    return torch.mm(torch.ones(2, 3), torch.ones(random(1, 4).to(int), 2))


def raising_behind_another() -> Any:
    return torch.relu(torch.exp(random_tensor(shape=(2,))))


def of_many_sizes() -> Any:
    return torch.relu(torch.ones(random(1, 50).to(int)))


class Stubborn(real.nn.BatchNorm1d):
    def __setattr__(self, name: str, value: Any) -> None:
        if name != "training" or "training" not in self.__dict__:
            super().__setattr__(name, value)


class Forgetful(real.nn.BatchNorm1d):
    def forward(self, batch: Any) -> Any:
        mean = self.running_mean.clone()
        result = super().forward(batch)
        self.running_mean = mean
        return result


class Idle(real.optim.SGD):
    def step(self, *args: Any, **kwargs: Any) -> None:
        return None


def spoiling(original: Any) -> Any:
    def spoil(x: Any) -> Any:
        y = original(x)
        x.data.add_(1)
        return y

    return spoil


DOUBLED = FaultyTorch({"relu": with_gradient(lambda gradient: 2 * gradient)})
NONE = FaultyTorch(gradient=lambda tensor: None)
WITHOUT_BACKWARD = {"auto_backward": False}

CASES = {
    "shapes": Case(of_tensors(broadcast), full((4, 3), 1.0), fixed(real.ones(3)), WITHOUT_BACKWARD),
    "dtypes": Case(
        of_tensors(lambda one, other: (one, dataclasses.replace(other, data=other.data.astype("f4"), dtype="float32"))),
        full((3,), 1.0),
        fixed(real.ones(3, dtype=real.float64)),
        WITHOUT_BACKWARD,
    ),
    "devices": Case(
        copying("device"), relu, FaultyTorch(value=lambda frozen: dataclasses.replace(frozen, device="cuda")), {}
    ),
    "requires_grad": Case(
        copying("requires_grad"), relu, FaultyTorch({"relu": returning(lambda y: y.detach())}), WITHOUT_BACKWARD
    ),
    "integers exactly": Case(
        of_tensors(as_floats), full((1,), 100000), fixed(real.tensor([100001])), {"rtol": 1e-3, **WITHOUT_BACKWARD}
    ),
    "NaN masks": Case(with_data(np.nan_to_num), full((3,), float("nan")), fixed(real.zeros(3)), WITHOUT_BACKWARD),
    "signs of infinities": Case(
        with_data(np.abs), full((3,), float("inf")), fixed(real.full((3,), -float("inf"))), WITHOUT_BACKWARD
    ),
    "every element and not the mean": Case(
        with_data(lambda data: np.sort(data, axis=None).reshape(data.shape)),
        relu,
        FaultyTorch({"relu": returning(lambda y: y.flip(0))}),
        WITHOUT_BACKWARD,
    ),
    "expected against actual": Case(
        of_tensors(lambda one, other: (one, one)),
        relu,
        FaultyTorch({"relu": returning(real.zeros_like)}),
        WITHOUT_BACKWARD,
    ),
    "tolerance of the reference": Case(
        of_tensors(lambda one, other: (other, one)),
        full((1,), 1.0),
        fixed(real.full((1,), 2.0)),
        {"rtol": 0.5, "atol": 0.0, **WITHOUT_BACKWARD},
    ),
    "rtol is not atol": Case(
        wrapped(Tolerance, "of", lambda of: lambda self, dtype: of(self, dtype)[::-1]),
        full((1,), 1e-3),
        fixed(real.full((1,), 1.5e-3)),
        {"rtol": 0.1, "atol": 0.0, **WITHOUT_BACKWARD},
    ),
    "tight tolerance": Case(
        replaced(Tolerance, "of", lambda self, dtype: (0.05, 1.0)),
        relu,
        FaultyTorch({"relu": returning(lambda y: y * 1.04)}),
        {},
    ),
    "bfloat16": Case(
        of_tensors(lambda one, other: None if one.dtype == "bfloat16" else (one, other)),
        lambda: torch.relu(random_tensor(shape=(3,), low=1, high=2, dtype="bfloat16")),
        FaultyTorch({"relu": plus(0.0625)}),
        {},
    ),
    "plain values": Case(
        compared(lambda one, other: None if plain(one) and plain(other) else (one, other)),
        asked,
        FaultyTorch(tensors={"size": plus(1)}),
        {},
    ),
    "containers": Case(
        compared(lambda one, other: None if isinstance(one, tuple) else (one, other)),
        split_aside,
        FaultyTorch({"split": returning(lambda parts: (*parts[:-1], parts[-1] + 1))}),
        {},
    ),
    "structure": Case(
        compared(lambda one, other: None if type(one) is not type(other) else (one, other)),
        lambda: torch.relu(random_tensor(shape=(2,), requires_grad=False)),
        FaultyTorch({"relu": returning(lambda y: None)}),
        WITHOUT_BACKWARD,
    ),
    "results that the test did not return": Case(
        pairings(lambda pairing, call: call.target != "relu"), relu_aside, FaultyTorch({"relu": plus(1.0)}), {}
    ),
    "inputs after the calls": Case(
        pairings(lambda pairing, call: call.kind != "tensor"),
        relu,
        FaultyTorch({"relu": spoiling}),
        WITHOUT_BACKWARD,
    ),
    "buffers": Case(
        pairings(lambda pairing, call: "running" not in pairing.suffix),
        normalised,
        FaultyTorch({"nn.BatchNorm1d": lambda original: Forgetful}),
        {},
    ),
    "parameters": Case(
        both(
            pairings(lambda pairing, call: pairing.suffix not in (".weight", ".bias") and call.target != "list"),
            replaced(updates, "check_updates", lambda recorder: None),
        ),
        trained,
        FaultyTorch({"optim.SGD": lambda original: Idle}),
        {},
    ),
    "gradients": Case(replaced(TorchFramework, "holds_gradient", lambda self, tensor: False), relu, DOUBLED, {}),
    "gradients on one side": Case(
        compared(lambda one, other: None if one is None or other is None else (one, other)), relu, NONE, {}
    ),
    "backward": Case(replaced(trial, "run_backward", lambda *args, **options: None), relu, DOUBLED, {}),
    "backward of every output": Case(
        wrapped(
            trial,
            "run_backward",
            lambda push: lambda recorder, tensors, **options: push(recorder, tensors[:1], **options),
        ),
        relu_behind_another,
        DOUBLED,
        {},
    ),
    "backward of what was not returned": Case(
        replaced(trial, "unused_results", lambda recorder: ()), relu_and_nothing, DOUBLED, {}
    ),
    "drawn cotangents": Case(
        wrapped(backward, "_cotangent", uniform_cotangent),
        relu_of_positive,
        FaultyTorch({"relu": with_gradient(lambda gradient: gradient.flip(0))}),
        {},
    ),
    "assigned attributes": Case(
        replaced(Recorder, "setattr", lambda self, owner, name, value: None),
        normalised_for_evaluation,
        FaultyTorch({"nn.BatchNorm1d": lambda original: Stubborn}),
        {},
    ),
    "error parity": Case(
        wrapped(Recorder, "_refused", without_error_parity),
        refused_now_and_then,
        FaultyTorch({"mm": lambda mm: lambda x, y: mm(x[:, : len(y)], y)}),
        {"n": 8, "check_errors": True, **WITHOUT_BACKWARD},
    ),
    "exceptions of the candidate": Case(
        # Otherwise the missing result would be reported as a difference in structure.
        both(
            replaced(one_sided, "only_reference_accepts", lambda *args: None),
            compared(lambda one, other: None if other is None else (one, other)),
        ),
        raising_behind_another,
        FaultyTorch({"relu": raising(RuntimeError("no"))}),
        WITHOUT_BACKWARD,
    ),
    "another seed for each trial": Case(
        replaced(runner, "trial_seed", lambda base, test, index: 1),
        of_many_sizes,
        FaultyTorch({"relu": lambda relu: lambda x: relu(x) + (len(x) % 7 == 0)}),
        {"n": 60},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_without_its_check_a_fault_goes_unnoticed(against, monkeypatch, tmp_path, name):
    remove, body, fault, settings = CASES[name]
    # Only one check is tested: otherwise the gate that requires gradients would notice many of these faults.
    test = skip_grad_check(reason="planted faults")(autotest(**{"n": 2, **settings})(body))
    against()
    test()
    against(fault)
    with pytest.raises(AssertionError):
        test()
    remove(monkeypatch)
    # In a separate folder, because stored failures run first.
    monkeypatch.setenv("AUTOTEST_DIR", str(tmp_path / "without"))
    test()


def test_without_its_check_a_trial_that_compares_nothing_passes(against, monkeypatch):
    against()
    test = autotest(n=2)(lambda: None)
    with pytest.raises(NothingCompared):
        test()

    def careless(run):
        return lambda *args: dataclasses.replace(run(*args), compared=1)

    wrapped(runner, "run_next_without_comparison", careless)(monkeypatch)
    test()


def test_without_its_gate_a_test_that_compares_no_gradient_passes(against, monkeypatch):
    against()
    test = autotest(n=2, auto_backward=False)(relu)
    with pytest.raises(GradientNotCompared):
        test()
    replaced(comparing, "_complaint", lambda *args: "")(monkeypatch)
    test()


ACCUSED = {
    "shared random numbers": (
        replaced(Recorder, "_copy_contents", lambda self, slot, contents: None),
        lambda: torch.randn(3) + 1,
        None,
    ),
    "undefined contents": (
        wrapped(Recorder, "mark_undefined", lambda mark: lambda self, slot, value: None),
        lambda: torch.empty(3) + 1,
        FaultyTorch({"empty": lambda empty: lambda *size: real.full(size, 3.0)}),
    ),
    "masks drawn inside": (
        replaced(Recorder, "spread_undefined", lambda self, slot, owner: None),
        lambda: torch.nn.Dropout(0.5)(torch.ones(50)),
        None,
    ),
    "parameters alike": (
        replaced(TorchFramework, "load_state", lambda self, module, state: None),
        lambda: torch.nn.Linear(3, 4)(random_tensor(shape=(2, 3))),
        None,
    ),
}


@pytest.mark.parametrize("name", ACCUSED)
def test_without_its_care_a_right_framework_is_accused(against, monkeypatch, name):
    remove, body, candidate = ACCUSED[name]
    test = autotest(n=2)(body)
    against(candidate)
    test()
    remove(monkeypatch)
    with pytest.raises(AssertionError):
        test()
