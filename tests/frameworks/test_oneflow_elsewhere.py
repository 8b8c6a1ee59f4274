"""OneFlow in another interpreter behaves as in this one: contexts end, and gradients are read in the same way."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from autotest.base.settings import Settings
from autotest.diagnosis.rounding.double_precision import DoublePrecision
from autotest.frameworks import Pair, framework, speaking_torch
from autotest.program import Array, Call, Captured, Program, Ref
from autotest.replaying.agreement import agree
from autotest.running.conformance.checking import conformance

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


def test_rounding_in_the_gradient_of_a_layer_there_is_none_of_its_faults(warm_peers: None) -> None:
    # torch sums the gradient of the weight in another order, and its products cancel.
    other = framework(f"python:{sys.executable}")
    other.start = other.start.replace("main(NAME, FILES)\n", REORDERED)
    values = np.random.Generator(np.random.PCG64(1)).normal(size=(2000, 3)).astype("float32")
    calls = (
        Call("function", "nn.Linear", (3, 1), {}, 0),
        Call("load_state", "", (Ref(0), {"weight": Captured(2), "bias": Captured(3)}), {}, 1),
        Call("tensor", "float32", (Captured(0),), {"requires_grad": True, "device": "cpu"}, 2),
        Call("method", "__call__", (Ref(0), Ref(2)), {}, 3),
        Call("tensor", "float32", (Captured(1),), {"requires_grad": False, "device": "cpu"}, 4),
        Call("method", "backward", (Ref(3), Ref(4)), {}, 5),
    )
    arrays = tuple(
        Array(np.asarray(data, "float32"), "float32") for data in (values, np.ones((2000, 1)), np.ones((1, 3)), [1.0])
    )
    pair, strict = Pair(framework("torch"), other), Settings(rtol=0.0, atol=0.0)
    focus = agree(Program(calls, arrays), pair, strict)
    gradient = next(item for item in focus.mismatches if item.name.endswith("weight.grad"))
    measured = DoublePrecision(focus, pair, strict).measured(gradient)
    assert measured is not None
    assert measured.wrong == (0, 0)


#: Source for the other process: its layers compute on rows in reverse order.
REORDERED = """\
import torch
class Reversed(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x.flip(0)).flip(0)
torch.nn.Linear = Reversed
main(NAME, FILES)
"""
