"""Arrays: one choice each, in every dtype, within their bounds, and with the requested contents."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from generators import (
    CONTENTS,
    DTYPES,
    BadBounds,
    Bits,
    GeneratorError,
    Source,
    Spec,
    array_from,
    choice_array,
    constant,
    distinct,
    dtype_name,
    indices,
    numpy_dtype,
    oneof,
    random,
    random_array,
    random_bool,
    round_bfloat16,
    special,
    special_values,
    ties,
    using,
)
from generators.dtypes import COMPLEX, FLOATING, INTEGRAL, float_range

ARRAY = random_array((3, 4))


def parts(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.view(array.real.dtype) if np.iscomplexobj(array) else array


def test_an_array_is_one_choice_and_is_made_from_it_again() -> None:
    with using(Source(1)) as source:
        drawn = ARRAY.value()
    assert [choice.kind for choice in source.choices] == ["bits"]
    again = array_from(Spec((3, 4), "float32"), int(source.choices[0].value))
    assert drawn.data.tobytes() == again.tobytes()


def test_an_array_is_the_same_throughout_a_trial_and_fresh_in_the_next() -> None:
    with using(Source(1)):
        first = ARRAY.value()
        assert ARRAY.value() is first
    with using(Source(2)):
        assert ARRAY.value().data.tobytes() != first.data.tobytes()


def test_contents_are_the_same_on_every_machine() -> None:
    digests = {}
    for contents in sorted(CONTENTS):
        dtype = "int32" if contents == "indices" else "float32"
        array = array_from(Spec((5, 7), dtype, -3 if dtype == "float32" else 0, 40, contents), 2023)
        digests[contents] = hashlib.sha256(array.tobytes()).hexdigest()[:12]
    assert digests == {
        "distinct": "1e36d1f75ccc",
        "indices": "d0e7ac6669df",
        "integers": "7cb4ab16b425",
        "one_hot": "9238f2a9f6e4",
        "sorted": "9cbe037911cc",
        "special": "297e26749750",
        "ties": "48fb8f3e3da3",
        "uniform": "d05ba6a57626",
    }


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 0, 3), (2, 3, 4, 1, 2, 2)])
def test_every_dtype_is_drawn_in_every_shape(dtype: str, shape: tuple[int, ...]) -> None:
    for contents in CONTENTS:
        if (contents == "indices" and dtype not in INTEGRAL) or (
            contents == "distinct" and dtype not in (*FLOATING, *INTEGRAL)
        ):
            continue
        with using(Source(1)):
            drawn = random_array(shape, dtype=dtype, low=0, high=100, contents=contents).value()
        assert drawn.dtype == dtype
        assert drawn.data.dtype == numpy_dtype(dtype)
        assert drawn.data.shape == shape
        assert drawn.data.flags.c_contiguous
        assert drawn.data.flags.writeable


@pytest.mark.parametrize("dtype", [*FLOATING, *COMPLEX])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (0.7, 0.8), (-1e4, 1e4), (1000, 1001.5)])
def test_floats_fill_their_bounds_without_reaching_the_upper_one(dtype: str, low: float, high: float) -> None:
    if (dtype, low) == ("bfloat16", 1000):
        high = 1010  # above 1000, bfloat16 has only every fourth integer
    values = parts(array_from(Spec((4000,), dtype, low, high), 1)).astype(np.float64)
    assert values.min() >= low
    assert values.max() < high
    assert values.min() < low + 0.4 * (high - low)
    assert values.max() > high - 0.4 * (high - low)


def test_bounds_that_leave_a_single_value_give_that_value_whatever_rounding_does() -> None:
    for value in np.linspace(0.5, 3, 40, dtype=np.float32):
        spec = Spec((1000,), "float32", float(value), float(np.nextafter(value, np.float32(9))))
        assert np.unique(array_from(spec, 1)).tolist() == [value]


def test_floats_are_uniform() -> None:
    for dtype in ("float32", "float64", "float16"):
        values = array_from(Spec((8000,), dtype, -1, 3), 1).astype(np.float64)
        counts, _ = np.histogram(values, bins=8, range=(-1, 3))
        assert all(880 < count < 1120 for count in counts), (dtype, counts)


@pytest.mark.parametrize("dtype", INTEGRAL)
def test_whole_numbers_are_uniform_and_reach_all_values(dtype: str) -> None:
    counts = Counter(array_from(Spec((8000,), dtype, 3, 11), 1).tolist())
    assert set(counts) == set(range(3, 11))
    assert all(880 < count < 1120 for count in counts.values())


@pytest.mark.parametrize("dtype", INTEGRAL)
def test_the_whole_range_of_an_integral_dtype_can_be_drawn(dtype: str) -> None:
    limits = np.iinfo(dtype)
    low, high = int(limits.min), int(limits.max) + 1
    values = array_from(Spec((2000,), dtype, low, high), 1).tolist()
    width = high - low
    assert min(values) < low + width // 50
    assert max(values) >= high - width // 50
    assert abs(sum(values) / len(values) - (low + high) / 2) < width / 25


def test_the_default_bounds_give_zeros_in_integral_dtypes_and_true_and_false_in_bool() -> None:
    assert not array_from(Spec((50,), "int64"), 1).any()
    assert set(array_from(Spec((50,), "bool"), 1).tolist()) == {True, False}


def test_whole_numbers_in_floating_dtypes() -> None:
    for dtype in (*FLOATING, *COMPLEX):
        values = parts(array_from(Spec((300,), dtype, -2, 3, "integers"), 1))
        assert set(values.tolist()) == {-2.0, -1.0, 0.0, 1.0, 2.0}
    large = array_from(Spec((300,), "float16", 0, 1e6, "integers"), 1)
    assert np.isfinite(large).all()


def test_ties_have_few_values() -> None:
    assert len(np.unique(array_from(Spec((200,), "float32", contents="ties"), 1))) == 3
    assert len(np.unique(array_from(Spec((200,), "float32", contents=ties(7)), 1))) == 7


def test_sorted_ascends_along_the_last_dimension() -> None:
    values = array_from(Spec((4, 9), "float32", contents="sorted"), 1)
    assert (np.diff(values, axis=-1) >= 0).all()
    assert not (np.diff(values, axis=0) >= 0).all()


def test_one_hot_has_a_single_one_in_each_row() -> None:
    values = array_from(Spec((100, 5), "float32", contents="one_hot"), 1)
    assert (values.sum(axis=-1) == 1).all()
    assert set(values.argmax(axis=-1).tolist()) == {0, 1, 2, 3, 4}
    assert array_from(Spec((), "int8", contents="one_hot"), 1) == 1


@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGRAL])
def test_distinct_values_are_distinct_and_in_no_order(dtype: str) -> None:
    values = array_from(Spec((10, 10), dtype, 1, 120, "distinct"), 1)
    assert len(np.unique(values)) == 100
    assert values.min() >= 1
    assert values.max() < 120
    assert not (np.diff(values.astype(np.float64)) > 0).all()


def test_all_whole_numbers_between_the_bounds_can_be_distinct() -> None:
    assert sorted(array_from(Spec((256,), "int8", -128, 128, distinct), 1).tolist()) == list(range(-128, 128))
    assert array_from(Spec((1,), "int64", -(2**63), 2**63, distinct), 1).shape == (1,)
    wide = array_from(Spec((50,), "int64", -(2**63), 2**63, distinct), 1)
    assert len(np.unique(wide)) == 50


def test_too_few_values_to_be_distinct_are_refused() -> None:
    with pytest.raises(BadBounds, match=r"expected 9 whole numbers .* only 8 are in \[0, 8\)"):
        array_from(Spec((9,), "int32", 0, 8, "distinct"), 1)
    with pytest.raises(BadBounds, match="but the range contains fewer"):
        array_from(Spec((2000,), "bfloat16", 1, 2, "distinct"), 1)
    with pytest.raises(GeneratorError, match="expected a floating or integral dtype, got bool"):
        array_from(Spec((2,), "bool", contents="distinct"), 1)


def test_special_values_are_mixed_in() -> None:
    for dtype in (*FLOATING, *COMPLEX):
        values = parts(array_from(Spec((4000,), dtype, contents="special"), 1)).astype(np.float64)
        edges = special_values("float32" if dtype == "complex64" else "float64" if dtype == "complex128" else dtype)
        assert np.isnan(values).any()
        for edge in edges[1:].astype(np.float64):
            same = values == edge
            assert (np.signbit(values[same]) == np.signbit(edge)).any(), (dtype, edge)
        ordinary = ((values > 0) & (values < 1)).mean()
        assert 0.7 < ordinary < 0.85
    whole = array_from(Spec((400,), "int8", 5, 9, "special"), 1)
    assert set(whole.tolist()) == {-128, -1, 0, 1, 127, 5, 6, 7, 8}


def test_special_values_are_there_even_in_a_small_array_unless_the_rate_is_zero() -> None:
    for seed in range(50):
        assert array_from(Spec((1,), "uint8", 5, 9, special(1e-9)), seed)[0] in (0, 1, 255)
        assert array_from(Spec((1,), "uint8", 5, 9, special(0)), seed)[0] in (5, 6, 7, 8)


def test_the_smallest_special_values_are_subnormal() -> None:
    for dtype in ("float16", "float32", "float64"):
        assert 0 < special_values(dtype)[8] < np.finfo(dtype).tiny
    # The smallest number that rounding to bfloat16 does not make zero.
    smallest = special_values("bfloat16")
    assert round_bfloat16(smallest).tobytes() == smallest.tobytes()
    assert round_bfloat16(smallest[8:9] / 4)[0] == 0


def test_indices_are_valid() -> None:
    assert set(array_from(Spec((200,), "int64", 0, 4, "indices"), 1).tolist()) == {0, 1, 2, 3}
    both = array_from(Spec((200,), "int64", contents=indices(3, negative=True)), 1)
    assert set(both.tolist()) == {-3, -2, -1, 0, 1, 2}
    assert array_from(Spec((0,), "int64", contents=indices(0)), 1).shape == (0,)
    with pytest.raises(BadBounds, match="there is none"):  # 1 is no index of a single element
        array_from(Spec((4,), "int64", 0.5, 1, "indices"), 1)


def test_the_bound_of_indices_may_be_a_generator() -> None:
    classes = random(2, 6)
    target = random_array((40,), dtype=int, contents=indices(classes))
    for seed in range(20):
        with using(Source(seed)):
            assert target.value().data.max() == classes.value() - 1
    with using(Source(1)) as source:
        first = target.value()
        target.forget(source)
        assert source.memo == {}
        assert target.value() is not first


def test_indices_that_cannot_be_are_refused() -> None:
    with pytest.raises(GeneratorError, match="expected an integral dtype, got float32"):
        random_array((3,), contents=indices(4)).value()
    with pytest.raises(BadBounds, match="expected a bound that is a whole number, at least 1, got 0"):
        random_array((3,), dtype=int, contents=indices(0)).value()


def test_a_bound_of_indices_may_be_an_integer_of_numpy() -> None:
    with using(Source(0)):
        assert random_array((100,), dtype=int, contents=indices(np.int64(3))).value().data.max() == 2


def test_contents_may_be_a_function_whose_result_is_checked() -> None:
    def ramp(bits: Bits, spec: Spec) -> np.ndarray[Any, Any]:
        return np.arange(math.prod(spec.shape), dtype=np.float32)

    assert array_from(Spec((4,), "float32", contents=ramp), 1).tolist() == [0, 1, 2, 3]
    with pytest.raises(GeneratorError, match=r"expected shape \(2, 2\) and dtype float32, got \(4,\)"):
        array_from(Spec((2, 2), "float32", contents=ramp), 1)


def test_dtype_bounds_and_contents_may_be_generators() -> None:
    generator = random_array(
        (30,), dtype=oneof("int32", "float64"), low=random(2, 4), high=random(6, 9), contents=oneof("uniform", "sorted")
    )
    seen = set()
    for seed in range(40):
        with using(Source(seed)):
            drawn = generator.value()
        assert drawn.data.min() >= 2
        assert drawn.data.max() < 8
        seen.add((drawn.dtype, bool((np.diff(drawn.data) >= 0).all())))
    assert len(seen) == 4


def test_the_type_of_a_parameter_does_not_reach_into_an_array() -> None:
    size = random(1, 4)
    random_array((size,), low=random(0, 2)).to(float)
    with using(Source(1)):
        assert type(size.value()) is int


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dtype": "float8"}, r"dtype='float8' at .*test_generators_arrays\.py:\d+: expected one of float16, bfloat16"),
        ({"dtype": None}, "dtype=None at .*: expected one of"),
        ({"contents": "primes"}, r"contents='primes' at .*test_generators_arrays\.py:\d+: expected one of uniform"),
        ({"layout": "diagonal"}, r"layout='diagonal' at .*test_generators_arrays\.py:\d+: expected one of contiguous"),
        ({"low": 2, "high": 1}, r"random_array\(low=2, high=1\) at .*test_generators_arrays\.py:\d+: expected finite"),
        ({"high": math.inf}, "expected finite numbers with low < high"),
        ({"high": "1"}, "expected finite numbers with low < high"),
        ({"shape": (2,), "ndim": 1}, "expected either shape, or ndim and dims"),
    ],
)
def test_arguments_that_cannot_be_are_refused_where_they_are_written(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(GeneratorError, match=message):
        random_array(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dtype": "uint8", "low": -1}, "expected bounds within uint8, which holds 0 to 255"),
        ({"dtype": "int32", "low": 0.2, "high": 0.8}, "expected a whole number in"),
        ({"dtype": "float16", "low": 1.0, "high": 1.0001, "shape": ()}, r"random_array at .*\.py:\d+: |^$"),
        ({"dtype": "float16", "low": 1.0001, "high": 1.0002}, "there is none in"),
        ({"low": constant(3), "high": 2}, r"low=3, high=2\) at .*test_generators_arrays\.py"),
        ({"dtype": constant("float8")}, "dtype='float8'"),
        ({"layout": constant("diagonal")}, "layout='diagonal'"),
        ({"contents": constant("primes")}, "contents='primes'"),
    ],
)
def test_arguments_that_turn_out_wrong_when_drawn_are_refused(arguments: dict[str, Any], message: str) -> None:
    if message.endswith("|^$"):  # only the lower bound is within these bounds
        assert random_array(**arguments).value().data == 1.0
        return
    with pytest.raises(GeneratorError, match=message):
        random_array(**arguments).value()


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (float, "float32"),
        (int, "int64"),
        (bool, "bool"),
        (complex, "complex64"),
        (np.float16, "float16"),
        (np.dtype("int8"), "int8"),
        ("bfloat16", "bfloat16"),
        ("torch.bfloat16", "bfloat16"),
    ],
)
def test_dtypes_have_names(dtype: Any, name: str) -> None:
    assert dtype_name(dtype) == name


def test_bfloat16_is_float32_with_an_empty_lower_half() -> None:
    assert numpy_dtype("bfloat16") == np.float32
    for contents in ("uniform", "special", "integers"):
        values = array_from(Spec((500,), "bfloat16", -5, 5, contents), 1)
        assert not (values.view(np.uint32) & 0xFFFF).any()


def test_rounding_to_bfloat16_is_to_nearest_and_ties_to_even() -> None:
    one_up = 1 + 2.0**-7
    values = np.array([1 + 2.0**-8, one_up + 2.0**-8, 1 + 2.0**-8 + 2.0**-20, -0.0, np.inf, 3.4e38], dtype=np.float32)
    expected = np.array([1, 1 + 2.0**-6, one_up, -0.0, np.inf, np.inf], dtype=np.float32)
    assert round_bfloat16(values).tobytes() == expected.tobytes()
    quiet = np.array([0x7F800001, 0xFFFFFFFF], dtype=np.uint32).view(np.float32)
    assert np.isnan(round_bfloat16(quiet)).all()


@pytest.mark.parametrize("dtype", FLOATING)
def test_the_values_nearest_to_the_bounds_lie_within_them(dtype: str) -> None:
    for low, high in [(0.1, 0.3), (-0.3, -0.1), (0, 1), (-1, 0), (-1e-45, 1e-30), (-1e300, 1)]:
        least, greatest = float_range(dtype, low, high) if (dtype, low) != ("float16", -1e-45) else (0.0, 0.0)
        assert low <= least <= greatest < high
    assert float_range(dtype, 0, 1)[0] == 0


def test_picks_out_of_a_sequence() -> None:
    with using(Source(1)):
        drawn = choice_array([2, 3, 5], (300,)).value()
        assert (drawn.dtype, drawn.data.dtype) == ("int64", np.int64)
        assert set(drawn.data.tolist()) == {2, 3, 5}
        assert choice_array(4).value().data.shape == ()
        assert sorted(choice_array(6, 6, replace=False).value().data.tolist()) == list(range(6))
        assert choice_array([0.5, 1.5], (2, 2), dtype=float).value().data.dtype == np.float32


def test_picks_follow_their_chances() -> None:
    with using(Source(1)):
        counts = Counter(choice_array(3, 3000, p=[0.5, 0.0, 0.5]).value().data.tolist())
        assert set(counts) == {0, 2}
        assert 1400 < counts[0] < 1600
    firsts = Counter()
    for seed in range(600):
        with using(Source(seed)):
            picked = choice_array(3, 2, replace=False, p=[0.8, 0.1, 0.1]).value().data.tolist()
        assert len(set(picked)) == 2
        firsts[picked[0]] += 1
    assert 440 < firsts[0] < 520


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"a": []}, "expected a to be a whole number above 0 or a sequence that is not empty"),
        ({"a": 0}, "expected a to be a whole number above 0"),
        ({"a": 2, "p": [0.5, 0.6]}, "expected p to be 2 probabilities with sum 1"),
        ({"a": 2, "p": [1.0]}, "expected p to be 2 probabilities with sum 1"),
        ({"a": 2, "size": 3, "replace": False}, "expected 3 or more elements to pick from without replacement, got 2"),
        ({"a": 2, "size": 2, "replace": False, "p": [1, 0]}, "got 1"),
        ({"a": [1, 2.5]}, "expected a dtype that holds what is picked, got int64"),
        ({"a": 2, "replace": "no"}, "expected replace to be True or False, got 'no'"),
        ({"a": 2, "replace": constant("no")}, "expected replace to be True or False, got 'no'"),
        ({"a": 2, "p": constant([0.5, 0.6])}, "expected p to be 2 probabilities with sum 1"),
        ({"a": 2, "p": ["half", "half"]}, "expected p to be 2 probabilities with sum 1"),
    ],
)
def test_picks_that_cannot_be_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(GeneratorError, match=rf"choice_array at .*test_generators_arrays\.py:\d+: {message}|{message}"):
        choice_array(**arguments).value()


def test_each_argument_of_picks_may_be_a_generator() -> None:
    drawn = []
    for seed in range(40):
        with using(Source(seed)):
            picks = choice_array(2, 2, replace=random_bool(), p=oneof([0.5, 0.5], [0.1, 0.9]), dtype=oneof(int, float))
            drawn.append(picks.value())
    assert {pick.dtype for pick in drawn} == {"int64", "float32"}
    assert {len({*pick.data.tolist()}) for pick in drawn} == {1, 2}


@pytest.mark.parametrize("count", [1, 2, 7, 64, 65, 1000, 4096])
def test_some_of_a_range_are_different_numbers_out_of_all_of_it(count: int) -> None:
    for seed in range(30):
        for most in {1, count // 4, count}:
            some = Bits(seed).some(count, most)
            assert len({*some.tolist()}) == most
            assert all(0 <= number < count for number in some)
    firsts = {int(Bits(seed).some(count, 1)[0]) for seed in range(200)}
    assert len(firsts) > min(count, 100) // 2
