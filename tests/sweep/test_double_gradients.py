"""Second derivatives are compared if there are any, and not for harvested calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autotest.diagnosis.shrinking.fitting_cotangents import with_fitting_cotangents
from autotest.frameworks import Pair
from autotest.frameworks.samples import Sample
from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.results.sweep import Cell, CellKey
from autotest.sweeping.judged_units import judged_samples
from autotest.sweeping.judging import Judge
from autotest.sweeping.units import Unit
from tests.support.faulty import FaultyTorch
from tests.sweep.planted import TORCH, failing, fault, flat_slope

X = Array(np.array([[0.5, -1.0, 2.0, 0.25]], "float32"), "float32")


def program(*calls: Call) -> Program:
    return Program((tensor_call(0, 0, X, requires_grad=True), *calls), (X,))


def without_a_graph(pad: Any) -> Any:
    """Return torch that detaches the gradient of a linear function, whose derivative is zero."""

    class Wrong(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, x: Any, size: Any) -> Any:
            context.size = size
            return pad(x, size, mode="reflect")

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(context: Any, cotangent: Any) -> Any:
            with torch.enable_grad():
                x = torch.zeros(cotangent.shape[0], cotangent.shape[1] - 2, requires_grad=True)
                return torch.autograd.grad(pad(x, context.size, mode="reflect"), x, cotangent)[0], None

    return lambda x, size, mode: Wrong.apply(x, size)


def test_a_gradient_whose_own_derivative_is_zero_is_not_differentiated() -> None:
    padded = program(Call("function", "nn.functional.pad", (Ref(0), (1, 1)), {"mode": "reflect"}, 1))
    judged = Judge(Pair(TORCH, fault("nn.functional.pad", without_a_graph))).judge(padded, closely=True, twice=True)
    assert judged.checks["gradient"]
    assert "double gradient" not in judged.checks


SINE = program(Call("function", "sin", (Ref(0),), {}, 1))


def of_database(name: str, candidate: FaultyTorch) -> Cell:
    unit = Unit(0, name, CellKey("sin", "function", "float32"), "sample", 1, "sin", ("float32",))
    cell = Cell()
    for part in judged_samples(unit, [Sample(SINE)], Pair(TORCH, candidate)):
        cell.merge(part.cell)
    return cell


def test_calls_of_a_program_that_was_harvested_are_differentiated_once() -> None:
    wrong = fault("sin", flat_slope)
    assert failing(of_database("operators", wrong)) == {"double gradient"}
    assert failing(of_database("calls", wrong)) == set()


def test_several_gradients_that_are_pushed_as_if_they_were_one_cannot_be_mended() -> None:
    cotangent = Array(np.ones((1, 4), "float32"), "float32")
    calls = (
        *SINE.calls,
        Call("function", "autograd.grad", (Ref(1), [Ref(0)], Ref(3)), {}, 4),
        Call("function", "autograd.backward", ([Ref(4)], [Ref(3)]), {}, 5),
    )
    made = tensor_call(2, 1, cotangent, requires_grad=False)
    given = [*calls[:2], made, made._replace(slot=3), *calls[2:]]
    assert with_fitting_cotangents(Program(tuple(given), (X, cotangent)), TORCH) is None
