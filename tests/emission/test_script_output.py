"""Whether the output of a reproducer still shows the finding for which it was written."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path

import pytest

from autotest import Divergence, autotest, random_tensor, torch
from autotest.comparison import Mismatch
from autotest.comparison.elementwise import Statistics
from autotest.diagnosis.verification import verify
from autotest.emission.script_output import differences, runs_that_died, shows, shows_other_numbers
from autotest.processes.client import Server
from autotest.results.finding import Finding
from autotest.results.sweep_findings import SweepFinding
from autotest.results.verification import State
from autotest.sweeping import verifying


def finding(symptom, message="", name="v1"):
    first = Mismatch(name, 1, symptom, "forward", "candidate", message)
    return Finding("test_x.py::test_it", 0, 3, 17, (first,), ("torch", "oneflow"), None, {}, {})


def test_each_difference_is_one_thing():
    assert [*differences("importing\nDIFFERS: v1 values: 3 differ; v2 shape: expected (2,)\n")] == [
        "v1 values: 3 differ",
        "v2 shape: expected (2,)",
    ]


@pytest.mark.parametrize(
    ("printed", "still"),
    [
        ("DIFFERS: torch gives [1.0], oneflow [2.0]", True),
        ("DIFFERS: v1 values: expected 1.0, actual 2.0", True),
        ("DIFFERS: x0.grad: expected 1.0, actual 2.0; v1 dtype: expected int64, actual int32", True),
        ("DIFFERS: oneflow raises RuntimeError: no such kernel", False),
        ("torch gives [1.0], oneflow [2.0]", False),
    ],
)
def test_another_difference_than_that_of_the_value_is_another_finding(printed, still):
    assert shows(printed, finding("value")) is still


@pytest.mark.parametrize(
    ("symptom", "printed", "still"),
    [
        ("crash", "DIFFERS: oneflow dies: SIGABRT; torch returns", True),
        ("crash", "DIFFERS: oneflow dies: SIGSEGV; torch returns", False),
        ("crash", "DIFFERS: oneflow hangs: no answer in 5 s; torch returns", False),
        ("crash", "DIFFERS: oneflow ends with status -6", True),
        ("hang", "DIFFERS: oneflow hangs: no answer in 5 s; torch returns", True),
        ("out of memory", "DIFFERS: oneflow dies: SIGKILL; torch returns", True),
    ],
)
def test_a_death_is_the_same_by_its_signal(symptom, printed, still):
    assert shows(printed, finding(symptom, "relu: oneflow dies (SIGABRT)")) is still


def with_numbers(expected, actual, at=()):
    numbers = Statistics(1, 1, 1e-4, 1e-5, 1.0, at, expected, actual, 1.0, at)
    return dataclasses.replace(
        finding("gradient"), mismatches=(dataclasses.replace(finding("gradient").first, statistics=numbers),)
    )


@pytest.mark.parametrize(
    ("actual", "printed", "others"),
    [
        (0.5, "0.5", False),
        (0.5, "0.0", True),
        (float("nan"), "nan", False),
        (float("nan"), "0.0", True),
        (float("-inf"), "-inf", False),
        (float("-inf"), "inf", True),
        (0.5, "nan", True),
        (0.5, "[0.5", False),  # cut off: nothing is known
        (0.5, "[0.5]", False),  # of another rank, as above
    ],
)
def test_a_script_that_got_another_number_of_the_candidate_shows_something_else(actual, printed, others):
    told = f"DIFFERS: torch gives 1.0, oneflow {printed}\n"
    assert shows_other_numbers(told, with_numbers(1.0, actual)) is others


def test_the_number_of_the_greatest_difference_is_compared():
    told = "DIFFERS: torch gives [[1.0, 2.0]], oneflow [[1.0, 3.0]]"
    assert not shows_other_numbers(told, with_numbers(2.0, 3.0, (0, 1)))
    assert shows_other_numbers(told, with_numbers(2.0, 3.0, (0, 0)))


def test_a_script_whose_own_lines_compute_something_else_is_not_the_one_that_is_told(warm):
    wrong = autotest(n=1, candidate="tests.support.block_framework:with_wrong_scripts", special_values=False)
    with pytest.raises(Divergence) as caught:
        wrong(lambda: torch.tanh(random_tensor(shape=(2,), low=0, high=1, dtype="float32")))()
    script = Path(caught.value.place, "repro.py").read_text()
    assert "(verified in a fresh interpreter)" in str(caught.value)
    assert "speaking_torch" in script
    assert "other.times" not in script


def test_how_many_runs_died_is_read():
    assert runs_that_died("DIFFERS: oneflow dies in 3 of 10 runs: SIGABRT") == "dies in 3 of 10 runs"
    assert runs_that_died("DIFFERS: oneflow dies: SIGABRT") == ""


def test_a_script_whose_candidate_raises_verifies_no_finding_about_values():
    script = "import sys; print('DIFFERS: oneflow raises RuntimeError: no grad_fn'); sys.exit(1)"
    found = verify(script, finding=finding("gradient", name="x0.grad"))
    assert found.state is State.MISSED
    assert found.detail == "the script shows something else: oneflow raises RuntimeError: no grad_fn"
    assert verify(script, finding=finding("exception", "relu: oneflow raised RuntimeError")).holds


def test_a_script_that_exits_with_1_and_shows_no_difference_verifies_nothing():
    assert verify("import sys; sys.exit(1)").state is State.UNCLEAR
    assert verify("import sys; print('Check failed: DIFFERS: oneflow dies'); sys.exit(1)").holds


#: Scripts of a sweep's finding about a gradient, and how each is verified.
SCRIPTS = [
    ("print('DIFFERS: torch gives 1.0, oneflow 2.0'); sys.exit(1)", State.VERIFIED, ""),
    ("print('same')", State.MISSED, ""),
    (
        "print('DIFFERS: oneflow raises RuntimeError: no grad_fn'); sys.exit(1)",
        State.MISSED,
        "the script shows something else: oneflow raises RuntimeError: no grad_fn",
    ),
    ("1 / 0", State.UNCLEAR, "the script ended its process"),
    ("sys.exit(1)", State.UNCLEAR, "the script ended with status 1: no output"),
    (
        "sys.exit(print('cannot tell: no such framework') or 2)",
        State.UNCLEAR,
        "the script ended with status 2: cannot tell: no such framework",
    ),
    ("sys.exit('words')", State.UNCLEAR, "the script ended with status 2: no output"),
    ("print('same: oneflow dies in 0 of 10 runs')", State.MISSED, "dies in 0 of 10 runs"),
]


def test_a_sweep_verifies_only_scripts_that_show_the_difference_of_their_finding():
    found = [
        SweepFinding(at, "relu", "gradient", "", "", "", [], 1, 1, None, script="import sys; " + script)
        for at, (script, _, _) in enumerate(SCRIPTS)
    ]
    for one in found:
        one.finding = finding("gradient", name="x0.grad")
    with contextlib.closing(Server((verifying.__name__,), ahead=False)) as server:
        verifying.verify(found, server, 1, 60.0)
    assert [(one.verified.state, one.verified.detail) for one in found] == [tuple(wanted) for _, *wanted in SCRIPTS]
