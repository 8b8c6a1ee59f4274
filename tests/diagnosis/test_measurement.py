"""Measurements of errors: infinities and the greatest floats neither excuse nor hide a difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import autotest as at
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.diagnosis.rounding.double_precision import RUNS, DoublePrecision
from autotest.diagnosis.rounding.measurement import Measured, Rounding, Spread, measure
from autotest.diagnosis.rounding.perturbation import perturbed
from autotest.diagnosis.rounding.roundoff import ROUNDOFF
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import Array, Call, Captured, Program
from autotest.program.rewriting import widened
from autotest.recording.record import Record
from autotest.replaying.agreement import Agreement
from autotest.replaying.replay import replay
from tests.support.running import trial

GREATEST = np.finfo(np.float64).max


def spread_of(truth: Any, *runs: Any) -> Spread:
    spread = Spread(truth)
    for run in runs:
        spread.add(run)
    return spread


def measured(true: list[float], actual: list[float], claimed: list[float], *moved: list[float]) -> Measured:
    """Measure a candidate that gives `actual`, and `claimed` in double precision. The reference is right."""
    mask = np.array(true) != np.array(actual)
    truth, runs = np.array(true), [np.array(run) for run in moved]
    single = [np.array(values, "float32") for values in (true, actual)]
    spread = spread_of(truth, *runs)
    return measure((single[0], single[1]), (truth, np.array(claimed)), spread, mask, Rounding("float32", 1.0))


def test_a_gap_without_bound_hides_no_other() -> None:
    # Element 0 may have any value, because one roundoff in the inputs makes it infinite. Element 1 is wrong.
    found = measured([1.0, 2.0], [np.inf, 7.0], [np.inf, 7.0], [np.inf, 2.0])
    assert found.index == (1,)
    assert found.wrong == (0, 1)
    assert not found.wide_agrees


def test_what_stays_in_double_precision_is_told_where_great_numbers_elsewhere_allow_it() -> None:
    sides = np.array([3.0], "float32"), np.array([-2.0], "float32")
    rounding = Rounding("float32", 1.0, cancellation=1e12)
    for claimed, stays in ((-2.0, True), (3.0, False)):
        spread = spread_of(np.array([3.0]))
        found = measure(sides, (np.array([3.0]), np.array([claimed])), spread, np.array([True]), rounding)
        assert found.wide_agrees
        assert found.stays is stays


@pytest.mark.parametrize(("claimed", "explained"), [(3.0 + 1e-8, True), (3.0 + 1e-5, False), (np.inf, False)])
def test_a_number_that_is_kept_in_single_precision_does_not_explain_a_mismatch(claimed: float, explained: bool) -> None:
    # The inputs move the result by much more than the sides differ, and by less in double precision.
    found = measured([3.0], [3.0003], [claimed], [3.001], [3.002])
    assert not found.wide_agrees
    assert found.is_rounding is explained


def test_errors_of_both_sides_that_rounding_does_not_explain_are_not_decided_by_a_gap_in_double_precision() -> None:
    sides = np.array([3.01], "float32"), np.array([3.02], "float32")
    truth, gap = np.array([3.0]), np.array([3.0 + 1e-8])
    found = measure(sides, (truth, gap), spread_of(truth), np.array([True]), Rounding("float32", 1.0))
    assert found.vanishes
    assert not found.double_decides


def test_what_may_be_anything_is_in_excess_of_nothing() -> None:
    found = measured([1.0], [np.inf], [np.inf], [np.inf])
    assert found.wrong == (0, 0)
    assert found.wide_agrees


def test_an_excess_too_great_for_a_float_is_one() -> None:
    found = measure(
        (np.array([5]), np.array([6])),
        (np.array([5]), np.array([6])),
        spread_of(np.array([5])),
        np.array([True]),
        Rounding("int64", 1.0),
    )
    assert found.wrong == (0, 1)


def test_what_is_off_where_zero_is_true_is_told_of_in_double_precision_too() -> None:
    zero, off = np.zeros(()), np.full((), 0.25)
    found = measure((zero, off), (zero, off), spread_of(zero, zero, zero), np.array(True), Rounding("float64", 1.0))
    assert found.wrong == (0, 1)
    assert not found.ill_conditioned


@pytest.mark.parametrize(("dtype", "value"), [("float32", 3e38), ("float64", GREATEST)])
def test_great_numbers_are_no_excuse(dtype: str, value: float) -> None:
    calls = (Call("tensor", dtype, (Captured(0),), {"requires_grad": False, "device": "cpu"}, 0),)
    program = Program(calls, (Array(np.full(8, value, dtype), dtype),))
    pair = Pair(TorchFramework(), TorchFramework())
    double = DoublePrecision(Agreement(program, Record(pair), []), pair, Settings())
    assert np.isfinite(double.cancellation)
    moved = [perturbed(double.wide.arrays, ROUNDOFF[dtype], run) for run in range(RUNS)]
    assert all(np.isfinite(array.data).all() for (array,) in moved)


def test_two_runs_change_each_input_once() -> None:
    ones = [Array(np.ones((40, 30)), "float32"), Array(np.ones(7) + 1j, "complex64")]
    for run in range(0, RUNS, 2):
        for one, other in zip(*(perturbed(ones, 2.0**-24, turn) for turn in (run, run + 1)), strict=True):
            for part in (np.real, np.imag) if one.data.dtype.kind == "c" else (np.real,):
                assert ((part(one.data) != 1) != (part(other.data) != 1)).all()


@pytest.mark.parametrize(("terms", "least", "most"), [(1, 1.0, 1.0), (2, 0.6, 0.8), (6, 0.0, 0.02), (20, 0.0, 0.0)])
def test_a_sum_of_one_or_two_terms_depends_on_few_inputs_and_one_of_many_does_not(
    terms: int, least: float, most: float
) -> None:
    moved = [perturbed([Array(np.ones((2000, terms)), "float32")], 2.0**-24, run)[0].data for run in range(RUNS)]
    _, few = spread_of(np.full(2000, float(terms)), *(one.sum(axis=1) for one in moved)).found()
    assert least <= few.mean() <= most


@pytest.mark.parametrize("left", [np.inf, np.nan])
@pytest.mark.parametrize(("size", "overflows"), [(3e38, True), (3e30, False)])
def test_an_infinity_or_nan_is_rounding_only_where_another_order_of_adding_up_overflows(size, overflows, left):
    terms = np.array([size] * 4 + [-size] * 4 + [1e30])
    random = np.random.Generator(np.random.SFC64(0))
    moved = [np.array([(terms * (1 + random.uniform(-1, 1, terms.size) * 2.0**-24)).sum()]) for _ in range(8)]
    truth, beyond = np.array([1e30]), np.array([left], "float32")
    pair = (truth.astype("float32"), beyond)
    spread = spread_of(truth, *moved)
    found = measure(pair, (truth, truth), spread, np.array([True]), Rounding("float32", terms.size))
    assert found.wrong == (0, 0 if overflows else 1)


MADE: dict[str, Callable[[], Any]] = {
    "a parameter": lambda: dual.nn.Parameter(dual.ones(3, 2)),
    "an initialised one": lambda: dual.nn.init.normal_(dual.nn.Parameter(dual.empty(3, 2))),
    "zeros": lambda: dual.zeros(3, 2) + 1,
    "drawn numbers": lambda: dual.randn(3, 2),
    "fractions": lambda: dual.full((3, 2), 0.5),
    "a range": lambda: dual.arange(0.0, 3.0, 0.5).reshape(3, 2),
    "points": lambda: dual.linspace(0, 1, 6).reshape(3, 2),
    "a dtype by name": lambda: dual.ones(3, 2, dtype=dual.float32),
}


@pytest.mark.parametrize("made", MADE)
def test_what_a_program_makes_of_the_default_dtype_is_in_double_precision_with_the_rest(made: str) -> None:
    def body() -> Any:
        layer = dual.nn.Linear(2, 3)
        return layer(at.random_tensor(shape=(4, 2))) @ MADE[made]()  # its operands must have the same dtype

    program = trial(body).program
    wide = replay(widened(program)[0], TorchFramework())
    assert wide.error is None
    made_wide = [value for value in wide.values if isinstance(value, torch.Tensor) and value.is_floating_point()]
    assert {value.dtype for value in made_wide} == {torch.float64}


def test_whole_numbers_stay_whole_in_double_precision() -> None:
    program = trial(lambda: dual.arange(4) + dual.full((4,), 2) + at.random_tensor(shape=(4,))).program
    wide = replay(widened(program)[0], TorchFramework())
    assert [value.dtype for value in wide.values if isinstance(value, torch.Tensor)][:2] == [torch.int64, torch.int64]
