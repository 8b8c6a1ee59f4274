"""One call taken out of its program runs on the recorded values of its operands, as it did in the program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autotest.frameworks import framework
from autotest.program import Array, Call, Program, Ref
from autotest.program.isolation import ModuleState, isolated
from autotest.program.rewriting import tensor_call, with_scaled_operands
from autotest.program.values import TensorValue
from autotest.replaying.replay import replay

TORCH = framework("torch")
NUMBERS = np.array([-2.0, 3.0], "float32")


def program(*calls: Call) -> Program:
    array = Array(NUMBERS, "float32")
    return Program((tensor_call(0, 0, array, requires_grad=True), *calls), (array,))


def function(target: str, *args: Any, at: int = 1, **kwargs: Any) -> Call:
    return Call("function", target, args, kwargs, at)


def held(dtype: str, *, requires_grad: bool = False) -> TensorValue:
    return TensorValue(NUMBERS.astype(dtype), dtype, "cpu", requires_grad)


@pytest.mark.parametrize(
    "call",
    [
        function("relu_", Ref(0)),
        function("nn.functional.relu", Ref(0), inplace=True),
        function("nn.functional.leaky_relu", Ref(0), 0.5, True),
    ],
    ids=lambda call: call.target,
)
def test_a_call_that_writes_into_its_operand_can_be_differentiated_alone(call: Call) -> None:
    result = held("float32", requires_grad=True)
    alone, _ = isolated(program(call), 1, {0: held("float32", requires_grad=True)}, result, gradients=True)
    ran = replay(alone, TORCH)
    assert ran.error is None
    assert ran.values[0].grad is not None


@pytest.mark.parametrize("name", ["leaky_relu_", "leaky_relu"])
def test_an_operand_that_a_call_writes_into_stays_the_one_that_is_read_when_the_others_are_scaled(name: str) -> None:
    call = function(f"nn.functional.{name}", Ref(0), **({} if name.endswith("_") else {"inplace": True}))
    scaled, _ = with_scaled_operands(program(call), 1, {0: Array(np.full(2, 2.0, "float32"), "float32")})
    assert scaled == program(call)


def test_a_module_of_several_precisions_is_converted_in_the_same_order_every_time() -> None:
    built = Program((function("nn.Linear", 2, 2, at=0), Call("method", "__call__", (Ref(0), 1.0), {}, 1)), ())
    state = ModuleState({dtype: held(dtype) for dtype in ("float64", "float16")}, True)
    alone, _ = isolated(built, 1, {0: state})
    assert [call.target for call in alone.calls] == ["nn.Linear", "half", "double", "", "__call__"]


def test_what_a_module_loaded_before_its_state_was_recorded_is_not_loaded_again() -> None:
    calls = (
        function("nn.Linear", 2, 2, at=0),
        function("nn.Linear", 2, 2, at=1),
        Call("method", "state_dict", (Ref(1),), {}, 2),
        Call("method", "load_state_dict", (Ref(0), Ref(2)), {}, 3),
        Call("method", "__call__", (Ref(0), 1.0), {}, 4),
    )
    alone, _ = isolated(Program(calls, ()), 4, {0: ModuleState({"weight": held("float32")}, True)})
    assert [call.target for call in alone.calls] == ["nn.Linear", "", "__call__"]
    remade, _ = isolated(Program(calls, ()), 4, {})
    assert [call.target for call in remade.calls] == [call.target for call in calls]
