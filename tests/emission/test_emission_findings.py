"""The script of a finding compares the mismatched result with the test's tolerance."""

from __future__ import annotations

import dataclasses

import pytest

from autotest.base.errors import NotReplayable
from autotest.comparison import Mismatch
from autotest.emission import Script, emit
from autotest.results.finding import Finding

SIDES = (Script("torch", ("import torch",), "torch"), Script("oneflow", ("import oneflow",), "oneflow"))


@pytest.fixture
def finding(relu_gradient):
    return Finding(
        test="tests/test_relu.py::test_relu",
        base_seed=5,
        index=3,
        seed=99,
        mismatches=(Mismatch("x0.grad", 0, "gradient", "backward", "candidate", "x0.grad: not close."),),
        sides=("torch", "oneflow"),
        program=relu_gradient,
        versions={"torch": "2.0.1", "oneflow": "0.9.0"},
        settings={"rtol": 1e-3, "atol": 1e-6, "check_dtype": False, "check_allclose": True},
        verdict=("oneflow is wrong: by 12 times what rounding explains.", "evidence"),
    )


def test_the_top_says_what_the_script_shows(finding):
    assert emit(finding, SIDES).partition("\n\nimport")[0] == (
        '"""' + f"{finding.operator}: x0.grad differs in gradient between torch and oneflow.\n\n"
        "torch 2.0.1, oneflow 0.9.0; tests/test_relu.py::test_relu, trial 3 of base seed 5.\n"
        "oneflow is wrong: by 12 times what rounding explains.\n"
        "Compared: x0.grad.\n"
        "Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.\n"
        '"""'
    )


def test_the_test_s_own_strictness_is_kept(finding):
    text = emit(finding, SIDES)
    assert "RTOL, ATOL = 0.001, 1e-06" in text
    assert 'if key not in ("dtype",)' in text
    assert 'return {"x0.grad": x0.grad}' in text


def test_a_mismatch_that_is_named_after_its_operation_is_looked_at_by_its_slot(finding):
    mismatch = Mismatch("nn.Linear", 1, "structure", "build", "candidate", "names of parameters differ")
    assert 'return {"v1": v1}' in emit(dataclasses.replace(finding, mismatches=(mismatch,)), SIDES)


@pytest.mark.parametrize(
    ("symptom", "part"),
    [
        ("exception", 'sys.exit(1 if actual != "returns" else 0)'),
        ("accepted", 'expected != "returns" and actual == "returns"'),
        ("crash", '["--side", "oneflow"]'),
    ],
)
def test_the_symptom_chooses_how_the_script_checks(finding, symptom, part):
    mismatch = Mismatch("relu", 1, symptom, "forward", "candidate", "message")
    assert part in emit(dataclasses.replace(finding, mismatches=(mismatch,)), SIDES)


def test_a_finding_without_program_has_no_script(finding):
    with pytest.raises(NotReplayable, match="no program"):
        emit(dataclasses.replace(finding, program=None), SIDES)


def test_what_is_compared_goes_by_what_differs_and_not_by_words_of_the_message(finding):
    message = "v1: expected 'a list of 2 items, actual keys' (str), actual 1 (int)"
    mismatch = Mismatch("v1", 1, "structure", "forward", "candidate", message, detail="type")
    assert "gives a {expected}" in emit(dataclasses.replace(finding, mismatches=(mismatch,)), SIDES)
    other = dataclasses.replace(mismatch, detail="length")
    assert "has length {expected}" in emit(dataclasses.replace(finding, mismatches=(other,)), SIDES)
