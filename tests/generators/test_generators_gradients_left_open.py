"""In a few trials some or all tensors require no grad, if the test leaves that open."""

from __future__ import annotations

from generators import Source, drawn_requires_grad, leaves_out_gradients, using
from generators.plan import row
from generators.source import TRIAL_BITS


def drawn(index: int, *, all_require_grad: bool = False) -> tuple[list[bool], Source]:
    """Return whether each of three tensors of trial `index` requires grad."""
    source = Source(index << TRIAL_BITS | 7)
    source.all_require_grad = all_require_grad
    with using(source):
        return [drawn_requires_grad() for _ in range(3)], source


def test_within_twenty_trials_the_first_the_second_the_others_and_all_tensors_are_without_a_gradient() -> None:
    found = [drawn(index)[0] for index in range(20)]
    assert [False] * 3 in found
    assert [False, True, True] in found
    assert [True, False, False] in found
    assert [True, False, True] in found
    assert found.count([True] * 3) == 16
    assert found[:10] == [[True] * 3] * 10


def test_a_test_of_one_tensor_has_gradients_of_all_sizes_and_layouts_in_both_precisions() -> None:
    """It has none in two trials: in one no tensor requires grad, and in the other all but the first do."""
    kinds = {index: row(index) for index in range(20)}
    left = [one for index, one in kinds.items() if drawn(index)[0][0]]
    for levels in (("sizes", "dtype"), ("layout", "dtype")):
        lost = {tuple(map(one.level, levels)) for one in {*kinds.values()} - {*left}}
        assert lost <= {tuple(map(one.level, levels)) for one in left}


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
