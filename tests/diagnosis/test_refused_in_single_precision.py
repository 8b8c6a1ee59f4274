"""What the reference refuses in single precision alone is its own fault, and not that of the candidate that accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autotest as at
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.referee import examine
from autotest.replaying.agreement import agree
from tests.support.faulty import FaultyTorch
from tests.support.running import pair_with, trial

CHECKED = Settings(check_errors=True, auto_backward=False)


def drawn(*shape: int, dtype: str = "float32") -> Any:
    return at.random_tensor(shape=shape, low=1, high=2, dtype=dtype, layout="contiguous", requires_grad=False)


def singles_refused(original: Any) -> Any:
    def called(x: Any, *args: Any, **named: Any) -> Any:
        import torch

        if x.dtype == torch.float32:
            raise RuntimeError("no kernel for this case")
        return original(x, *args, **named)

    return called


def everything_refused(original: Any) -> Any:
    def called(*args: Any, **named: Any) -> Any:
        raise RuntimeError("not these sizes")

    return called


def layer_refused(original: Any) -> Any:
    class Refusing(original):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return singles_refused(super().forward)(x)

    return Refusing


def singular_in_single_precision(original: Any) -> Any:
    def called(x: Any) -> Any:
        import torch

        if x.dtype == torch.float32:
            raise torch.linalg.LinAlgError("the matrix is singular")
        return original(x)

    return called


def blamed(body: Callable[[], Any], reference: FaultyTorch) -> str:
    outcome = trial(body, reference=reference, check_errors=True, auto_backward=False)
    assert [item.symptom for item in outcome.mismatches] == ["accepted"]
    pair = pair_with(reference=reference)
    return examine(agree(outcome.program, pair, CHECKED), pair, CHECKED).verdict.blame


@pytest.mark.parametrize(
    ("body", "replaced"),
    [
        (lambda: dual.sin(drawn(3)), {"sin": singles_refused}),
        (lambda: dual.nn.Linear(3, 2)(drawn(4, 3)), {"nn.Linear": layer_refused}),
    ],
    ids=["function", "layer"],
)
def test_a_refusal_of_single_precision_alone_is_the_references(body: Callable[[], Any], replaced: Any) -> None:
    assert blamed(body, FaultyTorch(replaced)) == "reference"


@pytest.mark.parametrize(
    ("body", "replaced"),
    [
        (lambda: dual.sin(drawn(3)), {"sin": everything_refused}),
        # In double precision both operands would have one dtype.
        (lambda: dual.add(drawn(3), drawn(3, dtype="float64")), {"add": singles_refused}),
        # It may be a dtype, of which a number of float32 is only half, and a number of float64 is a whole.
        (lambda: dual.clone(drawn(3), memory_format=dual.contiguous_format), {"clone": singles_refused}),
        (lambda: dual.linalg.inv(drawn(2, 2)), {"linalg.inv": singular_in_single_precision}),
    ],
    ids=["of every dtype", "of two dtypes", "of an argument that names something", "of a singular matrix"],
)
def test_any_other_refusal_is_the_specification(body: Callable[[], Any], replaced: Any) -> None:
    assert blamed(body, FaultyTorch(replaced)) == "candidate"
