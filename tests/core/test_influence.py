"""What may contribute to a value: operands, writes through shared memory, and the steps of an optimizer."""

from __future__ import annotations

import pytest

from autotest.program import Call, Program, Ref
from autotest.program.influence import contributing, shared_memory, written_later


def function(slot: int, target: str, *args: object) -> Call:
    return Call("function", target, args, {}, slot)


def method(slot: int, target: str, *args: object) -> Call:
    return Call("method", target, args, {}, slot)


def test_a_call_that_only_reads_the_same_operand_contributes_nothing() -> None:
    calls = (function(0, "ones", 3), function(1, "argsort", Ref(0)), function(2, "exp", Ref(0)))
    assert contributing(Program(calls, ()), [2]) == {0, 2}


def test_what_is_written_through_a_view_contributes_to_its_owner() -> None:
    calls = (
        function(0, "ones", 3),
        function(1, "narrow", Ref(0), 0, 0, 2),
        function(2, "ones", 2),
        method(3, "mul_", Ref(1), Ref(2)),
    )
    assert contributing(Program(calls, ()), [0]) == {0, 1, 2, 3}


def test_a_view_of_an_operand_given_by_keyword_shares_its_memory() -> None:
    view = Call("function", "transpose", (), {"input": Ref(0), "dim0": 0, "dim1": 1}, 1)
    calls = (function(0, "ones", 3, 3), view, method(2, "mul_", Ref(1), 2.0))
    assert shared_memory(calls) == [0, 0, 0]
    assert contributing(Program(calls, ()), [0]) == {0, 1, 2}


def test_a_step_of_an_optimizer_and_the_loss_contribute_to_a_parameter() -> None:
    calls = (
        function(0, "nn.Linear", 2, 2),
        function(1, "ones", 2),
        method(2, "parameters", Ref(0)),
        function(3, "optim.SGD", Ref(2)),
        method(4, "__call__", Ref(0), Ref(1)),
        function(5, "argsort", Ref(4)),
        function(6, "sum", Ref(4)),
        method(7, "backward", Ref(6)),
        method(8, "step", Ref(3)),
    )
    assert contributing(Program(calls, ()), [0]) == {0, 1, 2, 3, 4, 6, 7, 8}


@pytest.mark.parametrize(
    ("writer", "expected"),
    [
        (method(2, "add_", Ref(1), 1.0), True),
        (Call("function", "cos", (Ref(0),), {"out": Ref(1)}, 2), True),
        (Call("function", "nn.functional.relu", (Ref(1), True), {}, 2), True),
        (function(2, "cos", Ref(1)), False),
    ],
    ids=["in place", "out", "by argument", "not at all"],
)
def test_a_value_is_written_later_by_any_kind_of_write(writer: Call, expected: bool) -> None:
    calls = (function(0, "ones", 3), function(1, "sin", Ref(0)), writer)
    assert (1 in written_later(calls)) is expected


def test_a_view_is_written_later_through_its_owner_and_an_operand_not_through_a_result() -> None:
    owner = (function(0, "ones", 3), method(1, "t", Ref(0)), method(2, "add_", Ref(0), 1.0))
    assert written_later(owner) == {0, 1}
    result = (function(0, "ones", 3), function(1, "exp", Ref(0)), method(2, "add_", Ref(1), 1.0))
    assert written_later(result) == {1}


def test_the_result_of_a_call_with_out_is_the_tensor_that_was_given() -> None:
    calls = (function(0, "ones", 3), function(1, "empty", 3), Call("function", "sin", (Ref(0),), {"out": Ref(1)}, 2))
    assert shared_memory(calls) == [0, 1, 1]
