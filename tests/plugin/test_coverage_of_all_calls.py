"""What is told of an operator is true of all of its calls: those on results, on arrays of the body, on integers."""

from __future__ import annotations

import numpy as np
import pytest

from autotest import autotest, nothing, oneof, random, random_tensor, torch
from autotest.report.coverage import table
from autotest.results.coverage import gaps, merged
from tests.support.covered import coverage_of, covered

pytestmark = pytest.mark.usefixtures("counting")


def x(ndim=2, **said):
    return random_tensor(ndim=ndim, **said)


# -- arguments of calls on results --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (lambda: (torch.cumsum(x(), 1), torch.cumsum(x().abs(), 0)), ["never a negative dim"]),
        (lambda: (torch.cumsum(x(), 1), torch.cumsum(x().abs(), -1)), []),
        (lambda: (torch.cumsum(x(), random(0, 2)), torch.cumsum(x().abs(), -1)), []),
        (lambda: (torch.cumsum(x(), 1), torch.cumsum(x().abs(), 1)), ["dim always 1"]),
    ],
)
def test_a_value_that_an_argument_has_beside_results_counts(body, lines):
    assert gaps(covered(body)).get("cumsum", []) == lines


def test_an_argument_that_calls_on_results_leave_out_is_not_always_given():
    coverage = covered(lambda: (torch.sum(x(), 1), torch.sum(x().abs())))
    assert gaps(coverage)["sum"] == ["dim always 1 where it is given"]


def test_a_number_beside_which_an_operator_gets_another_one_with_results_is_not_always_that():
    assert "truediv" not in gaps(covered(lambda: (x() / 2, x().abs() / 3)))
    assert "truediv" not in gaps(covered(lambda: (x() / 2, x().abs() / (x().abs() + 1))))
    assert gaps(covered(lambda: (x() / 2, x().abs() / 2)))["truediv"] == ["other always 2"]


def test_an_argument_that_was_accepted_beside_results_alone_was_accepted():
    def body():
        image = random_tensor(ndim=4, dim2=6, dim3=6)
        pooled = torch.nn.functional.max_pool2d(image.abs(), 3, padding=1)
        return pooled, torch.nn.functional.max_pool2d(image, 3, padding=oneof(2, nothing()))

    assert "padding never accepted" not in gaps(covered(body))["nn.functional.max_pool2d"]


def test_an_argument_has_one_name_however_calls_spell_it():
    both = covered(lambda: (torch.amax(x(), axis=1), torch.amax(x(), dim=0)))
    assert gaps(both)["amax"] == ["never a negative dim"]
    assert " no " not in table(both)[1]
    assert "amax" not in gaps(covered(lambda: (torch.amax(x(), axis=-1), torch.amax(x().abs(), dim=0))))
    assert gaps(covered(lambda: torch.amax(x(), axis=1)))["amax"] == ["axis always 1"]


# -- arrays of the body -------------------------------------------------------------------------------------


def _numbers(count=20) -> np.ndarray:
    return np.linspace(1, 2, count, dtype="float32")


@pytest.mark.parametrize("make", ["tensor", "as_tensor", "from_numpy"])
def test_a_tensor_that_the_body_makes_of_an_array_is_an_input(make):
    coverage = covered(lambda: torch.relu(getattr(torch, make)(_numbers())))
    assert "never a negative value" in gaps(coverage)["relu"]
    assert coverage["relu"]["past a block"] == 20


def test_an_array_counts_in_the_dtype_of_its_tensor():
    coverage = covered(lambda: torch.relu(torch.tensor(_numbers(), dtype=torch.float64)))
    assert coverage["relu"]["dtype float64"] == 20
    assert "dtype float32" not in coverage["relu"]


def test_operators_under_given_are_judged(tmp_path, monkeypatch):
    hypothesis = pytest.importorskip("hypothesis")
    from autotest.sources.hypothesis_strategies import arrays

    monkeypatch.chdir(tmp_path)

    @hypothesis.settings(deadline=None, max_examples=25, database=None)
    @hypothesis.given(array=arrays(1, low=1, high=2))
    @autotest(n=1)
    def test_relu(array):
        return torch.relu(torch.tensor(array))

    coverage = coverage_of(test_relu)
    assert {"never a negative value", "never a gradient compared"} <= {*gaps(coverage)["relu"]}


# -- integers -----------------------------------------------------------------------------------------------


def test_the_table_counts_negative_numbers_of_all_dtypes():
    column = table(covered(lambda: torch.neg(x(dtype="int64"))))[1].split()[2]
    assert int(column) >= 10
    both = table(merged([covered(lambda: torch.neg(x(dtype="int64", low=-9, high=-1))), covered(_positive)]))[1]
    assert both.split()[2] == "20"


def _positive():
    return torch.neg(x(low=1, high=2))


def test_what_one_of_two_integer_tensors_never_had_is_told():
    coverage = covered(lambda: torch.bitwise_or(x(dtype="int64", low=0, high=5), x(dtype="int64")))
    assert gaps(coverage)["bitwise_or"] == ["never a negative integer in the first tensor"]
    assert gaps(covered(lambda: torch.bitwise_or(x(dtype="int64"), x(dtype="int64")))) == {}
    refused = covered(lambda: torch.pow(x(dtype="int64"), x(dtype="int64", low=0, high=5)))
    assert gaps(refused) == {}
