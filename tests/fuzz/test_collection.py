"""Which tests a campaign finds, under which names, and what it does around them."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from autotest.base.errors import UsageError
from autotest.sources.collection import collect, find
from autotest.sources.importing import load
from autotest.trials.driver import driven_by

HEAD = "import unittest\nimport pytest\nfrom autotest import autotest, torch, random_tensor\n"


@pytest.fixture
def file(tmp_path):
    def write(source: str, name: str = "test_it.py") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD + textwrap.dedent(source))
        return path

    return write


def ids(path: Path) -> list[str]:
    return [test.id for test in collect([path]).tests]


def test_functions_methods_and_parameters_are_found_under_the_names_that_pytest_gives_them_seeds_by(file):
    path = file("""
        @autotest()
        def test_plain():
            pass

        def test_undecorated():
            pass

        @pytest.mark.parametrize("dim", [0, 1])
        @pytest.mark.parametrize(("low", "high"), [(0, 1), pytest.param(2, 3, id="far")])
        @autotest()
        def test_many(low, high, dim):
            pass

        class TestCase(unittest.TestCase):
            @autotest()
            def test_method(self):
                pass

        @pytest.mark.parametrize("name", ["a"])
        class TestPlain:
            @autotest()
            def test_it(self, name):
                pass
    """)
    assert ids(path) == [
        "test_it.py::test_plain",
        "test_it.py::test_many[dim=0, high=1, low=0]",
        "test_it.py::test_many[dim=1, high=1, low=0]",
        "test_it.py::test_many[dim=0, high=3, low=2]",
        "test_it.py::test_many[dim=1, high=3, low=2]",
        "test_it.py::TestCase.test_method",
        "test_it.py::TestPlain.test_it[name='a']",
    ]


def test_a_class_with_a_constructor_is_left_out_as_pytest_does(file):
    path = file("""
        class TestFixed:
            def __init__(self, number):
                self.number = number

            @autotest()
            def test_it(self):
                pass
    """)
    found = collect([path])
    assert found.tests == []
    assert [tuple(item) for item in found.left_out] == [
        ("test_it.py::TestFixed.test_it", "pytest collects no class with a constructor")
    ]


def test_each_call_of_a_method_has_a_new_instance(file):
    path = file("""
        class TestPlain:
            calls = 0

            @autotest()
            def test_it(self):
                self.calls += 1
                return self.calls
    """)
    (item,) = collect([path]).tests
    returned = []
    with driven_by(lambda test, _: returned.append(test.body())):
        item.call()
        item.call()
    assert returned == [1, 1]


def test_the_arguments_of_parametrize_may_come_from_an_iterator_and_are_found_each_time(file):
    path = file("""
        @pytest.mark.parametrize(("low", "high"), zip([0, 2], [1, 3]))
        @autotest()
        def test_it(low, high):
            pass
    """)
    known = ["test_it.py::test_it[high=1, low=0]", "test_it.py::test_it[high=3, low=2]"]
    assert ids(path) == ids(path) == known
    assert [find(path, one).id for one in known] == known


def test_a_case_of_parametrize_that_is_skipped_or_goes_through_a_fixture_is_left_out_alone(file):
    path = file("""
        @pytest.mark.parametrize(
            "dim",
            [
                0,
                pytest.param(1, marks=pytest.mark.skip(reason="not yet")),
                pytest.param(2, marks=[pytest.mark.skipif(True, reason="not here")]),
                pytest.param(3, marks=pytest.mark.skipif(False, reason="not here")),
            ],
        )
        @autotest()
        def test_some(dim):
            pass

        @pytest.mark.parametrize("shape", [1, 2], indirect=True)
        @autotest()
        def test_through_a_fixture(shape):
            pass
    """)
    found = collect([path])
    assert [item.id for item in found.tests] == ["test_it.py::test_some[dim=0]", "test_it.py::test_some[dim=3]"]
    assert [tuple(item) for item in found.left_out] == [
        ("test_it.py::test_some[dim=1]", "skipped: not yet"),
        ("test_it.py::test_some[dim=2]", "skipped: not here"),
        ("test_it.py::test_through_a_fixture[shape=1]", "needs the fixtures shape"),
        ("test_it.py::test_through_a_fixture[shape=2]", "needs the fixtures shape"),
    ]


def test_the_name_is_the_one_that_the_running_test_has(file):
    path = file("""
        @pytest.mark.parametrize("dim", [0, 1])
        @autotest()
        def test_function(dim):
            pass

        class TestCase(unittest.TestCase):
            @autotest()
            def test_method(self):
                pass
    """)
    for item in collect([path]).tests:
        seen = []
        with driven_by(lambda test, context, seen=seen: seen.append(test.id)):
            item.call()
        assert seen == [item.id]


def test_set_up_and_tear_down_happen_around_every_call(file):
    path = file("""
        LOG = []

        def setUpModule():
            LOG.append("module")
            unittest.addModuleCleanup(LOG.append, "module cleanup")

        def tearDownModule():
            LOG.append("module down")

        class TestCase(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                LOG.append("class")
                cls.addClassCleanup(LOG.append, "class cleanup")

            @classmethod
            def tearDownClass(cls):
                LOG.append("class down")

            def setUp(self):
                LOG.append("up")
                self.addCleanup(LOG.append, "cleanup")

            def tearDown(self):
                LOG.append("down")

            @autotest()
            def test_method(self):
                pass
    """)
    (item,) = collect([path]).tests
    log = load(path).LOG
    with driven_by(lambda *_: log.append("trials")):
        item.call()
        item.call()
    once = ["up", "trials", "down", "cleanup"]
    once = ["module", "class", *once, "class down", "class cleanup", "module down", "module cleanup"]
    assert log == [*once, *once]


def test_what_cannot_be_explored_is_named_with_its_reason(file):
    path = file("""
        @unittest.skip("not today")
        @autotest()
        def test_skipped():
            pass

        @pytest.mark.skip(reason="never")
        @autotest()
        def test_marked():
            pass
    """)
    assert [(item.name, item.why) for item in collect([path]).left_out] == [
        ("test_it.py::test_skipped", "skipped: not today"),
        ("test_it.py::test_marked", "skipped: never"),
    ]


def test_what_is_expected_to_fail_is_no_news_for_a_campaign_and_can_still_be_run(file):
    """pytest counts its failure as a success. In a campaign each finding would make the nightly run fail."""
    path = file("""
        @pytest.mark.xfail(reason="issue 7")
        @autotest()
        def test_marked():
            pass

        @unittest.expectedFailure
        @autotest()
        def test_unittest():
            pass

        @pytest.mark.xfail(False, reason="elsewhere")
        @autotest()
        def test_elsewhere():
            pass

        @pytest.mark.parametrize("dim", [0, pytest.param(1, marks=pytest.mark.xfail)])
        @autotest()
        def test_some(dim):
            pass
    """)
    found = collect([path])
    assert [test.id for test in found.tests] == ["test_it.py::test_elsewhere", "test_it.py::test_some[dim=0]"]
    assert [tuple(item) for item in found.left_out] == [
        ("test_it.py::test_marked", "expected to fail: issue 7"),
        ("test_it.py::test_unittest", "expected to fail"),
        ("test_it.py::test_some[dim=1]", "expected to fail"),
    ]
    assert find(path, "test_it.py::test_marked").id == "test_it.py::test_marked"


def test_tests_below_a_hidden_folder_are_found_and_hidden_folders_below_are_not_searched(file, tmp_path):
    file("@autotest()\ndef test_a():\n    pass\n", ".worktrees/mine/test_a.py")
    file("@autotest()\ndef test_b():\n    pass\n", ".worktrees/mine/.venv/test_b.py")
    assert ids(tmp_path / ".worktrees" / "mine") == ["test_a.py::test_a"]


def test_folders_are_searched_and_a_file_that_cannot_be_imported_does_not_hide_the_others(file, tmp_path):
    file("@autotest()\ndef test_a():\n    pass\n", "test_a.py")
    file("raise RuntimeError('no')\n", "test_b.py")
    file("@autotest()\ndef test_c():\n    pass\n", "helper.py")
    found = collect([tmp_path])
    assert [test.id for test in found.tests] == ["test_a.py::test_a"]
    assert [(Path(item.name).name, item.why) for item in found.broken] == [
        ("test_b.py", "cannot be imported: RuntimeError: no (line 4: raise RuntimeError('no'))")
    ]


def test_a_file_that_is_named_is_taken_whatever_it_is_called_and_may_import_its_neighbours(file, tmp_path):
    (tmp_path / "neighbour_of_suite.py").write_text("N = 3\n")
    path = file("from neighbour_of_suite import N\n@autotest(n=N)\ndef test_c():\n    pass\n", "suite.py")
    assert ids(path) == ["suite.py::test_c"]


IN_A_PACKAGE = """
from ..values import LOW
from .names_of_checks import NAMES

@pytest.mark.parametrize("name", NAMES)
@autotest()
def test_one(name):
    return getattr(torch, name)(random_tensor(low=LOW))
"""


def in_a_package(file: Callable[..., Path], folder: Path, package: str, low: str) -> Path:
    """Write a test file in `package` below `folder` that uses relative imports; return its path."""
    (folder / package / "checks").mkdir(parents=True)
    for name, source in {
        "__init__.py": "",
        "values.py": f"LOW = {low}\n",
        "checks/__init__.py": "",
        "checks/names_of_checks.py": "NAMES = ['relu', 'exp']\n",
    }.items():
        (folder / package / name).write_text(source)
    return file(IN_A_PACKAGE, f"{folder.name}/{package}/checks/test_package.py")


def test_a_file_of_a_package_may_import_relative_to_it_as_under_pytest(file, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = in_a_package(file, tmp_path / "here", "package_of_relative_imports", "0.5")
    found = collect([path])
    assert [test.id for test in found.tests] == [
        f"test_package.py::test_one[name={name!r}]" for name in ("relu", "exp")
    ]
    assert load(path).LOW == 0.5
    assert load(path) is load(path)


def test_a_file_of_a_package_whose_name_another_one_has_taken_is_told_or_does_without_it(file, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    first, second = (in_a_package(file, tmp_path / one, "package_that_is_there_twice", "0.5") for one in ("a", "b"))
    assert len(collect([first]).tests) == 2
    ((_, why),) = collect([second]).broken
    assert "relative import" in why
    second.write_text(HEAD + "@autotest()\ndef test_two():\n    pass\n")
    assert ids(second) == ["test_package.py::test_two"]


def test_what_is_wrong_with_a_package_is_told(file, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = in_a_package(file, tmp_path / "here", "package_that_raises", "0.5")
    (path.parents[1] / "__init__.py").write_text("import no_such_module_of_package\n")
    ((_, why),) = collect([path]).broken
    assert "No module named 'no_such_module_of_package'" in why


def test_a_missing_path_and_a_test_that_is_gone_are_said(file, tmp_path):
    with pytest.raises(UsageError, match="no such file or folder"):
        collect([tmp_path / "nothing"])
    with pytest.raises(UsageError, match=r"no such file or folder; write '.*test_it\.py' -k test_one"):
        collect([tmp_path / "test_it.py::TestIt::test_one"])
    with pytest.raises(UsageError, match=r"no decorated test 'test_it\.py::test_gone'"):
        find(file(""), "test_it.py::test_gone")


def test_what_autotest_import_names_is_imported_before_the_file(file, tmp_path, monkeypatch):
    (tmp_path / "prepares_it.py").write_text("import os\nos.environ['PREPARED_BY_IMPORT'] = 'yes'\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PREPARED_BY_IMPORT", "no")
    monkeypatch.setenv("AUTOTEST_IMPORT", "prepares_it")
    path = file("import os\nassert os.environ['PREPARED_BY_IMPORT'] == 'yes'\n", "test_prepared.py")
    load(path)


def test_a_module_of_autotest_import_that_is_not_there_is_told_by_name(file, monkeypatch):
    monkeypatch.setenv("AUTOTEST_IMPORT", "no_such_module_here")
    with pytest.raises(UsageError, match=r"AUTOTEST_IMPORT=no_such_module_here: .*No module named"):
        load(file("", "test_unprepared.py"))
