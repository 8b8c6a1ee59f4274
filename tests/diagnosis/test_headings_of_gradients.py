"""The heading of a wrong gradient names an operator that the shrunk program differentiates."""

from __future__ import annotations

from typing import Any

import autotest as at
from autotest import torch as dual
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from tests.support.faulty import FaultyTorch
from tests.support.running import trial


def test_the_heading_of_a_wrong_second_derivative_has_an_operator_of_the_shrunk_program() -> None:
    import torch

    class Tanh(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.tanh()

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> Any:
            y = ctx.saved_tensors[0].tanh()
            return cotangent * (1 - y * y.detach())

    class WrongTanh(torch.nn.Tanh):
        def forward(self, x: Any) -> Any:
            return Tanh.apply(x)

    def body() -> Any:
        critic = dual.nn.Sequential(dual.nn.Linear(3, 4), dual.nn.Tanh(), dual.nn.Linear(4, 1))
        x = at.random_tensor(shape=(2, 3), low=-1, high=1, dtype="float32", requires_grad=True)
        (gradient,) = dual.autograd.grad(critic(x).sum(), x, create_graph=True)
        (gradient**2).sum().backward()

    outcome = trial(body, FaultyTorch({"nn.Tanh": lambda _: WrongTanh}))
    failed = FailedTrial(ATest("test_it.py::test_it", body, Settings()), outcome, outcome.recorder.pair)
    finding = failed.diagnosed(RunContext(outcome.recorder.pair, Options(verify=False, shrink=4.0)), 0)
    assert finding.operator == "nn.Tanh"
