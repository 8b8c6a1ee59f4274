"""Trials have several kinds of cotangents, and simple ones first."""

from __future__ import annotations

import numpy as np
import pytest

from generators import Cotangent, Source, apply_steps, drawn_cotangent, using
from generators.source import TRIAL_BITS
from tests.support import drawing


def trials(shape: tuple[int, ...], dtype: str = "float32", *, plain: bool = False) -> list[Cotangent]:
    return drawing.trials(lambda: drawn_cotangent(shape, dtype, plain=plain))


def layout(one: Cotangent) -> str:
    kinds = {"expand": "expanded", "transpose": "transposed"}
    sliced = {1: "pitched", 2: "strided"}
    return " ".join(kinds.get(name) or sliced[details[-1]] for name, *details in one.steps) or "contiguous"


def test_every_kind_comes_within_twenty_trials() -> None:
    drawn = trials((4, 5))
    assert {layout(one) for one in drawn} == {"contiguous", "expanded", "transposed", "strided", "pitched"}
    assert any((one.base == 1).all() for one in drawn)
    assert any(np.abs(one.base).max() > 2 and (one.base == 0).any() for one in drawn)
    assert sum(not one.steps for one in drawn) >= 12


def test_of_three_dimensions_the_rows_of_each_matrix_are_whole_with_a_gap_between_matrices() -> None:
    assert any(one.steps == (("slice", 1, 1, 5, 1),) for one in trials((3, 4, 5)))


def test_one_is_a_single_number_in_memory_and_another_repeats_along_one_dimension() -> None:
    strides = {apply_steps(one.base, one.steps).strides for one in trials((4, 5)) if layout(one) == "expanded"}
    assert strides == {(0, 0), (0, 4)}


def test_the_first_trials_have_small_contiguous_ones() -> None:
    for one in trials((4, 5))[:8]:
        assert layout(one) == "contiguous"
        assert np.abs(one.base).max() <= 1


def test_where_views_are_no_use_all_are_contiguous() -> None:
    assert {layout(one) for one in trials((4, 5), plain=True)} == {"contiguous"}


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (0, 3), (7,), (4, 5), (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64"])
def test_all_shapes_and_dtypes_have_one(shape: tuple[int, ...], dtype: str) -> None:
    for one in trials(shape, dtype):
        assert (apply_steps(one.base, one.steps).shape, one.dtype) == (shape, dtype)


@pytest.mark.parametrize("shape", [(), (1,)])
def test_a_single_number_is_not_zero(shape: tuple[int, ...]) -> None:
    assert all(one.base.all() for one in trials(shape) if not one.steps)


def test_shrinking_leads_to_the_plain_kind() -> None:
    source = Source(8 << TRIAL_BITS | 7)
    with using(source):
        assert layout(drawn_cotangent((4, 5), "float32")) == "expanded"
    with using(Source(8 << TRIAL_BITS | 7, [source.choices[0]._replace(value=0)])):
        assert layout(drawn_cotangent((4, 5), "float32")) == "contiguous"
