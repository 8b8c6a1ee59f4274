"""Refusals of the reference: which are mistakes of the test, and how reasons are counted."""

from __future__ import annotations

import collections
import re

import pytest

from autotest.comparison.rejection import ABSENT, Rejection, absences, is_mistake
from autotest.report.advice import advice_on


@pytest.mark.parametrize(
    "error",
    [
        AttributeError("module 'torch' has no attribute 'reluu'"),
        NameError("name 'x' is not defined"),
        ImportError("no"),
        TypeError("f() got an unexpected keyword argument 'biass'"),
        TypeError(
            "sum() received an invalid combination of arguments - got (Tensor, foo=int), but expected one of:\n"
            " * (Tensor input, *, torch.dtype dtype)\n"
            "      didn't match because some of the keywords were incorrect: foo\n"
        ),
    ],
)
def test_what_no_other_draw_would_mend_is_a_mistake(error):
    assert is_mistake(error)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("sizes must match"),
        ValueError("n must be positive"),
        TypeError("ones(): argument 'size' must be tuple of ints"),
        TypeError(
            "sum() received an invalid combination of arguments - got (Tensor, dtype=int), but expected one of:\n"
            " * (Tensor input, *, torch.dtype dtype)\n"
        ),
        IndexError("Dimension out of range"),
        NotImplementedError("for 'Half'"),
        StopIteration(),
    ],
)
def test_anything_else_is_a_refusal(error):
    assert not is_mistake(error)


@pytest.mark.parametrize(
    "text",
    [
        "f() got an unexpected keyword argument 'a'",
        "f() invalid combination of arguments - got (Tensor, a=int), but expected one of:\n * (Tensor input, int b)\n",
    ],
)
def test_a_keyword_that_some_trials_leave_out_is_a_refusal_in_the_others(text):
    assert is_mistake(TypeError(text), optional=["b"])
    assert not is_mistake(TypeError(text), optional=["a", "b"])


def test_reasons_that_differ_in_numbers_alone_are_one():
    one = Rejection("cat", "RuntimeError", "Expected size 3 but got size 12 for tensor number 1")
    two = Rejection("cat", "RuntimeError", "Expected size 4 but got size 5.5e-3 for tensor number -2")
    assert one.reason == two.reason == "cat: RuntimeError: Expected size N but got size N for tensor number N"


def test_digits_in_the_name_of_what_the_candidate_lacks_are_no_numbers():
    reasons = [Rejection("nn.Conv2d", ABSENT, f"mlx has no conv2d of float64 with {n} groups").reason for n in (2, 3)]
    assert absences(collections.Counter(reasons)) == {"mlx has no conv2d of float64 with N groups": 2}


def test_a_refusal_of_the_reference_is_no_absence():
    assert not absences(collections.Counter({Rejection("mm", "RuntimeError", "Absent: x").reason: 1}))


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("plank has no int8", "plank has no int8"),
        ("plank has no nn.functional.conv2d", "plank has no nn.functional.conv2d"),
        (
            "mat1 and mat2 shapes cannot be multiplied (2x3 and 14x5)",
            "mat1 and mat2 shapes cannot be multiplied (NxN and NxN)",
        ),
        ("cuda:0 has no 1e-3_x and no x-1", "cuda:N has no N_x and no xN"),
    ],
)
def test_digits_of_names_are_no_numbers(said, shown):
    assert Rejection("f", "Absent", said).reason == f"f: Absent: {shown}"


def test_a_reason_is_one_line_of_readable_length():
    reason = Rejection("f", "RuntimeError", "\n\n  first line\nsecond " + "x" * 500).reason
    assert reason == "f: RuntimeError: first line"
    assert len(Rejection("f", "E", "y" * 500).reason) < 200


def test_an_exception_without_text_still_has_a_reason():
    assert Rejection("f", "StopIteration", "").reason == "f: StopIteration: "


@pytest.mark.parametrize(
    ("said", "advised"),
    [
        ("derivative for aten::aminmax is not implemented", r"requires_grad=False\): the call has no derivative"),
        ("the derivative for 'nextafter' is not implemented", r"requires_grad=False\): the call has no derivative"),
        ("element 0 of tensors does not require grad and does not have a grad_fn", "the call has no derivative"),
        ("functions with out=... arguments don't support automatic differentiation", r"requires_grad=False\)"),
        ("cannot resize variables that require grad", r"requires_grad=False\)"),
        ("only Tensors of floating point dtype can require gradients", "Only floating tensors have gradients"),
        ("\"bincount_cpu\" not implemented for 'Float'", 'dtype="int64"'),
        ("\"silu_cpu\" not implemented for 'Half'", 'dtype="float32"'),
        ("gather(): Expected dtype int64 for index", 'dtype="int64"'),
        ("sizes must match", "Draw arguments that fit together"),
    ],
)
def test_what_is_advised_fits_what_was_refused(said, advised):
    assert re.search(advised, advice_on(f"autograd.backward: RuntimeError: {said}"))
