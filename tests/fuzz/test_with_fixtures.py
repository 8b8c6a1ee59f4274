"""Tests that need pytest's fixtures run in campaigns and worker processes, under the names that pytest gives them."""

from __future__ import annotations

import getpass
import inspect
import os
import tempfile
import textwrap
import time
import warnings

import pytest

from autotest.base.errors import UsageError
from autotest.sources.collection import collect, find
from autotest.sources.pytest_session import sessions_kept
from autotest.trials.driver import driven_by
from tests.plugin.conftest import PLUGIN

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


def test_nothing_beside_a_file_is_collected_with_it(file, tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTEST_TEST_LOG", "")
    collecting = "import os\n\ndef pytest_collect_{}({}): os.environ['AUTOTEST_TEST_LOG'] += {} + ' '\n"
    (tmp_path / "conftest.py").write_text(
        collecting.format("file", "file_path", "file_path.name") + collecting.format("directory", "path", "path.name")
    )
    (tmp_path / "beside").mkdir()
    (tmp_path / "test_beside.py").write_text(file.read_text())
    with sessions_kept():
        assert collect([file]).tests
        assert os.environ["AUTOTEST_TEST_LOG"].split() == ["test_suite.py"]
        assert collect([tmp_path / "test_beside.py"]).tests
        assert os.environ["AUTOTEST_TEST_LOG"].split() == ["test_suite.py", "test_beside.py"]


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
def test_a_campaign_explores_them_and_names_those_it_cannot(told_by, file):
    output = told_by("autotest", "fuzz", file, "--trials", 5, "--seed", 1, candidate="torch").output
    assert "20 trials of 4 tests" in output, output
    assert "its fixtures cannot be set up here" in output
    assert "no such device" in output
    assert "the body's own" in output


VARIANTS = """
    import pytest
    from autotest import autotest, random_tensor

    @pytest.fixture(params=["small", "large"])
    def size(request):
        return request.param

    @pytest.fixture(params=[1, 2])
    def rank(request):
        return request.param

    def pytest_generate_tests(metafunc):
        if "generated" in metafunc.fixturenames:
            metafunc.parametrize("generated", "xyz")

    SEEN = []

    @autotest(n=2)
    def test_one(size):
        pass

    @pytest.mark.parametrize("dim", [0, 1])
    @autotest(n=2)
    def test_two(size, rank, dim):
        pass

    @autotest(n=2)
    def test_generated(generated):
        pass

    @pytest.mark.parametrize("make", [lambda: 1, lambda: 2])
    @pytest.mark.parametrize("dim", [0, 1])
    @autotest(n=2)
    def test_object(tmp_path, dim, make):
        pass
"""
NAMES = [
    *("test_one", "test_one#2"),
    *("test_two[dim=0]", "test_two[dim=0]#1.2", "test_two[dim=0]#2.1", "test_two[dim=0]#2.2"),
    *("test_two[dim=1]", "test_two[dim=1]#1.2", "test_two[dim=1]#2.1", "test_two[dim=1]#2.2"),
    *("test_generated", "test_generated#2", "test_generated#3"),
    *("test_object[dim=0, make=make0]", "test_object[dim=0, make=make1]"),
    *("test_object[dim=1, make=make0]", "test_object[dim=1, make=make1]"),
]


@pytest.fixture
def variants(tmp_path):
    path = tmp_path / "test_variants.py"
    path.write_text(textwrap.dedent(VARIANTS))
    return path


def test_a_test_is_collected_with_each_parameter_of_its_fixtures(variants):
    found = collect([variants])
    assert sorted(test.id.partition("::")[2] for test in found.tests) == sorted(NAMES)
    assert not found.renamed


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("test_one", {"size": "small"}),
        ("test_one#2", {"size": "large"}),
        ("test_two[dim=1]#1.2", {"size": "large", "rank": 1, "dim": 1}),
        ("test_generated#3", {"generated": "z"}),
        ("test_object[dim=1, make=make0]", {"dim": 1}),
    ],
)
def test_a_test_is_called_with_those_parameters_that_its_name_says(variants, name, given, against):
    against()
    called = []
    with driven_by(lambda test, context: called.append(inspect.getclosurevars(test.body).nonlocals["kwargs"])):
        find(variants, f"test_variants.py::{name}").call()
    assert [{key: arguments[key] for key in given} for arguments in called] == [given]


def test_pytest_gives_them_the_same_names_whichever_are_selected(pytester, quick, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    file = pytester.makepyfile(test_variants=textwrap.dedent(VARIANTS))
    seen = []
    with driven_by(lambda test, context: seen.append(test.id.partition("::")[2])):
        pytester.runpytest_inprocess(*PLUGIN)
        assert sorted(seen) == sorted(NAMES)
        seen.clear()
        pytester.runpytest_inprocess(*PLUGIN, "-k", "large")
        pytester.runpytest_inprocess(*PLUGIN, f"{file}::test_generated[z]")
    assert "test_one#2" in seen
    assert "test_one" not in seen
    assert seen[-1] == "test_generated#3"


def test_ctrl_c_in_the_body_ends_more_than_the_test(file, against):
    against()

    def interrupt(test, context):
        raise KeyboardInterrupt

    with driven_by(interrupt), pytest.raises(KeyboardInterrupt):
        find(file, "test_suite.py::test_twice").call()


def test_a_project_in_which_warnings_are_errors_is_no_obstacle(tmp_path):
    file = tmp_path / "test_strict.py"
    file.write_text(textwrap.dedent(SUITE))
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings =\n    error\n")
    called = []

    def note(test, context):
        warnings.warn("of a trial", UserWarning, stacklevel=1)
        called.append(test.id)

    with driven_by(note):
        find(file, "test_strict.py::test_twice").call()
    assert len(called) == 1


def test_the_timeout_of_a_test_under_pytest_does_not_end_the_many_trials_of_a_task(tmp_path):
    file = tmp_path / "test_timely.py"
    file.write_text(textwrap.dedent(SUITE))
    (tmp_path / "pytest.ini").write_text("[pytest]\ntimeout = 0.1\n")
    with driven_by(lambda test, context: time.sleep(0.2)):
        find(file, "test_timely.py::test_twice").call()


def test_temporary_folders_are_removed_and_those_of_other_runs_stay(file, against, monkeypatch, tmp_path):
    against()
    users = tmp_path / f"pytest-of-{getpass.getuser()}"
    of_other_runs = [users / f"pytest-{number}" for number in range(5)]
    for folder in of_other_runs:
        folder.mkdir(mode=0o700, parents=True)
    users.chmod(0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    during = []
    with sessions_kept():
        for _ in range(3):
            find(file, "test_suite.py::test_twice").call()
            during += [place for place in tmp_path.rglob("test_twice*") if place.is_dir() and not place.is_symlink()]
    assert during == []
    assert sorted(users.iterdir()) == of_other_runs
    assert not list(tmp_path.glob("autotest-*"))
