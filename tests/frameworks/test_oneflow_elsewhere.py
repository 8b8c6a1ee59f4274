"""OneFlow in another interpreter is the OneFlow of this one: its contexts end, and its gradients are read alike."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from autotest.frameworks import framework, speaking_torch
from autotest.running.conformance import conformance

pytestmark = pytest.mark.oneflow


@pytest.fixture(scope="module")
def name() -> str:
    return f"python:{sys.executable}:oneflow"


def test_the_adapter_of_another_interpreter_meets_what_that_of_this_one_meets(name: str) -> None:
    found = {item.name: (item.outcome, item.why) for item in conformance(framework(name))}
    assert {check: why for check, (outcome, why) in found.items() if outcome == "WRONG"} == {}
    here = {item.name for item in conformance(framework("oneflow")) if item.outcome == "absent"}
    assert {check for check, (outcome, _) in found.items() if outcome == "absent"} >= here


def test_a_script_has_gradients_again_after_no_grad(name: str) -> None:
    flow = speaking_torch(name)
    layer = flow.nn.Linear(2, 1)
    with flow.no_grad():
        layer.weight.copy_(flow.tensor(np.ones((1, 2), "float32")))
    layer(flow.tensor(np.ones((3, 2), "float32"))).sum().backward()
    assert layer.weight.grad.tolist() == [[3.0, 3.0]]
