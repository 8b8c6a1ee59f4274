"""Operators that are wrong in both precisions: the verdict blames the side that NumPy contradicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autotest as at
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.comparison import TensorValue
from autotest.diagnosis.attribution.referee import examine
from autotest.diagnosis.attribution.verdict import Evidence, judge
from autotest.diagnosis.counterparts.numpy_result import numpy_result
from autotest.diagnosis.oracles.forward_oracles import opinions
from autotest.frameworks import Framework, Pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import Program
from autotest.replaying.agreement import agree
from autotest.trials.outcome import Outcome
from autotest.trials.trial import run_trial
from tests.support.faulty import FaultyTorch, Replacement, returning

SETTINGS = Settings(auto_backward=False)


def x() -> Any:
    return at.random_tensor(shape=(3, 4), low=-2, high=2, dtype="float32", requires_grad=False)


def index(*shape: int) -> Any:
    return at.random_tensor(shape=shape, low=0, high=3, dtype="int64")


def _as_if_flat(gather: Any) -> Any:
    return lambda x, dim, index: x.reshape(-1)[index]


def _next_row(index_select: Any) -> Any:
    return lambda x, dim, index: index_select(x, dim, (index + 1) % x.shape[dim])


def _other_extreme(maximum: Any) -> Any:
    return lambda x, y: -maximum(-x, -y)


def _of_sizes(cumsum: Any) -> Any:
    return lambda x, dim: cumsum(x.abs(), dim)


def _to_the_right(searchsorted: Any) -> Any:
    return lambda ordered, x: searchsorted(ordered, x) + 1


#: A call and its fault: in reading by index, of one element, along a dimension, of integers.
FAULTS: dict[str, tuple[Callable[[], Any], Replacement]] = {
    # Two of three rows: NumPy's own function broadcasts such an index, so that its result has another shape.
    "gather": (lambda: dual.gather(x(), 1, index(2, 3)), _as_if_flat),
    "index_select": (lambda: dual.index_select(x(), 0, index(2)), _next_row),
    "maximum": (lambda: dual.maximum(x(), x()), _other_extreme),
    "cumsum": (lambda: dual.cumsum(x(), 1), _of_sizes),
    "searchsorted": (lambda: dual.searchsorted(dual.tensor([-1.0, 0.0, 1.0]), x()), _to_the_right),
}


def failing(body: Callable[[], Any], pair: Pair) -> Outcome:
    outcomes = (run_trial(body, seed, SETTINGS, pair) for seed in range(40))
    return next(outcome for outcome in outcomes if outcome.mismatches)


@pytest.mark.parametrize("wrong", ["reference", "candidate"])
@pytest.mark.parametrize("name", FAULTS)
def test_numpy_tells_who_is_wrong_in_double_precision_too(name: str, wrong: str) -> None:
    body, fault = FAULTS[name]
    sides: list[Framework] = [FaultyTorch({name: fault}), TorchFramework()]
    pair = Pair(*(sides if wrong == "reference" else reversed(sides)))
    verdict = examine(agree(failing(body, pair).program, pair, SETTINGS), pair, SETTINGS).verdict
    assert verdict.blame == wrong
    assert verdict.line.startswith("faulty: NumPy gives ")
    assert any("torch is off by 0" in said or "torch by 0" in said for said in verdict.numbers)


def test_to_what_whole_numbers_and_floats_are_promoted_is_no_matter_of_precision() -> None:
    def in_doubles(eq: Any) -> Any:
        return lambda x, y: eq(x.double(), y.double())

    def body() -> Any:
        def beyond_floats(bits: Any, spec: Any) -> Any:
            return np.array([2**24 + 1])

        def float_beside(bits: Any, spec: Any) -> Any:
            return np.array([2.0**24], "float32")

        whole = at.random_tensor(shape=(1,), dtype="int64", contents=beyond_floats)
        return dual.eq(whole, at.random_tensor(shape=(1,), contents=float_beside, requires_grad=False))

    pair = Pair(TorchFramework(), FaultyTorch({"eq": in_doubles}))
    verdict = examine(agree(failing(body, pair).program, pair, SETTINGS), pair, SETTINGS).verdict
    assert verdict.wrong == "candidate"
    assert verdict.line.startswith("torch is the specification")


def test_an_index_that_is_shorter_than_the_tensor_leaves_the_rest_alone() -> None:
    array = np.arange(12.0).reshape(3, 4)
    assert numpy_result("gather", (array, 0, np.array([[2]])), {}).tolist() == [[8.0]]
    assert numpy_result("gather", (array, -1, np.array([[3, 0], [1, 1]])), {}).tolist() == [[3.0, 0.0], [5.0, 5.0]]


def told(one: Any, other: Any, monkeypatch: pytest.MonkeyPatch, answer: Any) -> tuple[str, ...]:
    """Return the verdict on two sides that give these numbers, if NumPy gives `answer`."""
    monkeypatch.setattr("autotest.diagnosis.oracles.forward_oracles.numpy_result", lambda *_: np.array(answer))
    pair = Pair(TorchFramework(), FaultyTorch({"exp": returning(lambda result: result + 1)}))
    program: Program = failing(lambda: dual.exp(x()), pair).program
    slot = program.calls[-1].slot
    given = [{(slot, ""): TensorValue(np.array(numbers), "float64", "cpu", False)} for numbers in (one, other)]
    found = opinions(program, (slot, ""), pair, given=given)
    return judge(Evidence("value", ("torch", "faulty"), oracles=found)).numbers


def test_an_answer_of_a_shape_that_neither_side_has_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told([2.0], [-0.0], monkeypatch, [[2.0, 2.0]]) == ()


def test_who_is_right_where_the_other_is_wrong_is_told_of_by_the_place_where_it_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = told([np.nan, 2.0], [1.0, 5.0], monkeypatch, [1.0, 2.0])
    assert said == ("NumPy: 1 at (0,). torch is off by inf, faulty by 3 at (1,) (1e-09 allowed)",)


def test_numpy_is_said_to_speak_of_float64_if_the_sides_agree_there() -> None:
    def coarse(ceil: Any) -> Any:
        return lambda x: ceil(x * (x.abs() > 1e-3)) if x.element_size() == 4 else ceil(x)

    pair = Pair(TorchFramework(), FaultyTorch({"ceil": coarse}))
    outcome = failing(lambda: dual.ceil(dual.tensor(np.full(3, 1e-4, "float32"))), pair)
    verdict = examine(agree(outcome.program, pair, SETTINGS), pair, SETTINGS).verdict
    assert (verdict.blame, verdict.numbers[-1]) == (
        "candidate",
        "NumPy, in float64: 1 at (0,). torch is off by 0, faulty by 0 (1e-09 allowed)",
    )
