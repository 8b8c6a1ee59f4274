"""Scripts of programs with hooks, functions with their own backward, and classes run alone and show the fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autotest import random_tensor, torch
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.diagnosis.verification import run_script
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.trial import run_trial
from tests.networks.test_gradient_hooks import (
    full_backward_pre_hook,
    hook_of_a_whole_class,
    hook_of_an_input,
    own_function,
    own_function_of_two,
    several_hooks,
)
from tests.support import faults
from tests.support.running import pair_with

#: Each script runs in two new interpreters.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("warm")]

SETTINGS = Settings(n=1)


class Net(torch.nn.Module):
    """A class with a hook on one part, and one on the whole."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3) for _ in range(2)])
        self.scale = torch.nn.Parameter(torch.ones(3))
        self.layers[0].register_forward_hook(lambda module, given, result: torch.tanh(result))
        self.register_full_backward_hook(lambda module, given, taken: (given[0] * 2,))

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x) * self.scale
        return x


def network(torch: Any, x: Any) -> Any:
    return Net()(x)


#: One of each kind of hook and function in the program.
CASES = [
    (hook_of_an_input, 0.0),
    (several_hooks, 0.0),
    (full_backward_pre_hook, 0.0),
    (hook_of_a_whole_class, 0.0),
    (own_function_of_two, 0.0),
    (own_function, 3.0),
    (network, 3.0),
]


@pytest.mark.parametrize(("body", "shrink"), CASES)
def test_the_script_of_a_fault_shows_it_in_a_fresh_interpreter(body: Callable[..., Any], shrink: float) -> None:
    def test() -> Any:
        return body(torch, random_tensor(shape=(4, 3), low=-1, high=1))

    pair = pair_with(faults.wrong_gradients())
    outcome = run_trial(test, 0, SETTINGS, pair)
    assert outcome.mismatches
    options = Options(verify=False, shrink=shrink)
    finding = FailedTrial(ATest("file.py::test", test, SETTINGS), outcome, pair).diagnosed(RunContext(pair, options), 0)
    assert finding.script is not None, finding.verified
    status, output = run_script(finding.script)
    assert status == 1, output
    assert "DIFFERS" in output
