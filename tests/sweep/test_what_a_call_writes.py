"""A sweep knows what a call may write into: by its name, by an argument, or through a view."""

from __future__ import annotations

import numpy as np
import pytest

from autotest.comparison import Mismatch
from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.sweeping.checks import check_of
from autotest.sweeping.undefined import marked

NUMBERS = Array(np.ones((2, 3), "float32"), "float32")


def program(*calls: Call) -> Program:
    """Return a program of three inputs, in the slots 0 to 2, and `calls`."""
    return Program((*(tensor_call(slot, 0, NUMBERS, requires_grad=False) for slot in range(3)), *calls), (NUMBERS,))


def function(target: str, *args: object, at: int = 3, **kwargs: object) -> Call:
    return Call("function", target, args, kwargs, at)


def method(target: str, *args: object, at: int = 3) -> Call:
    return Call("method", target, args, {}, at)


def different(slot: int) -> Mismatch:
    return Mismatch("x", slot, "value", "forward", "candidate", "not close")


@pytest.mark.parametrize(
    "calls",
    [
        (method("relu_", Ref(1)),),
        (function("nn.functional.relu", Ref(1), inplace=True),),
        (function("nn.functional.relu", Ref(1), True),),
        (function("nn.functional.batch_norm", Ref(0), Ref(1), Ref(2), training=True),),
        (function("exp", Ref(0), out=Ref(1)),),
        (function("nn.ReLU", inplace=True), method("__call__", Ref(3), Ref(1), at=4)),
        (method("view", Ref(1), -1), method("relu_", Ref(3), at=4)),
    ],
    ids=lambda calls: calls[-1].target,
)
def test_a_wrong_input_that_a_call_writes_into_is_a_wrong_value(calls: tuple[Call, ...]) -> None:
    assert check_of(different(1), program(*calls)) == "value"


@pytest.mark.parametrize(
    "calls",
    [
        (function("nn.functional.relu", Ref(1), inplace=False),),
        (method("clone", Ref(1)), method("relu_", Ref(3), at=4)),
        (function("nn.ReLU"), method("__call__", Ref(3), Ref(1), at=4)),
    ],
    ids=lambda calls: calls[-1].target,
)
def test_a_wrong_input_that_no_call_writes_into_was_written_into_by_mistake(calls: tuple[Call, ...]) -> None:
    assert check_of(different(1), program(*calls)) == "alias"


@pytest.mark.parametrize(
    "view",
    [method("view", Ref(0), -1), method("t", Ref(0)), method("permute", Ref(0), 1, 0), method("relu_", Ref(0))],
    ids=lambda view: view.target,
)
def test_random_numbers_drawn_into_what_shares_memory_are_random_in_all_of_it(view: Call) -> None:
    assert marked(program(view, method("normal_", Ref(3), at=4)), drawn=True).undefined >= {0, 3, 4}


def test_random_numbers_drawn_into_a_copy_leave_what_was_copied_alone() -> None:
    drawn = marked(program(method("clone", Ref(0)), method("normal_", Ref(3), at=4)), drawn=True)
    assert drawn.undefined == {3, 4}


def test_running_statistics_of_random_numbers_are_random() -> None:
    normalised = function("nn.functional.batch_norm", Ref(3), Ref(1), Ref(2), training=True, at=4)
    assert marked(program(function("rand_like", Ref(0)), normalised), drawn=False).undefined == {1, 2, 3, 4}
