"""What a result depends on: its operands, and every call that wrote into one of them, in whatever way."""

from __future__ import annotations

from typing import Any

import pytest

from autotest.program import Call, Program, Ref, refs
from autotest.program.rewriting import needed


def function(slot: int, target: str, *args: Any, **kwargs: Any) -> Call:
    return Call("function", target, args, kwargs, slot)


@pytest.mark.parametrize(
    "write",
    [
        function(2, "relu_", Ref(0)),
        function(2, "nn.functional.relu", Ref(0), inplace=True),
        function(2, "nn.functional.relu", Ref(0), True),
        function(2, "exp", Ref(1), out=Ref(0)),
        function(2, "max", Ref(1), 0, out=(Ref(0), Ref(1))),
        function(2, "nn.functional.batch_norm", Ref(1), Ref(0), Ref(1), training=True),
        Call("setattr", "data", (Ref(0), Ref(1)), {}, 2),
        Call("method", "requires_grad_", (Ref(0),), {}, 2),
        Call("method", "half", (Ref(0),), {}, 2),
        Call("method", "bfloat16", (Ref(0),), {}, 2),
        Call("method", "load_state_dict", (Ref(0), Ref(1)), {}, 2),
    ],
)
def test_a_result_needs_the_calls_that_write_into_its_operands_or_change_their_state(write: Call) -> None:
    made = [function(slot, "ones", 3) for slot in range(2)]
    program = Program((*made, write, function(3, "sin", Ref(0)), function(4, "cos", Ref(1))), ())
    assert needed(program, [3]) == {0, 2, 3, *(ref.slot for ref in refs(write))}


def test_a_result_does_not_need_the_calls_that_only_read_its_operands() -> None:
    made = [function(slot, "ones", 3) for slot in range(2)]
    reading = [function(2, "nn.functional.relu", Ref(0), inplace=False), function(3, "exp", Ref(0), out=Ref(1))]
    assert needed(Program((*made, *reading, function(4, "sin", Ref(0))), ()), [4]) == {0, 4}
