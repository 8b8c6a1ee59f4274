"""Programs are written to JSON and npz and read again without any change; damaged files raise a clear error."""

from __future__ import annotations

import json

import numpy as np
import pytest

from autotest.base.errors import NotReplayable
from autotest.program import Array, Call, Captured, Program, Ref, Root, serialisation

OPERANDS = [
    None, True, 0, -(2**80), 0.1, -0.0, float("inf"), float("-inf"), float("nan"), "", "\ud800 \x00 é", 1 - 2j,
    complex(float("nan"), -0.0), (), (1, (2.0, [None])), [], {"a": (1,), 3: {"b": []}}, {}, slice(None), ...,
    slice(1, Ref(0), -1), Ref(0), Root("float32"), Captured(0), [Ref(0), (Root("nn.ReLU"),)], float, range(1, 9, 2),
    b"\x00\xff", np.float32(0.1), np.bool_(True), np.complex64(1j),
]  # fmt: skip

ARRAYS = [
    Array(np.array([[1.5, -0.0], [np.nan, np.inf]], "float32"), "float32"),
    Array(np.array([1.0], "float32"), "bfloat16"),
    Array(np.array(3, "int64"), "int64"),
    Array(np.zeros((0, 2), "bool"), "bool"),
    Array(np.array([1 + 2j], "complex64"), "complex64"),
    Array(np.arange(6, dtype="float64").reshape(2, 3).T, "float64"),
    Array(np.array([0x7FC00001], "uint32").view("float32"), "float32"),
]


def everything() -> Program:
    start = Call("tensor", "float32", (Captured(0),), {"requires_grad": True, "device": "cpu"}, 0, "note")
    return Program((start, Call("function", "f", tuple(OPERANDS), {"k": (1,)}, 1)), tuple(ARRAYS), frozenset((1,)))


def through_text(program: Program) -> Program:
    text = json.dumps(serialisation.to_json(program), allow_nan=False)
    arrays = serialisation.unpack_arrays(serialisation.pack_arrays(program))
    return serialisation.from_json(json.loads(text), arrays)


def test_a_program_of_everything_comes_back():
    program = everything()
    again = through_text(program)
    assert repr(again.calls) == repr(program.calls)
    assert [type(item) for item in again.calls[1].args] == [type(item) for item in OPERANDS]
    assert again.undefined == program.undefined
    for one, other in zip(program.arrays, again.arrays, strict=True):
        assert (one.dtype, one.data.dtype, one.data.shape) == (other.dtype, other.data.dtype, other.data.shape)
        assert one.data.tobytes() == other.data.tobytes()


def test_an_empty_program_comes_back():
    assert through_text(Program((), ())) == Program((), ())


def test_what_is_no_data_is_refused_by_its_call():
    with pytest.raises(NotReplayable, match=r"call 0 \(function f\).*object"):
        serialisation.to_json(Program((Call("function", "f", (object(),), {}, 0),), ()))
    with pytest.raises(NotReplayable, match="captured array 0"):
        serialisation.pack_arrays(Program((), (Array(np.array([None]), "object"),)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 99}, "version 99"),
        ({"format": "x"}, "expected a program"),
        ({"calls": [["function", "f", [{"ref": 5}], {}, ""]]}, "not written yet"),
        ({"calls": [["function", "f", [{"captured": 7}], {}, ""]]}, "array 7 of 7"),
        ({"calls": [["nonsense", "f", [], {}, ""]]}, "unknown kind"),
        ({"calls": [["function", 1.5, [], {}, ""]]}, "expected the name of a call or its note, got 1.5"),
        ({"calls": [["function"]]}, "not enough values"),
        ({"calls": None}, "damaged"),
        ({"calls": [["function", "f", [{"what": 1}], {}, ""]]}, "tagged 'what'"),
        ({"calls": [["function", "f", [{"slice": 1}], {}, ""]]}, "tagged 'slice' is damaged"),
        ({"calls": [["function", "f", [{"type": "print"}], {}, ""]]}, "not a builtin type"),
        ({"calls": [["function", "f", [{"a": 1, "b": 2}], {}, ""]]}, "one key"),
        ({"dtypes": ["float32"] * 9}, "damaged"),
        ({"undefined": [12]}, "undefined"),
    ],
)
def test_damage_is_named(change, message):
    program = everything()
    arrays = serialisation.unpack_arrays(serialisation.pack_arrays(program))
    with pytest.raises(ValueError, match=message):
        serialisation.from_json({**serialisation.to_json(program), **change}, arrays)


def test_damaged_arrays_are_named_and_nothing_is_unpickled():
    data = serialisation.pack_arrays(everything())
    for bad in (b"", b"nonsense", data[: len(data) // 2], data[:60] + b"xxxx" + data[64:]):
        with pytest.raises(ValueError, match="the arrays are damaged"):
            serialisation.unpack_arrays(bad)
