"""Every planted fault is found, in the cell and by the check that it belongs to; torch beside itself has none."""

from __future__ import annotations

import pytest

from tests.support.faulty import FaultyTorch
from tests.sweep.planted import FAULTS, TORCH, failing, swept


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_in_its_cell(name: str) -> None:
    candidate, cell, check = FAULTS[name]
    found = swept(candidate, cell)
    assert check in failing(found)
    assert any(divergence.check == check and divergence.program for divergence in found.divergences.values())


@pytest.mark.parametrize("cell", sorted({cell for _, cell, _ in FAULTS.values()}))
def test_torch_beside_itself_has_no_fault_there(cell: str) -> None:
    assert failing(swept(TORCH, cell)) == set()


def test_a_fault_of_one_dtype_leaves_the_others_alone() -> None:
    candidate, _, _ = FAULTS["value in one dtype"]
    assert failing(swept(candidate, "exp/function/float32")) == set()


def test_a_fault_of_one_variant_leaves_the_others_alone() -> None:
    candidate, _, _ = FAULTS["value of one variant"]
    assert failing(swept(candidate, "div:floor_rounding/function/float32", "sample")) == set()


def test_what_the_candidate_lacks_is_absent_and_no_agreement() -> None:
    found = swept(FaultyTorch(missing=["erfinv"]), "erfinv/function/float32")
    assert found.status == "absent"
    assert "erfinv" in found.absent


def test_every_sample_is_counted_and_none_ends_the_others() -> None:
    candidate, cell, _ = FAULTS["value"]
    found = swept(candidate, cell, "sample")
    good = swept(TORCH, cell, "sample")
    assert found.samples == good.samples > 1
    passed, total = found.checks["value"]
    assert passed == 0
    assert total == good.checks["value"][1]


def test_an_operator_whose_contents_nobody_specifies_says_nothing_of_values() -> None:
    found = swept(TORCH, "bernoulli/function/float32", "sample")
    assert "value" not in found.checks
    assert found.vacuous == found.accepted > 0
    assert found.status == "vacuous"


def test_what_torch_itself_gives_differently_every_time_is_no_finding() -> None:
    """The gradient of `sgn` holds uninitialised memory in torch 2.0.1."""
    assert failing(swept(TORCH, "sgn/function/float32", "sample")) == set()


@pytest.mark.parametrize("kind", ["noncontiguous", "mutation"])
def test_random_numbers_drawn_into_a_view_are_random_in_its_base(kind: str) -> None:
    assert failing(swept(TORCH, "uniform/function/float32", kind)) == set()


def test_a_module_that_drops_in_place_leaves_nothing_to_compare() -> None:
    assert failing(swept(TORCH, "nn.Dropout/module/float64", "sample")) == set()


def test_a_sample_of_more_dimensions_than_numpy_has_is_left_out() -> None:
    found = swept(TORCH, "amax/function/float32", "error")
    assert any("dimensions" in reason for reason in found.left_out)
