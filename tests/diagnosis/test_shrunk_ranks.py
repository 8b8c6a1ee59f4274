"""Shrinking gives no module inputs of different ranks, since some of torch's modules kill the process then."""

from __future__ import annotations

from typing import Any

from autotest import random_tensor, torch
from autotest.program import Array
from autotest.program.shape_reduction import shapes
from tests.support.running import trial


def drawn(size: int) -> Any:
    return random_tensor(ndim=2, dim1=size, dtype="float32", requires_grad=False)


def ranks_of_inputs(body: Any) -> set[frozenset[int]]:
    """Return the ranks of the inputs of each smaller program of one trial of `body`."""
    return {
        frozenset(array.data.ndim for array in inputs if array.data.size)
        for inputs in (_inputs(smaller) for smaller in shapes(trial(body).program))
    }


def _inputs(program: Any) -> list[Array]:
    return [program.arrays[call.args[0].index] for call in program.inputs() if call.note != "cotangent"]


def test_the_inputs_of_a_module_lose_dimensions_together() -> None:
    assert ranks_of_inputs(lambda: torch.nn.GRUCell(3, 4)(drawn(3), drawn(4))) == {frozenset((1,)), frozenset((2,))}


def test_an_operand_of_an_operator_loses_dimensions_alone() -> None:
    assert frozenset((1, 2)) in ranks_of_inputs(lambda: torch.add(drawn(3), drawn(3)))


def test_the_single_input_of_a_module_loses_dimensions() -> None:
    assert frozenset((1,)) in ranks_of_inputs(lambda: torch.nn.Linear(3, 4)(drawn(3)))
