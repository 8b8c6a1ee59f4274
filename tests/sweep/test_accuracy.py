"""Errors in units in the last place are measured, merged, and shown if the candidate's are much larger."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.report import sweep_markdown
from autotest.results.accuracy import Accuracy, Errors, in_ulps
from autotest.results.sweep import Cell, CellKey, SweepMap, SweepRow, less_accurate
from autotest.results.sweep_format import as_data
from autotest.sources.hard_inputs import PLAN, hard_inputs
from autotest.sweeping.extended_precision import HAS_MORE_DIGITS, exactly
from tests.sweep.planted import TORCH, failing, fault, swept
from tests.sweep.test_mutations import program

CELL = "exp/function/float32"


def test_an_error_is_counted_in_units_of_the_exact_results_own_size() -> None:
    exact = np.array([1.0, 1.5, 4.0, 1e-45, 0.0])
    given = exact + np.array([2.0**-23, -(2.0**-23), 2.0**-21, 2.0**-149, 2.0**-149])
    assert in_ulps(given, exact, "float32").tolist() == pytest.approx([1, 1, 1, 1, 1])
    assert in_ulps(np.array([1 + 2.0**-7]), np.array([1.0]), "bfloat16").tolist() == [1]


def test_what_is_not_finite_says_nothing() -> None:
    exact = np.array([np.nan, np.inf, 1e39, 1.0, 1.0])
    assert in_ulps(np.array([1.0, 1.0, 1.0, np.nan, 1.0]), exact, "float32").tolist() == [0]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_units_are_those_of_the_definition_for_numbers_of_all_sizes(dtype: str) -> None:
    digits, least = {"float32": (24, -126), "float16": (11, -14), "bfloat16": (8, -126)}[dtype]
    random = np.random.default_rng(0)
    exact = np.ldexp(random.uniform(-1, 1, 600), np.resize(np.arange(least - 30, 15), 600))
    exact[:4] = 0.0, -0.0, 2.0**least, 5e-324
    given = (1 + 2.0**-digits) * exact + random.uniform(-1, 1, 600) * 2.0 ** (least - digits)
    units = [2.0 ** (max(math.frexp(one)[1] - 1 if one else least, least) - digits + 1) for one in exact.tolist()]
    expected = [
        abs(Fraction(theirs) - Fraction(own)) for theirs, own in zip(given.tolist(), exact.tolist(), strict=True)
    ]
    told = in_ulps(given, exact, dtype).tolist()
    assert told == pytest.approx([float(off) / unit for off, unit in zip(expected, units, strict=True)])


def test_what_is_never_off_is_counted_as_such() -> None:
    errors = Errors()
    errors.add(np.zeros(5))
    errors.add(np.full(3, 2.0**-11))
    assert errors.bins == {-80: 8}
    errors.add(np.array([0.0, 1.0]))
    assert errors.bins == {-80: 9, 0: 1}


def test_a_quantile_is_that_of_all_errors_that_were_merged() -> None:
    one, other = Errors(), Errors()
    one.add(np.full(98, 0.5))
    other.add(np.array([8.0, 100.0]))
    one.merge(other)
    assert (one.quantile(0.5), one.quantile(0.99), one.greatest) == (0.5, 8.0, 100.0)
    assert Errors().quantile(0.99) == 0


def inexact(exp: Any) -> Any:
    """Return torch with an error of about thirty units in the last place, which all default tolerances allow."""
    return lambda x: exp(x) * (1 + 30 * 2.0**-23)


def mapped(cell: Cell) -> SweepMap:
    key = CellKey("exp", "function", "float32")
    return SweepMap(
        ("torch", "faulty"), {}, 0, "autotest sweep", {key: SweepRow(key, "elementwise, unary", "operators", cell)}
    )


def test_a_candidate_that_agrees_and_is_less_accurate_is_shown() -> None:
    cell = swept(fault("exp", inexact), CELL, "sample", "hard")
    assert "value" not in failing(cell)
    made = mapped(cell)
    assert [str(row.key) for row in less_accurate(made)] == [CELL]
    assert f"| `{CELL}` |" in sweep_markdown.page(made, [])
    (found,) = as_data(made, [])["cells"]
    assert found["accuracy"]["worse"]
    assert found["accuracy"]["candidate"][0] > 20
    assert found["accuracy"]["reference"][0] < 2


@pytest.mark.skipif(not HAS_MORE_DIGITS, reason="a long double is a double on this machine")
def test_errors_of_double_precision_are_measured_in_extended_precision() -> None:
    off = fault("exp", lambda exp: lambda x: exp(x) * (1 + 30 * 2.0**-52))
    cell = swept(off, "exp/function/float64", "sample")
    assert "value" not in failing(cell)
    assert cell.accuracy is not None
    assert cell.accuracy.candidate.greatest > 20
    assert 0 < cell.accuracy.reference.greatest < 2
    assert cell.accuracy.worse


def test_what_numpy_does_not_have_is_not_measured_in_double_precision() -> None:
    assert swept(TORCH, "erf/function/float64", "sample").accuracy is None
    assert swept(TORCH, "nn.CELU/module/float64", "sample").accuracy is None


def test_nor_is_what_numpy_computes_with_constants_of_double_precision() -> None:
    number = np.array([100.37])
    calls = (
        tensor_call(0, 0, Array(number, "float64"), requires_grad=False),
        Call("function", "sinc", (Ref(0),), {}, 1),
    )
    assert exactly(Program(calls, (Array(number, "float64"),)), np.sinc(number)) is None


def test_nor_is_what_the_order_of_computing_decides() -> None:
    arrays = tuple(Array(np.array([number]), "float64") for number in (np.inf, 1.0))
    calls = [tensor_call(at, at, array, requires_grad=False) for at, array in enumerate(arrays)]
    calls.append(Call("function", "lerp", (Ref(0), Ref(1), 0.5), {}, 2))
    assert exactly(Program(tuple(calls), arrays), np.array([np.inf])) is None


@pytest.mark.skipif(not HAS_MORE_DIGITS, reason="a long double is a double on this machine")
def test_a_half_of_a_unit_of_double_precision_is_seen() -> None:
    exact = np.longdouble(1) + np.ldexp(np.longdouble(1), -53)
    assert in_ulps(np.array([1.0]), np.array([exact]), "float64").tolist() == [0.5]


def test_torch_beside_itself_is_as_accurate() -> None:
    cell = swept(TORCH, CELL, "sample", "hard")
    assert cell.accuracy is not None
    assert cell.accuracy.elements > 100
    assert cell.accuracy.reference == cell.accuracy.candidate
    assert less_accurate(mapped(cell)) == []


def test_complex_results_of_real_inputs_are_judged_and_not_measured() -> None:
    cell = swept(TORCH, "fft.rfft/function/float32", "sample")
    assert cell.accuracy is None
    assert not any("could not be judged" in reason for reason in cell.left_out)


def test_half_a_unit_is_as_good_as_it_gets() -> None:
    found = Accuracy()
    found.reference.add(np.array([0.01]))
    found.candidate.add(np.array([1.9]))
    assert not found.worse


def test_hard_inputs_are_finite_and_of_the_same_dtypes() -> None:
    made = dict(hard_inputs([program()], 40))
    assert set(made) == {*PLAN, "long sums"}
    for hard in made.values():
        assert [array.dtype for array in hard.arrays] == ["float32", "float32", "int64"]
        assert all(np.isfinite(array.data).all() for array in hard.arrays)
