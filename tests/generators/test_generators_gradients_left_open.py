"""In a few trials some or all tensors require no grad, if the test leaves that open."""

from __future__ import annotations

import itertools

from generators import Source, drawn_requires_grad, explored_array, leaves_out_gradients, using
from generators.plan import row
from generators.source import TRIAL_BITS


def drawn(index: int, *, all_require_grad: bool = False, is_sized: bool = True) -> tuple[list[bool], Source]:
    """Return whether each of three tensors of trial `index` requires grad."""
    source = Source(index << TRIAL_BITS | 7)
    source.all_require_grad = all_require_grad
    with using(source):
        return [drawn_requires_grad(is_sized=is_sized) for _ in range(3)], source


def open_layout_of(index: int) -> str:
    """Return the layout of a tensor of three dimensions in trial `index`."""
    with using(Source(index << TRIAL_BITS | 7)):
        return explored_array(3).layout


def test_within_twenty_trials_each_choice_of_three_tensors_requires_grad_alone() -> None:
    found = [drawn(index)[0] for index in range(20)]
    assert {tuple(one) for one in found} == set(itertools.product((False, True), repeat=3))
    assert found.count([True] * 3) == 13
    assert found[:4] == [[True] * 3] * 4


def test_tensors_of_open_sizes_have_gradients_where_rows_lie_apart() -> None:
    """Most tests of a tensor whose sizes are all open have this tensor only."""
    apart = [index for index in range(20) if open_layout_of(index) == "pitched"]
    assert apart
    assert all(drawn(index, is_sized=False)[0] == [True] * 3 for index in apart)


def test_a_test_of_one_tensor_has_gradients_of_all_sizes_and_layouts_in_both_precisions() -> None:
    """It has none in three trials: in one no tensor requires grad, and in two the first one does not."""
    kinds = {index: row(index) for index in range(20)}
    left = [one for index, one in kinds.items() if drawn(index, is_sized=False)[0][0]]
    assert len(left) == 17
    for levels in (("sizes", "dtype"), ("layout", "dtype")):
        lost = {tuple(map(one.level, levels)) for one in {*kinds.values()} - {*left}}
        assert lost <= {tuple(map(one.level, levels)) for one in left}


def test_longer_runs_have_nan_and_infinities_without_gradients() -> None:
    """Frameworks take other paths for inference, whose fault may be about these."""
    left_out = [index for index in range(200) if not drawn(index)[0][0] and row(index).level("sizes") != "ones"]
    assert {"nan", "infinite"} <= {row(index).level("values") for index in left_out}
    assert any(row(index).level("values") == "nan" for index in left_out if not any(drawn(index)[0]))


def test_a_source_says_whether_the_plan_left_out_gradients() -> None:
    for index in range(20):
        required, source = drawn(index)
        assert leaves_out_gradients(source) == (not all(required))


def test_a_trial_can_demand_all_gradients_and_its_choices_repeat_that() -> None:
    for index in range(20):
        required, source = drawn(index, all_require_grad=True)
        assert required == [True] * 3
        again = Source(source.seed, source.choices)
        with using(again):
            assert [drawn_requires_grad() for _ in range(3)] == required
