"""A Sequential of the framework's own layers is one call of a trial; reports name one of its layers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autotest import random_tensor
from autotest import torch as dual
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.frameworks import Framework, Pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import Array, Call, Captured, Program, Ref
from autotest.program.sequentials import with_layers_unrolled
from autotest.results.finding import Finding
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.trial import run_trial
from tests.support.faulty import FaultyTorch

SETTINGS = Settings(n=1)


def told(body: Callable[[], Any], faulty: Framework) -> Finding:
    pair = Pair(TorchFramework(), faulty)
    outcome = run_trial(body, 0, SETTINGS, pair)
    context = RunContext(pair, Options(shrink=0.0, verify=False))
    return FailedTrial(ATest("t", body, SETTINGS), outcome, pair).diagnosed(context, 0)


def by_position() -> Any:
    return dual.nn.Sequential(dual.nn.Tanh(), dual.nn.Linear(4, 3), dual.nn.ReLU())(random_tensor(2, 2, 4))


def by_name() -> Any:
    layers = OrderedDict(act=dual.nn.Tanh(), inner=dual.nn.Sequential(dual.nn.Linear(4, 3)))
    return dual.nn.Sequential(layers)(random_tensor(2, 2, 4))


@pytest.mark.parametrize(("body", "path"), [(by_position, "1"), (by_name, "inner.0")])
def test_the_guilty_layer_is_named(body: Callable[[], Any], path: str) -> None:
    finding = told(body, FaultyTorch(tensors={"linear": lambda linear: lambda x, w, b: linear(x, w, b * 2 + 1)}))

    assert finding.network is not None
    assert (finding.operator, finding.network.path, finding.network.alone) == ("nn.Linear", path, True)


def test_a_sequential_that_is_wrong_itself_is_told_of_as_a_whole() -> None:
    def reversed_order(sequential: Any) -> Any:
        class Sequential(sequential):  # type: ignore[misc]
            def forward(self, x: Any) -> Any:
                for layer in reversed(list(self)):
                    x = layer(x)
                return x

        return Sequential

    def body() -> Any:
        return dual.nn.Sequential(dual.nn.Tanh(), dual.nn.Linear(4, 4))(random_tensor(2, 2, 4))

    assert told(body, FaultyTorch({"nn.Sequential": reversed_order})).operator == "nn.Sequential"


@pytest.mark.parametrize("before", [0, 1])
def test_one_that_was_changed_after_it_was_made_stays_whole(before: int) -> None:
    def body() -> Any:
        whole = dual.nn.Sequential(*[dual.nn.Tanh()] * before)
        whole.append(dual.nn.ReLU())
        return whole(random_tensor(2, 2, 4))

    program = run_trial(body, 0, SETTINGS, Pair(TorchFramework(), FaultyTorch())).program

    assert with_layers_unrolled(program) is program


@pytest.mark.parametrize(
    "hooking",
    [
        *("register_forward_hook", "register_forward_pre_hook", "register_backward_hook"),
        *("register_full_backward_hook", "register_full_backward_pre_hook"),
    ],
)
def test_one_with_a_hook_stays_whole(hooking: str) -> None:
    calls = (
        Call("function", "nn.ReLU", (), {}, 0),
        Call("function", "nn.Sequential", (Ref(0), Ref(0)), {}, 1),
        Call("method", hooking, (Ref(1), None), {}, 2),
        Call("tensor", "float32", (Captured(0),), {}, 3),
        Call("method", "__call__", (Ref(1), Ref(3)), {}, 4),
    )
    program = Program(calls, (Array(np.ones(2, "float32"), "float32"),), frozenset())
    assert with_layers_unrolled(program) is program
