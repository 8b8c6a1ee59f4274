"""Which messages count as the same failure, with texts of OneFlow 0.9.0."""

from __future__ import annotations

import pytest

from autotest.comparison import Mismatch
from autotest.comparison.normalisation import normalised
from autotest.program import Program
from autotest.results.identity import FatalCall, death_of, identity_of

ALIKE = {
    "shapes of any rank": (
        "LayerNorm: expected input with shape [*, 3,], but got input of size oneflow.Size([3, 6, 6])",
        "LayerNorm: expected input with shape [*, 12,], but got input of size oneflow.Size([4, 9])",
    ),
    "shapes without blanks": (
        "Tensor descriptions should have the same shape: expected (0,) but got (5,10,5)",
        "Tensor descriptions should have the same shape: expected (1,3) but got ()",
    ),
    "negative numbers": (
        "Dimension out of range (expected to be in range of [-2, 1], but got 4)",
        "Dimension out of range (expected to be in range of [-3, 2], but got -13)",
    ),
    "checks": ("RuntimeError: (3 vs 2)", "RuntimeError: (14 vs 15)"),
    "addresses": (
        "bad iterator <range_iterator object at 0x7effbf7d09ca>",
        "bad iterator <range_iterator object at 0x55a1>",
    ),
    "source lines": (
        'File "/builds/release/oneflow/core/nn_functor.cpp", line 321, in operator()',
        'File "/opt/build/core/nn_functor.cpp", line 17, in operator()',
    ),
    "temporary folders": ("no file /scratch/autotest-x1/a.npz", "no file /var/b/autotest-8f/a.npz"),
    "floats": ("input_val <= 1.0 (5.18808 vs. 1)", "input_val <= 1.0 (7e-05 vs. 1)"),
}
APART = {
    "integer dtypes": ("argument 'k' must be int32, not int64", "argument 'k' must be int64, not int32"),
    "floating dtypes": ("expected dtype float32, actual float64", "expected dtype float64, actual float32"),
    "other words": ("Sizes of tensors must match", "Size of tensor a must match"),
    "other files": ('File "/a/b/nn_functor.cpp", line 3', 'File "/a/b/math_functor.cpp", line 3'),
}


@pytest.mark.parametrize("name", ALIKE)
def test_what_passes_is_left_out(name):
    one, other = (normalised(text) for text in ALIKE[name])
    assert one == other


@pytest.mark.parametrize("name", APART)
def test_what_tells_failures_apart_stays(name):
    one, other = (normalised(text) for text in APART[name])
    assert one != other


def test_an_identity_says_what_differs_and_where_in_the_value_and_nothing_of_the_trial():
    def identity(name, number, place="", candidate="oneflow"):
        what = f"RuntimeError: The expanded size of the tensor ({number}) must match {name}"
        message = f"{name}: torch accepts, {candidate} raised {what}. expected=torch actual={candidate}"
        mismatch = Mismatch(name + place, 3, "exception", "forward", "candidate", message, what=what, place=place)
        return identity_of(mismatch, "expand", Program((), ()), candidate)

    assert identity("v3", 9).message == "RuntimeError: The expanded size of the tensor (N) must match it"
    assert identity("v3", 9) == identity("v17", 12)
    assert identity("m3", 9, ".weight").message.startswith(".weight RuntimeError")


def test_where_the_candidate_is_makes_no_other_failure():
    def key(candidate):
        text = f"v1: torch accepts, {candidate} raised ValueError: no. expected=torch actual={candidate}"
        mismatch = Mismatch("v1", 1, "exception", "forward", "candidate", text, what="ValueError: no")
        return identity_of(mismatch, "relu", Program((), ()), candidate).key

    assert key("torch@here") == key("torch@t213")
    assert key("torch@here").startswith("torch-relu-exception-")
    assert key("paddle@venv") == key("paddle") != key("mlx")
    assert key("oneflow@venv") == key("oneflow")


def test_deaths_of_two_checks_are_two_and_their_numbers_do_not_matter():
    def death(words):
        return death_of(FatalCall("matmul", "crash", "forward", "candidate"), "SIGABRT", words)

    one = death("shape.cpp:29] Check failed: index >= 0 (-1 vs. 0) ")
    assert one == death("shape.cpp:29] Check failed: index >= 0 (-3 vs. 0)")
    assert one != death("shape.cpp:30] Check failed: index < tp()->NumAxes() (2 vs. 2) Shape: (1,6)")
    assert one != death("")
    assert death("Segmentation fault") == death("")
