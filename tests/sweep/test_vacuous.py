"""An agreement in constants only does not count as an agreement in values."""

from __future__ import annotations

import numpy as np
import pytest

from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.replaying.replay import replay
from autotest.sweeping.vacuous import is_constant
from tests.sweep.planted import TORCH, swept

X = Array(np.array([-2.0, -1.0, -3.0], "float32"), "float32")
FLAGS = Array(np.array([False, False]), "bool")


def function(name: str, *rest: object, of: Array = X) -> Program:
    arrays = (of, of)
    inputs = [tensor_call(slot, slot, of, requires_grad=False) for slot in range(2)]
    return Program((*inputs, Call("function", name, (Ref(0), *rest), {}, 2)), arrays)


@pytest.mark.parametrize(
    ("program", "constant"),
    [
        (function("zeros_like"), True),
        (function("mul", 0.0), True),
        (function("isnan"), True),
        (function("eq", Ref(1)), True),
        (function("relu"), False),  # all zeros here, and different for positive numbers
        (function("neg"), False),
        (function("sum"), False),
        (function("sort"), False),
        (function("logical_not", of=FLAGS), False),
        (function("zeros_like", of=FLAGS), True),
    ],
)
def test_a_result_is_constant_that_is_one_number_for_other_inputs_too(program: Program, constant: bool) -> None:
    assert is_constant(program, replay(program, TORCH)) is constant


def test_what_takes_no_tensor_is_no_constant() -> None:
    ones = Program((Call("function", "ones", (3,), {}, 0),), ())
    assert not is_constant(ones, replay(ones, TORCH))


def test_a_cell_of_constants_is_counted_as_that_and_no_value_of_it_passes() -> None:
    cell = swept(TORCH, "zeros_like/function/float32", "sample")
    assert (cell.status, cell.accepted) == ("vacuous", cell.vacuous)
    assert "value" not in cell.checks
    assert cell.checks["dtype"][0] == cell.accepted
