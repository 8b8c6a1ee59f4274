"""Literals and arrays in scripts have exactly the recorded values."""

from __future__ import annotations

import ast
import base64
import zlib

import numpy as np
import pytest

from autotest.base.errors import NotReplayable
from autotest.emission import literals


def read(text: str):
    def packed(dtype, shape, code):
        return np.frombuffer(zlib.decompress(base64.b85decode(code)), dtype).reshape(shape)

    space = {"np": np, "packed": packed}
    exec(text, space)  # noqa: S102
    return space


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("count", [3, 400])
def test_floats_come_back_bit_by_bit(dtype, count):
    bits = np.random.default_rng(7).integers(0, 2**16, count * 4, dtype=np.uint16)
    data = bits.view(dtype)[:count]
    text = literals.definition("X", data).statement
    assert read(text)["X"].tobytes() == data.tobytes()


@pytest.mark.parametrize(
    "data",
    [
        np.array(0.1, "float32"),
        np.array([[0.0, -0.0], [np.inf, -np.inf]], "float32"),
        np.array([np.nan], "float64"),
        np.array([2**63 - 1, -(2**63)], "int64"),
        np.array([True, False]),
        np.array([-0.5 + 1j, complex(-0.0, 1), complex(np.nan, np.inf)], "complex64"),
        np.zeros((0, 3), "uint8"),
        np.arange(12, dtype="float32").reshape(3, 4).T,
        np.full((50,), -0.0, "float32"),
        np.full((50, 2), 0.1, "float16"),
        np.ones((), "int8"),
        np.array([5e-324, 1.7976931348623157e308]),
    ],
    ids=lambda data: f"{data.dtype}{data.shape}",
)
def test_awkward_arrays_come_back_bit_by_bit(data):
    text = literals.definition("X", data).statement
    again = read(text)["X"]
    assert (again.dtype, again.shape, again.tobytes()) == (data.dtype, data.shape, data.tobytes())


def test_few_numbers_are_readable_and_many_are_packed():
    assert literals.array(np.array([[0.1, -2.0]], "float32")) == 'np.array([[0.1, -2.0]], "float32")'
    assert literals.array(np.array([0.1 + 1j, complex(-0.0, np.inf)], "complex64")) == (
        'np.array([(0.1+1j), complex(-0.0, np.inf)], "complex64")'
    )
    assert literals.array(np.ones((30, 30), "float32")) == 'np.ones((30, 30), "float32")'
    assert literals.array(np.arange(41)) is None


def test_a_nan_with_a_payload_is_packed():
    assert literals.array(np.array([0x7FC00001], "uint32").view("float32")) is None


@pytest.mark.parametrize(
    "value",
    [None, True, -3, 0.1, -0.0, 1 + 2j, complex(-0.0, 1), complex(1, float("inf")), "it's", 'a "b"', "a\n\\",
     (), (1,), [1, (2.5,)], {"a": [None]}, b"\0", range(3), float, slice(1, None, 2), ...],
)  # fmt: skip
def test_plain_values_come_back(value):
    again = eval(literals.literal(value, str))  # noqa: S307
    assert repr(again) == repr(value)


def test_numbers_without_a_literal_are_spelt():
    assert literals.literal([float("inf"), float("-inf"), float("nan")], str) == (
        '[float("inf"), float("-inf"), float("nan")]'
    )


def test_numpy_scalars_keep_their_type():
    for value in (np.float32(0.1), np.int8(-3), np.bool_(True)):
        again = eval(literals.literal(value, str), {"np": np})  # noqa: S307
        assert type(again) is type(value)
        assert again == value


def test_what_is_no_data_is_refused():
    with pytest.raises(NotReplayable, match="object"):
        literals.literal(object(), str)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((slice(1, None), None), "1:, None"),
        (slice(None, -1, 2), ":-1:2"),
        (..., "..."),
        ((), "()"),
        ((slice(None),), ":,"),
        ([0, 2], "[0, 2]"),
        (-1, "-1"),
    ],
)
def test_indices_are_written_as_people_do(value, text):
    assert literals.index(value, str) == text
    ast.parse(f"x[{text}]")
