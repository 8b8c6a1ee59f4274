"""The message of a mismatch, its numbers, and the key by which equal findings are recognised."""

from __future__ import annotations

import numpy as np
import pytest

from autotest.comparison import Mismatch, Missing, passing_tolerance
from autotest.comparison.elementwise import differing, ulps_apart


def test_the_sentence_says_how_many_how_far_where_and_what_was_allowed(tensor, compare):
    expected = np.full((4, 6), 0.5)
    actual = expected.copy()
    actual[1, 4], actual[0, 0], actual[3, 5] = 0.502, 0.501, 0.4995
    (found,) = compare(tensor(expected), tensor(actual), "x0.grad", "backward", sides=("torch", "oneflow"))
    assert found.message == (
        "x0.grad: not close. Mismatched 3 / 24 (12.5%). Greatest absolute difference 0.002 at (1, 4): expected 0.5, "
        "actual 0.502 (1e-05 + 0.0001 * |expected| allowed). Greatest relative difference 0.004 at (1, 4). "
        "At most 33554 ULPs apart. expected=torch actual=oneflow"
    )


def test_integers_are_told_as_unequal_with_nothing_allowed(tensor, compare):
    (found,) = compare(tensor([1, 5], "int64"), tensor([1, 7], "int64"))
    assert "not equal. Mismatched 1 / 2 (50%)" in found.message
    assert "difference 2 at (1,): expected 5, actual 7 (none allowed)" in found.message
    assert "ULP" not in found.message


def test_the_greatest_differences_are_found_each_at_its_own_place(tensor, compare):
    (found,) = compare(tensor([[1000.0, 1.0, 5.0]]), tensor([[1003.0, 2.0, 5.0]]))
    numbers = found.statistics
    assert (numbers.mismatched, numbers.total) == (2, 3)
    assert (numbers.greatest_abs, numbers.abs_index) == (3.0, (0, 0))
    assert (numbers.abs_expected, numbers.abs_actual) == (1000.0, 1003.0)
    assert (numbers.greatest_rel, numbers.rel_index) == (1.0, (0, 1))
    assert (numbers.rtol, numbers.atol, numbers.dtype) == (1e-4, 1e-5, "float32")


def test_the_greatest_difference_is_one_that_is_not_allowed(tensor, compare):
    # A difference of 50 is allowed at a million, and one of 1 is not at 2.
    (found,) = compare(tensor([1e6, 2.0]), tensor([1e6 + 50, 3.0]))
    assert (found.statistics.mismatched, found.statistics.abs_index) == (1, (1,))


def test_nan_and_infinity_on_one_side_are_counted_and_are_infinitely_far(tensor, compare):
    expected = tensor([np.nan, 1.0, np.inf, 4.0, np.inf, np.nan])
    (found,) = compare(expected, tensor([0.0, np.nan, -np.inf, 5.0, np.inf, np.nan]))
    assert (found.statistics.mismatched, found.statistics.nonfinite) == (4, 3)
    assert found.statistics.greatest_abs == float("inf")
    assert "in 3" in found.message
    (found,) = compare(tensor([1.0, np.inf]), tensor([2.0, np.inf]))
    assert (found.statistics.greatest_abs, found.statistics.nonfinite) == (1.0, 0)


def test_beside_an_expected_zero_the_relative_difference_is_infinite(tensor, compare):
    (found,) = compare(tensor([0.0]), tensor([1.0]))
    assert found.statistics.greatest_rel == float("inf")


@pytest.mark.parametrize(("dtype", "carrier"), [("float16", "float16"), ("float32", "float32"), ("float64", "float64")])
def test_ulps_count_the_steps_between_neighbours_across_zero_too(dtype, carrier):
    one = np.array([1.0, 0.0, -1.0, 1.0], carrier)
    up = np.nextafter(np.nextafter(one, np.array(np.inf, carrier)), np.array(np.inf, carrier))
    assert ulps_apart(one, up, dtype).tolist() == [2, 2, 2, 2]
    least = np.nextafter(np.array([0.0], carrier), np.array(1.0, carrier))
    assert ulps_apart(-least, least, dtype).tolist() == [2]
    assert ulps_apart(np.array([0.0], carrier), np.array([-0.0], carrier), dtype).tolist() == [0]


def test_ulps_of_bfloat16_are_its_own_and_the_widest_distance_does_not_wrap(tensor, compare):
    assert ulps_apart(np.float32([1.0]), np.float32([1.0078125]), "bfloat16").tolist() == [1]
    most = np.array([np.finfo(np.float64).max])
    assert ulps_apart(-most, most, "float64").tolist() == [2 * (0x7FEFFFFFFFFFFFFF)]
    (found,) = compare(tensor([1.0, np.nan], "bfloat16"), tensor([1.5, 1.0], "bfloat16"))
    assert found.statistics.ulps == 64


def test_numbers_of_half_and_complex_are_shown_as_they_are(tensor, compare):
    (found,) = compare(tensor([0.1], "float16"), tensor([0.2], "float16"))
    assert "expected 0.1, actual 0.2 " in found.message
    (found,) = compare(tensor([1 + 2j], "complex64"), tensor([1 + 3j], "complex64"))
    assert "expected (1+2j), actual (1+3j)" in found.message
    assert found.statistics.ulps is None


def test_a_value_that_differs_in_the_backward_stage_is_a_gradient_mismatch(tensor, compare):
    assert compare(tensor([1]), tensor([2]), "v1.grad")[0].symptom == "gradient"
    assert compare(tensor([1]), tensor([2]), "v1", "backward")[0].symptom == "gradient"
    assert compare(tensor([1]), tensor([2]), "v1", "forward")[0].symptom == "value"
    assert compare(tensor([1]), tensor([[1]]), "v1.grad", "backward")[0].symptom == "shape"


def test_findings_that_differ_in_numbers_only_have_one_key(tensor, compare):
    def key(expected, actual, name):
        return compare(expected, actual, name)[0].key

    assert key(tensor([1.0]), tensor([2.0]), "v3") == key(tensor([[5.0, np.nan]]), tensor([[7.0, 1.0]]), "v14")
    assert key(tensor([1.0]), tensor([[2.0]]), "v3") == key(tensor(np.zeros((2, 3))), tensor(np.zeros(4)), "v1")
    assert key((1, 2), (1,), "v3") == key((1,), (1, 2, 3), "v4")
    assert key(3, 4, "v3") == key(-5, 60, "v9")


def test_findings_of_another_kind_have_another_key(tensor, compare):
    def key(*args, **how):
        return compare(*args, **how)[0].key

    one = tensor([1.0])
    keys = [
        key(one, tensor([2.0])),
        key(one, tensor([[1.0]])),
        key(one, tensor([2.0]), place=".grad"),
        key(one, tensor([2.0]), place=".weight.grad"),
        key(one, tensor([1.0], "float64")),
        key(one, tensor([1], "int64")),
        key(one, None),
        key((1,), [1]),
    ]
    assert len(set(keys)) == len(keys)


def test_a_key_keeps_the_digits_that_belong_to_words():
    found = Mismatch("conv2d", 1, "exception", "forward", "candidate", "conv2d: raised 3 x float32\nand more")
    assert found.key == "conv2d: raised N x float32"


def test_a_mismatch_is_data_that_cannot_be_changed(tensor, compare):
    (found,) = compare(tensor([1]), tensor([2]))
    with pytest.raises(AttributeError):
        found.symptom = "shape"
    assert hash(found) == hash(compare(tensor([1]), tensor([2]))[0])


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("atol", [0.0, 1e-3])
def test_the_passing_tolerance_passes_and_nothing_much_smaller_does(kind, atol):
    draw = np.random.Generator(np.random.PCG64(7))
    for _ in range(20):
        expected = draw.normal(size=12).astype(kind)
        actual = (expected * (1 + 0.1 * draw.normal(size=12))).astype(kind)
        rtol = passing_tolerance(expected, actual, atol)
        assert not differing(expected, actual, rtol, atol).any()
        assert differing(expected, actual, rtol * (1 - 1e-9), atol).any()


def test_the_passing_tolerance_at_its_ends():
    one = np.array([1.0, np.nan, np.inf])
    assert passing_tolerance(one, one.copy(), 0.0) == 0.0
    assert passing_tolerance(np.array([1.0]), np.array([1.5]), 0.5) == 0.0
    assert passing_tolerance(np.array([0.0]), np.array([1.0]), 0.5) == float("inf")
    assert passing_tolerance(np.array([1.0]), np.array([np.nan]), 0.5) == float("inf")
    assert passing_tolerance(np.array([1]), np.array([2]), 5.0) == float("inf")
    assert passing_tolerance(np.array([1]), np.array([1]), 0.0) == 0.0
    assert passing_tolerance(np.zeros((0, 2)), np.zeros((0, 2)), 0.0) == 0.0


def test_the_passing_tolerance_is_found_among_the_smallest_floats_too():
    for expected, gap in ((1e300, 1e284), (1.0, 1e-16), (1e-320, 5e-324), (1e308, 1e308)):
        one, other = np.array([expected]), np.array([expected + gap])
        for atol in (0.0, gap, np.nextafter(gap, 0.0), 0.5 * gap):
            rtol = passing_tolerance(one, other, atol)
            assert rtol == np.inf or not differing(one, other, rtol, atol).any()


@pytest.mark.parametrize(
    ("expected", "actual", "detail"),
    [
        ([1, 2], [1], "length"),
        ({"a": 1}, {"b": 1}, "keys"),
        (1, "expected keys a, actual b", "type"),
        (1, Missing(), "one-sided"),
        (1, 2, ""),
    ],
)
def test_which_way_of_differing_it_is_is_told_beside_the_message(compare, expected, actual, detail):
    (found,) = compare(expected, actual)
    assert found.detail == detail


def test_a_gradient_that_one_side_lacks_is_told_beside_the_message(tensor, compare):
    (found,) = compare(tensor([1.0]), None, "x0.grad", "backward")
    assert (found.symptom, found.detail) == ("gradient", "one-sided")
