"""The shortest scripts: read like a bug report, and as honest as the long ones."""

from __future__ import annotations

import numpy as np
import pytest

from autotest.elementwise import differing, statistics
from autotest.emission import compact
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
    text = compact.differing_tensor(relu_gradient, toys(tmp_path, "torch", "oneflow"), "relu", ["n"], "x0.grad", found)

    assert len(text.splitlines()) < 25
    assert "return x0.grad" in text


@pytest.mark.parametrize(
    ("fault", "status", "output"),
    [
        ("healthy", 0, "healthy:"),
        ("near", 0, "near:"),
        ("value", 1, "value:"),
        ("nan", 1, "nan:"),
        ("shape", 1, "shape:"),
    ],
)
def test_one_tensor(tmp_path, program, found, fault, status, output):
    text = compact.differing_tensor(program, toys(tmp_path, "toy", fault), "relu", [], "v1", found)
    done = run(tmp_path, text)

    assert done[0] == status
    assert output in done[1]


def test_a_reference_that_refuses_is_not_taken_for_a_divergence(tmp_path, program, found):
    text = compact.differing_tensor(program, toys(tmp_path, "raises", "healthy"), "relu", [], "v1", found)

    assert run(tmp_path, text) == (2, "cannot tell: no such kernel\n")


@pytest.mark.parametrize(("fault", "status"), [("healthy", 0), ("aborts", 1), ("leaves", 1)])
def test_a_dying_candidate(tmp_path, program, fault, status):
    text = compact.dying_candidate(program, toys(tmp_path, "toy", fault), "relu", [])

    assert len([line for line in text.splitlines() if line.strip()]) < 30
    assert run(tmp_path, text)[0] == status


def test_what_is_not_plain_gets_the_full_form(tmp_path, build, found):
    sides = toys(tmp_path, "toy", "healthy")
    build.method("item", build.tensor([1.0]))
    item = build.program()
    build.function("relu", build.tensor(np.arange(500.0)))
    large = build.program()

    assert compact.differing_tensor(item, sides, "item", [], "v1", found) is None
    assert compact.differing_tensor(large, sides, "relu", [], "v3", found) is None
