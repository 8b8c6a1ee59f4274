"""Values: the tolerance formula, exact dtypes, NaN, infinities, extremes, and objects of unknown types."""

from __future__ import annotations

import numpy as np
import pytest

from autotest.base.settings import DEFAULT_TOLERANCES
from autotest.comparison import TensorValue

BIG = 3000  # elements: more than the fast path for small arrays accepts


def test_tolerance_is_relative_to_the_reference_not_to_the_candidate(tensor, symptoms):
    # The difference is 10: more than 9.5 % of 100, and less than 9.5 % of 110.
    assert symptoms(tensor([100]), tensor([110]), rtol=0.095, atol=0.0) == ["value"]
    assert symptoms(tensor([110]), tensor([100]), rtol=0.095, atol=0.0) == []


def test_rtol_and_atol_are_not_swapped(tensor, symptoms):
    assert symptoms(tensor([1000]), tensor([1001]), rtol=0.01, atol=0.0) == []
    assert symptoms(tensor([1000]), tensor([1001]), rtol=0.0, atol=0.01) == ["value"]
    assert symptoms(tensor([0]), tensor([0.005]), rtol=0.01, atol=0.0) == ["value"]
    assert symptoms(tensor([0]), tensor([0.005]), rtol=0.0, atol=0.01) == []


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("size", [1, BIG])
def test_each_dtype_has_its_own_tolerance(tensor, symptoms, dtype, size):
    rtol, atol = DEFAULT_TOLERANCES[dtype]
    allowed = atol + rtol
    expected = np.ones(size)
    inside, outside = expected.copy(), expected.copy()
    inside[-1] += 0.7 * allowed
    outside[-1] += 2.0 * allowed
    assert symptoms(tensor(expected, dtype), tensor(inside, dtype)) == []
    assert symptoms(tensor(expected, dtype), tensor(outside, dtype)) == ["value"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [5, BIG])
def test_one_wrong_element_is_seen_in_an_array_of_any_size(tensor, symptoms, dtype, size):
    expected = np.linspace(-1, 1, size)
    for at in (0, size // 2, size - 1):
        for off in (3e-4, -3e-4):
            actual = expected.copy()
            actual[at] += off
            assert symptoms(tensor(expected, dtype), tensor(actual, dtype)) == ["value"]


def test_equal_means_do_not_make_equal_tensors(tensor, symptoms):
    assert symptoms(tensor([1, 2, 3]), tensor([3, 2, 1])) == ["value"]


def test_the_bound_itself_is_allowed(tensor, symptoms):
    assert symptoms(tensor([4], "float64"), tensor([5], "float64"), rtol=0.125, atol=0.5) == []
    assert symptoms(tensor([4], "float64"), tensor([5.0000001], "float64"), rtol=0.125, atol=0.5) == ["value"]


def test_a_tolerance_of_zero_demands_equality(tensor, symptoms):
    next_up = np.nextafter(np.float32(1), np.float32(2))
    assert symptoms(tensor([1]), tensor([next_up]), rtol=0.0, atol=0.0) == ["value"]
    assert symptoms(tensor([1]), tensor([1]), rtol=0.0, atol=0.0) == []


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64", "bool"])
def test_integers_and_booleans_are_exact_whatever_the_tolerance(tensor, symptoms, dtype):
    assert symptoms(tensor([0, 1], dtype), tensor([0, 0], dtype), rtol=10.0, atol=10.0) == ["value"]
    assert symptoms(tensor([0, 1], dtype), tensor([0, 1], dtype)) == []


def test_100000_is_not_100001(tensor, symptoms):
    assert symptoms(tensor([100000], "int64"), tensor([100001], "int64")) == ["value"]


@pytest.mark.parametrize(
    ("dtype", "low", "high"), [("int64", -(2**63), 2**63 - 1), ("uint64", 0, 2**64 - 1), ("int8", -128, 127)]
)
def test_differences_of_extreme_integers_do_not_wrap_around(tensor, compare, dtype, low, high):
    for expected, actual in ((low, high), (high, low)):
        (found,) = compare(tensor([expected], dtype), tensor([actual], dtype))
        assert found.statistics.greatest_abs == float(high - low)
        assert found.statistics.ulps is None
    (found,) = compare(tensor([high], dtype), tensor([high - 1], dtype))
    assert found.statistics.greatest_abs == 1.0


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("size", [1, BIG])
@pytest.mark.parametrize(
    ("expected", "actual"),
    [(NAN, 0.0), (0.0, NAN), (INF, 1.0), (1.0, INF), (INF, -INF), (-INF, INF), (INF, NAN), (NAN, INF), (INF, 6e4)],
)
def test_a_nan_or_infinity_on_one_side_only_is_a_mismatch(tensor, symptoms, dtype, size, expected, actual):
    one, other = np.ones(size), np.ones(size)
    one[-1], other[-1] = expected, actual
    assert symptoms(tensor(one, dtype), tensor(other, dtype)) == ["value"]
    assert symptoms(tensor(one, dtype), tensor(other, dtype), rtol=1.0, atol=1e6) == ["value"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("size", [4, BIG])
def test_the_same_nans_and_infinities_agree_and_hide_nothing(tensor, symptoms, dtype, size):
    expected = np.ones(size)
    expected[:3] = NAN, INF, -INF
    close, wrong = expected.copy(), expected.copy()
    close[3], wrong[3] = 1 + 1e-9, 1.5
    # 1 + 1e-9 equals 1 except in the widest dtypes. Comparing identical arrays again does no harm.
    assert symptoms(tensor(expected, dtype), tensor(close, dtype)) == []
    assert symptoms(tensor(expected, dtype), tensor(wrong, dtype)) == ["value"]


def test_nans_of_other_bits_are_the_same_nan(tensor, symptoms):
    assert symptoms(tensor([NAN, 1.0]), tensor([-NAN, 1.0])) == []


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_minus_zero_is_zero(tensor, symptoms, dtype):
    assert symptoms(tensor([0.0], dtype), tensor([-0.0], dtype), rtol=0.0, atol=0.0) == []
    assert symptoms(0.0, -0.0) == []


def test_complex_numbers_are_measured_by_modulus(tensor, symptoms):
    # Each part differs by 0.08, and the complex number by 0.113.
    assert symptoms(tensor([1j], "complex64"), tensor([0.08 + 1.08j], "complex64"), rtol=0.0, atol=0.1) == ["value"]
    assert symptoms(tensor([1j], "complex64"), tensor([0.08 + 1.08j], "complex64"), rtol=0.0, atol=0.12) == []
    assert symptoms(tensor([1 + 1j], "complex128"), tensor([1 - 1j], "complex128")) == ["value"]


def test_nan_and_infinity_of_complex_numbers_are_compared_by_parts(tensor, symptoms):
    def both(one: complex, other: complex) -> list[str]:
        return symptoms(tensor([one], "complex64"), tensor([other], "complex64"))

    assert both(complex(1, NAN), complex(NAN, 1)) == ["value"]
    assert both(complex(INF, 1), complex(1, INF)) == ["value"]
    assert both(complex(INF, 1), complex(INF, 2)) == ["value"]
    assert both(complex(INF, 1), complex(INF, -INF)) == ["value"]
    assert both(complex(1, NAN), complex(1.00001, NAN)) == []
    assert both(complex(1, NAN), complex(1.1, NAN)) == ["value"]


def test_half_precision_differences_do_not_overflow(tensor, compare):
    (found,) = compare(tensor([6e4], "float16"), tensor([-6e4], "float16"))
    assert found.statistics.greatest_abs == pytest.approx(1.2e5, rel=1e-3)


@pytest.mark.parametrize("size", [1, BIG])
@pytest.mark.parametrize(("dtype", "most"), [("float32", 3e38), ("float64", 1.7e308), ("complex128", 1.7e308)])
def test_extremes_are_compared_without_a_warning(tensor, symptoms, dtype, most, size):
    high = np.full(size, most)
    assert symptoms(tensor(high, dtype), tensor(-high, dtype)) == ["value"]
    assert symptoms(tensor(high, dtype), tensor(high * (1 - 1e-9), dtype)) == []
    assert symptoms(tensor(high * 1e-300, dtype), tensor(high, dtype)) == ["value"]


def test_zero_size_and_zero_dimensional_tensors_are_compared(tensor, symptoms):
    assert symptoms(tensor(np.zeros((0, 3))), tensor(np.zeros((0, 3)))) == []
    assert symptoms(tensor(np.zeros((0,)), "int64"), tensor(np.zeros((0,)), "float64")) == ["dtype"]
    assert symptoms(tensor(1.0), tensor(1.0)) == []
    assert symptoms(tensor(1.0), tensor(2.0)) == ["value"]
    assert symptoms(tensor(1.0, "complex64"), tensor(2.0, "complex64")) == ["value"]
    assert symptoms(tensor(complex(NAN, 1), "complex64"), tensor(complex(NAN, 1), "complex64"), atol=0.0) == []


def test_arrays_are_compared_by_position_whatever_their_strides(symptoms):
    for base in (np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(6000, dtype=np.float32).reshape(2, 3000)):
        strided = np.asfortranarray(base)
        one, other = TensorValue(base, "float32", "cpu", False), TensorValue(strided, "float32", "cpu", False)
        nearly = TensorValue(strided + np.float32(1e-6), "float32", "cpu", False)
        swapped = TensorValue(base[::-1], "float32", "cpu", False)
        assert symptoms(one, other) == []
        assert symptoms(one, nearly) == []
        assert symptoms(one, swapped) == ["value"]


def test_plain_floats_have_the_tolerance_of_float32(symptoms):
    assert symptoms(1.0, 1.00005) == []
    assert symptoms(1.0, 1.001) == ["value"]
    assert symptoms(1.0, 1.001, rtol=0.01) == []
    assert symptoms(1.0, 1.00005, rtol=0.0, atol=0.0) == ["value"]
    assert symptoms(1 + 1j, 1.00005 + 1j) == []
    assert symptoms(1 + 1j, 1 - 1j) == ["value"]


@pytest.mark.parametrize(("expected", "actual"), [(NAN, 1.0), (INF, 1.0), (1.0, INF), (INF, -INF), (1.7e308, -1.7e308)])
def test_plain_floats_know_nan_and_infinity(symptoms, expected, actual):
    assert symptoms(expected, actual) == ["value"]
    assert symptoms(expected, expected) == []
    assert symptoms(float("nan"), float("nan")) == []


def test_integers_booleans_and_strings_are_exact(symptoms):
    assert symptoms(10**20, 10**20 + 1) == ["value"]
    assert symptoms(True, False) == ["value"]
    assert symptoms("sum", "mean") == ["value"]


def test_arrays_that_are_nobodys_tensor_are_compared_like_tensors(symptoms):
    assert symptoms(np.ones(3), np.ones(3)) == []
    assert symptoms(np.ones(3), np.array([1, 1, 2.0])) == ["value"]
    assert symptoms(np.ones(3), np.ones((1, 3))) == ["shape"]
    assert symptoms(np.ones(3), np.ones(3, np.float32)) == ["dtype"]
    assert symptoms(np.array(["a"]), np.array(["b"])) == ["value"]
    assert symptoms(np.int64(1), np.int64(2)) == ["value"]


class Hostile:
    """An object whose comparison and text raise."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise TypeError("not comparable")

    def __repr__(self) -> str:
        raise RuntimeError("not printable")


def test_objects_that_cannot_be_compared_are_mismatches_and_raise_nothing(compare):
    (found,) = compare(Hostile(), Hostile())
    assert found.symptom == "value"
    assert "Hostile" in found.message
    (found,) = compare(Hostile(), 3)
    assert found.symptom == "structure"
    assert not compare(frozenset((1,)), frozenset((1,)))


def test_numbers_too_long_to_print_are_told_anyway(compare):
    (found,) = compare(10**5000, 10**5000 + 1)
    assert found.symptom == "value"


def test_each_side_is_compared_with_the_other_not_with_itself(tensor, symptoms):
    one, other = tensor([1, 2]), tensor([3, 4])
    assert symptoms(one, one) == symptoms(other, other) == []
    assert symptoms(one, other) == symptoms(other, one) == ["value"]
    assert symptoms((one, other), (one, one)) == symptoms((one, other), (other, other)) == ["value"]


def test_plain_floats_are_judged_relative_to_the_reference_too(symptoms):
    assert symptoms(100.0, 110.0, rtol=0.095, atol=0.0) == ["value"]
    assert symptoms(110.0, 100.0, rtol=0.095, atol=0.0) == []


@pytest.mark.parametrize("size", [5, BIG])
def test_just_beyond_an_absolute_tolerance_is_beyond(tensor, symptoms, size):
    for off, found in ((0.0099, []), (0.0101, ["value"]), (-0.0099, []), (-0.0101, ["value"])):
        actual = np.zeros(size)
        actual[-1] = off
        assert symptoms(tensor(np.zeros(size)), tensor(actual), rtol=0.0, atol=0.01) == found


@pytest.mark.parametrize(("dtype", "off", "atol"), [("float16", 1.2e-4, 1e-5), ("float32", 1e-23, 1e-24)])
def test_differences_whose_squares_vanish_are_seen(tensor, symptoms, dtype, off, atol):
    assert symptoms(tensor([0.0], dtype), tensor([off], dtype), rtol=0.0, atol=atol) == ["value"]
    assert symptoms(tensor([0.0], "float64"), tensor([1e-170], "float64"), rtol=0.0, atol=1e-171) == ["value"]


def test_the_bound_is_not_rounded_to_the_dtype_of_the_values(tensor, symptoms):
    assert symptoms(tensor([2.0**24]), tensor([2.0**24 + 2]), rtol=0.0, atol=1.99999999) == ["value"]
    assert symptoms(tensor([2.0**24]), tensor([2.0**24 + 2]), rtol=0.0, atol=2.0) == []


def test_equal_bytes_of_other_arrays_are_not_equal_values(symptoms):
    """An adapter may hold one dtype in two ways: numbers are compared, and not bytes."""
    bits = TensorValue(np.array([0x3F800000], np.int32), "bfloat16", "cpu", False)
    assert symptoms(bits, TensorValue(np.array([1.0], np.float32), "bfloat16", "cpu", False)) == ["value"]


def test_real_and_complex_numbers_are_compared_where_dtypes_are_let_be(tensor, symptoms):
    for real in (tensor([1.0]), tensor([1], "int64")):
        for other, found in ((1 + 1j, ["value"]), (1 + 0j, [])):
            assert symptoms(real, tensor([other], "complex64"), check_dtype=False) == found
            assert symptoms(tensor([other], "complex64"), real, check_dtype=False) == found


def test_differences_of_single_precision_complex_numbers_do_not_overflow(tensor, compare):
    (found,) = compare(tensor([3e38j], "complex64"), tensor([-3e38j], "complex64"))
    assert found.statistics.greatest_abs == pytest.approx(6e38)
    assert not compare(tensor([3e38j], "complex64"), tensor([-3e38j], "complex64"), rtol=2.1)
