"""Whole scripts are compared as text, and run with a framework of a few lines that has planted faults."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import subprocess
import sys
from typing import Any

import pytest

from autotest.base.settings import Tolerance
from autotest.emission import Script, reproducer
from autotest.emission.checker import Criterion, Runs, often
from autotest.emission.script_subject import ScriptSubject
from autotest.program import Program
from tests.emission.toys import run, toys


@pytest.fixture
def program(build):
    build.function("relu", build.tensor([[1, -2], [3, 0]]))
    return build.program()


def script(
    program: Program, sides: tuple[Script, Script], title: str = "relu", runs: Runs | None = None, **criterion: Any
) -> str:
    return reproducer(ScriptSubject(program, sides, title, ()), Criterion(**criterion), runs)


def one_line(output: str, said: str) -> bool:
    """Return whether a script printed one line: that it found nothing, or a difference that contains `said`."""
    if said == "same":
        return output == "same\n"
    return output.startswith("DIFFERS: ") and said in output and output.count("\n") == 1


@pytest.mark.parametrize(
    ("fault", "status", "output"),
    [
        ("healthy", 0, "same"),
        ("near", 0, "same"),
        ("value", 1, "v1 values: 1 of 4 differ, at [0, 1]: expected 0.0, actual 0.5"),
        ("nan", 1, "v1 values: 1 of 4 differ, at [0, 1]: expected 0.0, actual nan"),
        ("shape", 1, "v1 shape: expected (2, 2), actual (1, 2, 2)"),
        ("dtype", 1, "v1 dtype: expected float32, actual float64"),
        ("grad", 1, "v1 requires_grad: expected False, actual True"),
        ("boxed", 1, "v1 type: expected tensor, actual tuple"),
        ("raises", 1, "raises raises RuntimeError: no such kernel"),
    ],
)
def test_values(tmp_path, program, fault, status, output):
    sides = toys(tmp_path, "toy", fault)
    found = run(tmp_path, script(program, sides, observed=["v1"]))
    assert found[0] == status, found[1]
    assert one_line(found[1], output)


def test_the_same_nan_and_infinity_on_both_sides_agree(tmp_path, build):
    build.function("relu", build.tensor([float("nan"), float("inf")]))
    text = script(build.program(), toys(tmp_path, "toy", "healthy"), observed=["v1"])
    assert run(tmp_path, text) == (0, "same\n")


def test_true_is_not_one(tmp_path, build):
    build.function("flag", build.tensor([1.0]))
    text = script(build.program(), toys(tmp_path, "toy", "counts"), title="flag", observed=["v1"])
    assert run(tmp_path, text) == (1, "DIFFERS: v1: expected True, actual 1\n")


@pytest.mark.parametrize(
    ("target", "fault", "status", "output"),
    [
        ("relu", "value", 0, "same"),
        ("relu", "nan", 0, "same"),
        ("relu", "shape", 1, "v1 shape: expected (2, 2), actual (1, 2, 2)"),
        ("relu", "dtype", 1, "v1 dtype: expected float32, actual float64"),
        ("relu", "boxed", 1, "v1 type: expected tensor, actual tuple"),
        ("split", "healthy", 0, "same"),
        ("split", "short", 1, "v1 length: expected 2, actual 1"),
        ("numel", "counts", 0, "same"),
        ("flag", "counts", 1, "v1: expected bool, actual int"),
    ],
)
def test_of_random_contents_all_else_is_compared(tmp_path, build, target, fault, status, output):
    drawn = build.function(target, build.tensor([[1, -2], [3, 0]]))
    program = build.program(undefined=(drawn,))
    found = run(tmp_path, script(program, toys(tmp_path, "toy", fault), observed=["v1"]))
    assert found[0] == status, found[1]
    assert one_line(found[1], output)


def test_a_dtype_of_random_numbers_that_the_test_does_not_compare_is_not_compared(tmp_path, build):
    program = build.program(undefined=(build.function("relu", build.tensor([1.0])),))
    text = script(program, toys(tmp_path, "toy", "dtype"), observed=["v1"], check_dtype=False)
    assert run(tmp_path, text) == (0, "same\n")


def test_an_item_of_a_random_result_is_compared_by_all_but_its_contents(tmp_path, build):
    program = build.program(undefined=(build.function("boxed", build.tensor([1.0, 2.0])),))
    assert run(tmp_path, script(program, toys(tmp_path, "toy", "value"), observed=["v1[0]"])) == (0, "same\n")


def test_a_tolerance_given_by_the_test_is_used(tmp_path, program):
    sides = toys(tmp_path, "toy", "near")
    text = script(program, sides, observed=["v1"], tolerance=Tolerance(0.0, 1e-9))
    assert run(tmp_path, text)[0] == 1
    sides = toys(tmp_path, "toy", "value")
    text = script(program, sides, observed=["v1"], tolerance=Tolerance(0.0, 1.0))
    assert run(tmp_path, text)[0] == 0


def test_what_the_test_does_not_compare_is_not_compared(tmp_path, program):
    sides = toys(tmp_path, "toy", "dtype")
    assert run(tmp_path, script(program, sides, observed=["v1"], check_dtype=False))[0] == 0
    sides = toys(tmp_path, "toy", "value")
    assert run(tmp_path, script(program, sides, observed=["v1"], check_values=False))[0] == 0


@pytest.mark.parametrize(
    ("symptom", "reference", "candidate", "status"),
    [
        ("exception", "toy", "raises", 1),
        ("exception", "toy", "value", 0),
        ("exception", "raises", "raises", 2),
        ("accepted", "raises", "toy", 1),
        ("accepted", "raises", "raises", 0),
        ("accepted", "toy", "toy", 0),
        ("value", "raises", "toy", 2),
    ],
)
def test_refusals(tmp_path, program, symptom, reference, candidate, status):
    text = script(program, toys(tmp_path, reference, candidate), symptom=symptom)
    assert run(tmp_path, text)[0] == status


@pytest.mark.parametrize(
    ("symptom", "fault", "status", "output"),
    [
        ("crash", "aborts", 1, "aborts dies: SIGABRT"),
        ("crash", "leaves", 1, "leaves dies: 3"),
        ("crash", "gives_up", 1, "gives_up dies: 0"),
        ("crash", "raises", 0, "same"),
        ("crash", "healthy", 0, "same"),
        ("out of memory", "raises", 1, "raises raises RuntimeError: no such kernel"),
        ("hang", "hangs", 1, "hangs hangs: no answer in 1.5 s"),
        ("hang", "gives_up", 1, "gives_up dies: 0"),
        ("hang", "healthy", 0, "same"),
        ("crash", "hangs", 1, "hangs hangs: no answer in 1.5 s"),
    ],
)
def test_a_candidate_that_dies_does_so_in_a_child_process(tmp_path, program, symptom, fault, status, output):
    sides = toys(tmp_path, "toy", fault)
    # Only scripts that hang get less time than a busy machine may need.
    deadline = 1.5 if fault == "hangs" else 60.0
    found = run(tmp_path, script(program, sides, runs=Runs(timeout=deadline), symptom=symptom))
    assert found[0] == status
    assert one_line(found[1], output)


@pytest.mark.parametrize(
    ("symptom", "fault", "runs", "status", "output"),
    [
        ("crash", "every_third", Runs(4, 1), 1, "every_third dies in 1 of 4 runs: SIGABRT"),
        ("crash", "every_third", Runs(1, 3), 1, "every_third dies in 1 of 1 runs: SIGABRT"),
        ("crash", "every_third", Runs(2, 1), 0, "same"),
        (
            "out of memory",
            "raises",
            Runs(2, 2),
            1,
            "raises dies in 2 of 2 runs: RuntimeError: no such kernel, ",
        ),
        ("crash", "every_third", Runs(4, 1, forked=True), 1, "every_third dies in 1 of 4 runs: SIGABRT; toy returns"),
        ("crash", "every_third", Runs(2, 1, forked=True), 0, "same"),
        ("crash", "aborts", Runs(forked=True), 1, "aborts dies: SIGABRT; toy returns"),
        ("crash", "leaves", Runs(forked=True), 1, "leaves dies: 3; toy returns"),
        ("crash", "gives_up", Runs(forked=True), 1, "gives_up dies: 0; toy returns"),
        ("crash", "raises", Runs(forked=True), 0, "same"),
        ("crash", "healthy", Runs(forked=True), 0, "same"),
        ("hang", "hangs", Runs(5, 1), 1, "hangs dies in 1 of 1 runs: no answer in 1.5 s"),
    ],
)
def test_a_candidate_that_does_not_die_every_time_is_tried_often(
    tmp_path, program, symptom, fault, runs, status, output
):
    sides = toys(tmp_path, "toy", fault)
    deadline = 1.5 if fault == "hangs" else 60.0
    text = script(program, sides, runs=runs._replace(timeout=deadline), symptom=symptom)
    found = run(tmp_path, text)
    assert found[0] == status
    assert one_line(found[1], output)


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (Runs(10, 1), "the script starts 10 processes, and each runs the program once."),
        (Runs(1, 50), "the script starts 1 process, and each runs the program 50 times."),
    ],
)
def test_a_script_says_how_often_it_runs_a_program_that_dies_now_and_then(runs, said):
    assert often(runs) == f"It does not die in every run: {said}"


@pytest.mark.parametrize(("fault", "status"), [("healthy", 0), ("late", 1)])
def test_every_part_of_a_result_is_waited_for(tmp_path, build, fault, status):
    build.function("sort", build.tensor([1.0]))
    text = script(build.program(), toys(tmp_path, "toy", fault), title="sort", symptom="crash")
    assert run(tmp_path, text)[0] == status


def test_a_missing_framework_is_said_and_is_no_divergence(tmp_path, program):
    missing = Script("nowhere", ("import nowhere_at_all",), "nowhere_at_all")
    found = run(tmp_path, script(program, (missing, missing), observed=["v1"]))
    assert found == (2, "cannot tell: No module named 'nowhere_at_all'\n")


def test_large_inputs_and_awkward_titles_survive(tmp_path, build):
    build.function("relu", build.tensor([[float(i) / 7 for i in range(100)]]))
    title = 'relu: "quotes", """ and C:\\new'
    text = script(build.program(), toys(tmp_path, "toy", "healthy"), title=title, observed=["v1"])
    assert text.index("def program") < text.index("X0 = packed(")
    assert run(tmp_path, text)[0] == 0


def test_where_the_results_of_another_device_are_is_no_difference(tmp_path, program):
    reference, candidate = toys(tmp_path, "toy", "healthy")
    sides = reference, dataclasses.replace(candidate, on_cpu=False)
    text = script(program, sides, observed=["v1"])
    moved = text.replace('"device": value.device.type', '"device": str(id(value))')
    assert run(tmp_path, text)[0] == run(tmp_path, moved)[0] == 0


def test_a_shrunk_gradient_is_short_and_reads_from_the_top(relu_gradient):
    torch = Script("torch", ("import torch",), "torch")
    oneflow = Script("oneflow", ("import oneflow",), "oneflow")
    header = ["torch 2.0.1, oneflow 0.9.0; trial 3 of base seed 17."]
    about = ScriptSubject(relu_gradient, (torch, oneflow), "relu: x0.grad differs.", header)
    text = reproducer(about, Criterion(observed=["x0.grad"]))
    assert (
        text.partition("\n\n\nTOLERANCE")[0]
        == '''\
"""relu: x0.grad differs.

torch 2.0.1, oneflow 0.9.0; trial 3 of base seed 17.
Compared: x0.grad.
Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
"""

import sys

import numpy as np

try:
    import torch
    import oneflow
except (ImportError, OSError) as error:
    print("cannot tell:", error)
    sys.exit(2)

X0 = np.array([[0.1, -2.0], [1.0, 0.0]], "float32")
C2 = np.array([[1.0, 1.0], [1.0, 2.0]], "float32")


def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.nn.functional.relu(x0)
    v1.backward(torch.tensor(C2))
    return {"x0.grad": x0.grad}'''
    )
    assert len([line for line in text.splitlines() if line.strip()]) < 70


def load(name: str) -> Any:
    return importlib.import_module(f"autotest.frameworks.{name}").framework()


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("oneflow") is None, reason="OneFlow is not installed")
def test_real_frameworks_agree_on_a_module_and_its_gradients(tmp_path, build):
    linear = build.function("nn.Sequential", build.function("nn.Linear", 2, 3))
    state = {"0.weight": build.capture([[1, 2], [3, 4], [5, 6]]), "0.bias": build.capture([1, 2, 3])}
    build.call("load_state", "", linear, state)
    x = build.tensor([[1, 2]], requires_grad=True)
    y = build.method("__call__", linear, x)
    build.method("backward", y, build.tensor([[1, 2, 3]]))
    build.tensor([1, 2], "bfloat16")
    # The adapters only return the lines that import the frameworks. Nothing is imported here.
    sides = (load("torch").script(), load("oneflow").script())
    text = script(build.program(), sides, title="Linear")
    path = tmp_path / "repro.py"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=200, check=False)
    assert (done.returncode, done.stdout) == (0, "same\n"), done.stdout + done.stderr
