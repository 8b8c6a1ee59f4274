"""What may contribute to a value: operands, writes through shared memory, and the steps of an optimizer."""

from __future__ import annotations

from autotest.program import Call, Program, Ref
from autotest.program.influence import contributing


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
