"""Short scripts read like a bug report, and check as much as the long ones."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from autotest.comparison.elementwise import differing, statistics
from autotest.emission import compact, forked, hidden_differences
from autotest.emission.checker import ONCE, Runs
from autotest.emission.script import Criterion, reproducer
from autotest.emission.script_subject import ScriptSubject
from autotest.emission.shared_memory import sharing
from tests.emission.toys import run, toys


@pytest.fixture
def found():
    expected, actual = np.float32([0.0, 1.0]), np.float32([0.5, 1.0])
    mask = differing(expected, actual, 1e-4, 1e-5)
    return statistics(expected, actual, mask, 1e-4, 1e-5, "float32")


@pytest.fixture
def program(build):
    build.function("relu", build.tensor([[1, -2], [3, 0]]))
    return build.program()


def test_a_gradient_is_shown_in_under_25_lines(tmp_path, relu_gradient, found):
    about = ScriptSubject(relu_gradient, toys(tmp_path, "torch", "oneflow"), "relu", ["n"])
    text = compact.differing_tensor(about, "x0.grad", found)

    assert len(text.splitlines()) < 25
    assert "return x0.grad" in text


@pytest.mark.parametrize(
    ("fault", "status", "output"),
    [
        ("healthy", 0, "same\n"),
        ("near", 0, "same\n"),
        ("value", 1, "DIFFERS: toy gives [["),
        ("nan", 1, "DIFFERS: toy gives [["),
        ("shape", 1, "DIFFERS: toy gives [["),
    ],
)
def test_one_tensor(tmp_path, program, found, fault, status, output):
    text = compact.differing_tensor(ScriptSubject(program, toys(tmp_path, "toy", fault), "relu", []), "v1", found)
    done = run(tmp_path, text)

    assert done[0] == status
    assert done[1].startswith(output)
    assert done[1].count("\n") == 1


@pytest.mark.parametrize(
    "written",
    [
        lambda about, found: compact.differing_tensor(about, "v1", found),
        lambda about, found: compact.differing_plain(about, "v2"),
        lambda about, found: compact.differing_fact(about, "v1", "shape"),
    ],
    ids=["tensor", "plain", "fact"],
)
def test_a_candidate_that_raises_now_is_told_and_is_no_traceback(tmp_path, build, found, written):
    build.function("numel", build.function("relu", build.tensor([1.0])))
    text = written(ScriptSubject(build.program(), toys(tmp_path, "toy", "raises"), "relu", []), found)

    assert run(tmp_path, text) == (1, "DIFFERS: raises raises RuntimeError: no such kernel\n")


def test_a_repeated_program_that_raises_tells_nothing(tmp_path, program):
    about = ScriptSubject(program, toys(tmp_path, "toy", "raises"), "relu", [])

    assert run(tmp_path, hidden_differences.nondeterministic(about, "v1")) == (2, "cannot tell: no such kernel\n")


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_of_many_numbers_the_first_that_differ_are_printed(tmp_path, build, found, dtype):
    # The dtype of the finding decides whether values are compared exactly or with a tolerance.
    build.function("relu", build.tensor(np.ones((60, 1))))
    many = dataclasses.replace(found, total=60, dtype=dtype)
    text = compact.differing_tensor(
        ScriptSubject(build.program(), toys(tmp_path, "toy", "value"), "relu", []), "v1", many
    )
    status, output = run(tmp_path, text)[:2]
    assert status == 1
    assert output.startswith("DIFFERS: toy gives ")
    assert " at [" in output
    assert len(output) < 100


@pytest.mark.parametrize("short", [True, False])
def test_lines_that_a_side_defines_twice_stand_twice(tmp_path, program, found, short):
    reference, candidate = toys(tmp_path, "toy", "value")
    two = (
        "import toy",
        "class Placement:",
        "    def cpu(self):",
        "        return self",
        "    def gpu(self):",
        "        return self",
    )
    about = ScriptSubject(
        program, (reference, dataclasses.replace(candidate, lines=(*two, *candidate.lines))), "relu", []
    )
    text = compact.differing_tensor(about, "v1", found) if short else reproducer(about, Criterion(observed=["v1"]))

    assert text.count("        return self\n") == 2
    assert text.count("import toy\n") == 1
    assert run(tmp_path, text)[0] == 1


def test_a_reference_that_refuses_is_not_taken_for_a_divergence(tmp_path, program, found):
    text = compact.differing_tensor(
        ScriptSubject(program, toys(tmp_path, "raises", "healthy"), "relu", []), "v1", found
    )

    assert run(tmp_path, text) == (2, "cannot tell: no such kernel\n")


@pytest.mark.parametrize(
    ("fault", "status", "output"),
    [
        ("raises", 0, "same\n"),
        ("toy", 2, "cannot tell: "),
        ("healthy", 1, "DIFFERS: raises raises RuntimeError: no such"),
    ],
)
def test_a_candidate_that_accepts_what_is_refused(tmp_path, program, fault, status, output):
    reference = "toy" if fault == "toy" else "raises"
    text = compact.accepting_candidate(ScriptSubject(program, toys(tmp_path, reference, fault), "relu", []))

    assert len([line for line in text.splitlines() if line.strip()]) < 30
    done = run(tmp_path, text)
    assert done[0] == status
    assert done[1].startswith(output)


@pytest.mark.parametrize("written", [compact.refusing_candidate, compact.accepting_candidate, compact.dying_candidate])
def test_an_assignment_that_one_side_refuses_returns_what_it_assigns_to(tmp_path, build, written):
    x = build.tensor([1.0, 2.0])
    build.operator("setitem", x, slice(1, None), 9)
    text = written(ScriptSubject(build.program(), toys(tmp_path, "torch", "oneflow"), "setitem", []))

    assert "    x0[1:] = 9\n    return x0\n" in text


def test_tensors_that_share_memory_lie_in_that_of_an_array_of_their_own(tmp_path, build):
    small, large = build.tensor([1.0], requires_grad=True), build.tensor([*range(40)], "int64")
    other, nothing = build.tensor([1.0], "bfloat16"), build.tensor([])
    build.function("cat", [small, large, other, nothing])
    text = compact.refusing_candidate(
        ScriptSubject(sharing(build.program()), toys(tmp_path, "torch", "oneflow"), "cat", [])
    )

    assert 'x0 = torch.from_numpy(np.array([1.0], "float32")).requires_grad_()' in text
    assert "x1 = torch.from_numpy(X1.copy())" in text
    assert "x2 = torch.tensor(" in text
    assert "x3 = torch.tensor(" in text


@pytest.mark.parametrize(
    ("symptom", "fault", "output"),
    [
        ("dtype", "dtype", "DIFFERS: toy has dtype float32, dtype float64\n"),
        ("shape", "shape", "DIFFERS: toy has shape (2, 2), shape (1, 2, 2)\n"),
        ("structure", "boxed", "DIFFERS: toy gives a Tensor, boxed tuple\n"),
        ("structure", "healthy", "same\n"),
    ],
)
def test_an_attribute_of_one_tensor(tmp_path, program, symptom, fault, output):
    text = compact.differing_fact(ScriptSubject(program, toys(tmp_path, "toy", fault), "relu", []), "v1", symptom)

    assert len([line for line in text.splitlines() if line.strip()]) < 25
    assert run(tmp_path, text) == (output != "same\n", output)


@pytest.mark.parametrize(
    ("fault", "output"), [("short", "DIFFERS: toy has length 2, short 1\n"), ("healthy", "same\n")]
)
def test_how_many_parts_there_are(tmp_path, build, fault, output):
    build.function("split", build.tensor([1.0]))
    text = compact.differing_fact(
        ScriptSubject(build.program(), toys(tmp_path, "toy", fault), "split", []), "v1", "length"
    )

    assert len(text.splitlines()) < 25
    assert run(tmp_path, text) == (output != "same\n", output)


@pytest.mark.parametrize(
    ("fault", "output"), [("value", "DIFFERS: toy gives ["), ("nan", "DIFFERS: toy gives ["), ("healthy", "same\n")]
)
def test_complex_numbers_of_which_each_part_may_be_no_number(tmp_path, build, fault, output):
    build.function("turned", build.tensor([complex(-0.0, 1), complex(np.nan, 0)], "complex64"))
    expected, actual = np.complex64([0]), np.complex64([1])
    found = statistics(expected, actual, np.array([True]), 1e-4, 1e-5, "complex64")
    text = compact.differing_tensor(
        ScriptSubject(build.program(), toys(tmp_path, "toy", fault), "turned", []), "v1", found
    )

    assert len(text.splitlines()) < 35
    status, said = run(tmp_path, text)
    assert status == (output != "same\n")
    assert said.startswith(output)


@pytest.mark.parametrize("runs", [ONCE, Runs(forked=True)], ids=["interpreter", "fork"])
@pytest.mark.parametrize(
    ("fault", "status"), [("healthy", 0), ("raises", 0), ("aborts", 1), ("leaves", 1), ("gives_up", 1)]
)
def test_a_dying_candidate(tmp_path, program, fault, status, runs):
    text = compact.dying_candidate(ScriptSubject(program, toys(tmp_path, "toy", fault), "relu", []), runs)

    assert len([line for line in text.splitlines() if line.strip()]) < 30
    assert run(tmp_path, text)[0] == status


@pytest.mark.parametrize(("fault", "status"), [("healthy", 0), ("late", 1)])
@pytest.mark.parametrize(
    "call", ["a tuple of tuples", "what was changed in place, by a call that returns nothing", "what a module returns"]
)
def test_a_death_in_what_is_still_being_computed_is_waited_for(tmp_path, build, call, fault, status):
    x = build.tensor([1.0])
    if call == "a tuple of tuples":
        build.function("sort", x)
    elif call == "what a module returns":
        build.method("__call__", build.function("Sorting"), x)
    else:
        build.method("fill_", x)
    text = compact.dying_candidate(ScriptSubject(build.program(), toys(tmp_path, "toy", fault), "late", []))

    assert run(tmp_path, text)[0] == status


@pytest.mark.parametrize(
    ("runs", "status", "said"),
    [
        (Runs(4, 1), 1, "DIFFERS: every_third dies in 1 of 4 runs: [-6]"),
        (Runs(1, 3), 1, "DIFFERS: every_third dies in 1 of 1 runs: [-6]"),
        (Runs(2, 1), 0, "same"),
        (Runs(4, 1, forked=True), 1, "DIFFERS: every_third dies in 1 of 4 runs: [-6]"),
        (Runs(1, 3, forked=True), 1, "DIFFERS: every_third dies in 1 of 1 runs: [-6]"),
        (Runs(2, 1, forked=True), 0, "same"),
    ],
)
def test_a_candidate_that_does_not_die_every_time_is_tried_as_often_as_is_said(tmp_path, program, runs, status, said):
    text = compact.dying_candidate(ScriptSubject(program, toys(tmp_path, "toy", "every_third"), "relu", []), runs)

    assert run(tmp_path, text) == (status, f"{said}\n")


@pytest.mark.parametrize("runs", [Runs(forked=True), Runs(3, 2, forked=True)], ids=["once", "often"])
def test_a_fork_that_hangs_proves_no_death(tmp_path, program, runs, monkeypatch):
    monkeypatch.setattr(forked, "TIMEOUT", 1)
    text = compact.dying_candidate(ScriptSubject(program, toys(tmp_path, "toy", "hangs"), "relu", []), runs)

    assert run(tmp_path, text) == (2, "cannot tell: no answer in 1 s\n")


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (ONCE, "DIFFERS: hangs hangs: no answer in 1 s\n"),
        (Runs(3, 1), "DIFFERS: hangs dies in 1 of 1 runs: ['no answer in 1 s']\n"),
    ],
    ids=["once", "often"],
)
def test_an_interpreter_that_hangs_instead_of_dying_is_told(tmp_path, program, runs, said, monkeypatch):
    monkeypatch.setattr(forked, "TIMEOUT", 1)
    text = compact.dying_candidate(ScriptSubject(program, toys(tmp_path, "toy", "hangs"), "relu", []), runs)

    assert run(tmp_path, text) == (1, said)


def test_what_is_not_plain_gets_the_full_form(tmp_path, build, found):
    sides = toys(tmp_path, "toy", "healthy")
    build.call("getattr", "eps", build.tensor([1.0]))
    attribute = build.program()
    build.function("relu", build.tensor(np.arange(500.0)))
    large = build.program()

    assert compact.differing_tensor(ScriptSubject(attribute, sides, "eps", []), "v1", found) is None
    assert compact.differing_tensor(ScriptSubject(large, sides, "relu", []), "v3", found) is None


def test_an_operand_that_an_operator_writes_into_keeps_its_name(tmp_path, build, found):
    """The candidate's in-place operator returns a new tensor, and does not change its operand."""
    x = build.tensor([1.0])
    build.operator("iadd", x, 2)
    text = compact.differing_tensor(
        ScriptSubject(build.program(), toys(tmp_path, "toy", "healthy"), "iadd", []), "x0", found
    )

    assert text is not None
    assert "    v1 = x0\n    v1 += 2\n    return x0\n" in text


def test_the_last_call_is_returned_and_a_small_array_stands_where_it_is_used(build):
    x = build.tensor([1, 2])
    build.function("relu", x, note="drawn by v1 = X0")
    body = compact.function_body(build.program(), "torch", "v1")
    assert [*body.lines] == [
        'x0 = torch.tensor(np.array([1.0, 2.0], "float32"))',
        "return torch.relu(x0)  # drawn by v1 = X0",
    ]
    assert not body.constants


def test_an_item_that_is_written_last_is_read_again_for_what_is_returned(build):
    x = build.tensor([1, 2])
    build.operator("setitem", x, 0, 5)
    body = compact.function_body(build.program(), "torch", "x0[0]")
    assert [*body.lines][1:] == ["x0[0] = 5", "return x0[0]"]


@pytest.mark.parametrize(
    ("fault", "status", "output"), [("healthy", 0, "same\n"), ("counts", 1, "DIFFERS: toy gives 4, counts 5\n")]
)
def test_a_plain_value(tmp_path, build, fault, status, output):
    build.function("numel", build.tensor([[1, -2], [3, 0]]))
    text = compact.differing_plain(ScriptSubject(build.program(), toys(tmp_path, "toy", fault), "numel", []), "v1")

    assert run(tmp_path, text) == (status, output)
    assert len(text.splitlines()) < 30


def test_an_attribute_that_may_be_anything_gets_the_full_form(tmp_path, build):
    build.call("getattr", "dtype", build.tensor([1.0]))

    assert (
        compact.differing_plain(ScriptSubject(build.program(), toys(tmp_path, "torch", "shape"), "dtype", []), "v1")
        is None
    )
