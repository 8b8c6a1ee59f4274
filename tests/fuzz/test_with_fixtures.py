"""Tests that need pytest's fixtures run in campaigns and worker processes, under the names that pytest gives them."""

from __future__ import annotations

import textwrap

import pytest

from autotest.base.errors import UsageError
from autotest.sources.collection import collect, find
from autotest.trials.driver import driven_by

SUITE = """
    import pytest
    from autotest import autotest, random_tensor, torch

    @pytest.fixture
    def two(tmp_path):
        assert tmp_path.is_dir()
        yield 2
        (tmp_path.parent / "torn-down").touch()

    @pytest.fixture
    def broken():
        raise OSError("no such device")

    @autotest(n=2)
    def test_twice(two):
        return random_tensor(2) * two

    @pytest.mark.parametrize("factor", [3, 4])
    @autotest(n=2)
    def test_times(two, factor):
        return random_tensor(2) * two * factor

    class TestIt:
        @pytest.mark.usefixtures("two")
        @autotest(n=2)
        def test_method(self):
            return torch.relu(random_tensor(2))

    @autotest(n=2)
    def test_broken(broken):
        return random_tensor(2)

    @autotest(n=2)
    def test_unknown(nobody_has_it):
        return random_tensor(2)

    @autotest(n=2)
    def test_raises(two):
        raise ValueError("the body's own")
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "test_suite.py"
    path.write_text(textwrap.dedent(SUITE))
    return path


def test_they_are_collected_as_those_without(file):
    assert [test.id.partition("::")[2] for test in collect([file]).tests] == [
        "test_twice",
        "test_times[factor=3]",
        "test_times[factor=4]",
        "TestIt.test_method",
        "test_broken",
        "test_unknown",
        "test_raises",
    ]


@pytest.mark.parametrize(
    ("name", "value"), [("test_twice", 2), ("test_times[factor=4]", 8), ("TestIt.test_method", None)]
)
def test_the_test_is_called_with_its_fixtures_and_arguments_under_the_name_that_it_was_asked_for_by(
    file, name, value, against
):
    against()
    driven = []
    known = f"test_suite.py::{name}"
    with driven_by(lambda test, context: driven.append((test.id, test.file)), known):
        find(file, known).call()
    assert driven == [(known, file)]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("test_broken", "test_broken: its fixtures cannot be set up here: .*no such device"),
        ("test_unknown", "test_unknown: its fixtures cannot be set up here: .*'nobody_has_it' not found"),
    ],
)
def test_fixtures_that_cannot_be_set_up_are_told_by_name(file, name, said, against):
    against()
    with pytest.raises(UsageError, match=said):
        find(file, f"test_suite.py::{name}").call()


def test_what_the_body_raises_is_raised(file, against):
    against()
    with pytest.raises(ValueError, match="the body's own"):
        find(file, "test_suite.py::test_raises").call()


@pytest.mark.slow
def test_a_campaign_explores_them_and_names_those_it_cannot(shell, file, tmp_path):
    with shell("autotest", "fuzz", file, "--trials", 5, "--seed", 1, candidate="torch") as run:
        output, _ = run.communicate()
    assert "20 trials of 4 tests" in output, output
    assert "its fixtures cannot be set up here" in output
    assert "no such device" in output
    assert "the body's own" in output


def test_a_project_in_which_warnings_are_errors_is_no_obstacle(tmp_path):
    file = tmp_path / "test_strict.py"
    file.write_text(textwrap.dedent(SUITE))
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings =\n    error\n")
    called = []
    with driven_by(lambda test, context: called.append(test.id)):
        find(file, "test_strict.py::test_twice").call()
    assert len(called) == 1
