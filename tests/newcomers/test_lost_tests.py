"""Each test has the name that its collector gives it and a unique id, so that none is lost."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from autotest import UsageError, autotest
from autotest.report import campaign, session
from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.tasks import Where
from autotest.sources.collected import Collected
from autotest.sources.collection import collect, find
from autotest.sources.importing import load
from autotest.sources.test_names import trial_seed
from autotest.trials.driver import driven_by

HEAD = "import unittest\nimport pytest\nfrom autotest import autotest, random, random_tensor, torch\n"
FACTORY = """
    def unary(name):
        @autotest(n=2)
        def test(self):
            return getattr(torch, name)(random_tensor(2))
        return test

    class TestUnary(unittest.TestCase):
        pass

    class TestPlain:
        pass

    for name in ("relu", "sin", "cos"):
        setattr(TestUnary, f"test_{name}", unary(name))
        setattr(TestPlain, f"test_{name}", unary(name))

    def make(name):
        @autotest(n=2)
        def test():
            return getattr(torch, name)(random_tensor(2))
        return test

    test_exp = make("exp")
    test_tanh = make("tanh")
"""
NAMES = [
    *(f"TestUnary.test_{name}" for name in ("cos", "relu", "sin")),
    *(f"TestPlain.test_{name}" for name in ("cos", "relu", "sin")),
    *("test_exp", "test_tanh"),
]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(source: str, name: str = "test_it.py") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(HEAD + textwrap.dedent(source))
        return path

    return write


def id_while_running(call: Callable[[], object]) -> str:
    seen: list[str] = []
    with driven_by(lambda test, context: seen.append(test.id)):
        call()
    (only,) = seen
    return only


def ids(*paths: Path) -> list[str]:
    return [test.id for test in collect(paths).tests]


def test_tests_that_a_factory_made_have_names_of_their_own(write):
    path = write(FACTORY)
    assert sorted(ids(path)) == sorted(f"test_it.py::{name}" for name in NAMES)


def test_a_test_is_called_alike_by_fuzz_by_unittest_and_by_a_plain_call(write):
    path = write(FACTORY)
    module = None
    for item in collect([path]).tests:
        assert id_while_running(item.call) == item.id
        module = sys.modules[item.called.function.__module__]
        owner, _, name = item.name.rpartition(".")
        if not owner:
            assert id_while_running(getattr(module, name)) == item.id
        elif owner == "TestUnary":
            assert id_while_running(getattr(module, owner)(name).debug) == item.id
        else:
            assert id_while_running(getattr(getattr(module, owner)(), name)) == item.id
    assert module is not None


def test_a_test_is_called_alike_under_pytest(pytester, quick, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    path = pytester.makepyfile(test_it=HEAD + textwrap.dedent(FACTORY))
    seen: list[str] = []
    with driven_by(lambda test, context: seen.append(test.id)):
        pytester.runpytest_inprocess().assert_outcomes(passed=len(NAMES))
    assert sorted(seen) == sorted(ids(path))


def test_inherited_tests_belong_to_the_class_that_inherits_them(write):
    path = write("""
        class Shared:
            @autotest(n=2)
            def test_it(self):
                pass

        class TestOne(Shared, unittest.TestCase):
            pass

        class TestOther(Shared):
            class TestInner(Shared):
                pass
    """)
    assert ids(path) == [
        "test_it.py::TestOne.test_it",
        "test_it.py::TestOther.TestInner.test_it",
        "test_it.py::TestOther.test_it",
    ]


def test_a_test_that_another_file_made_is_run_where_it_stands(write):
    write(FACTORY.replace("test_exp = make", "helped = make").replace("test_tanh = make", "other = make"), "making.py")
    path = write("""
        from making import make
        test_exp = make("exp")
        test_sqrt = make("sqrt")
    """)
    assert ids(path) == ["test_it.py::test_exp", "test_it.py::test_sqrt"]
    assert [id_while_running(item.call) for item in collect([path]).tests] == ids(path)


def test_a_test_that_is_imported_from_another_test_file_is_run_there_alone(write):
    write("@autotest(n=2)\ndef test_shared():\n    pass\n", "test_sharing.py")
    path = write("from test_sharing import test_shared\n")
    assert ids(path) == []


def test_arguments_without_a_name_are_told_apart_as_pytest_does(write):
    path = write("""
        class Thing:
            pass

        @pytest.mark.parametrize("thing", [Thing(), Thing()])
        @autotest(n=2)
        def test_of(thing):
            pass
    """)
    assert ids(path) == ["test_it.py::test_of[thing=thing0]", "test_it.py::test_of[thing=thing1]"]


def test_the_elements_of_a_set_have_one_order_in_a_name_although_they_have_none_in_a_run(write):
    names = []
    for sets in ("{0, 8}", "{8, 0}"):  # their order depends on the order of insertion
        path = write(f"""
            @pytest.mark.parametrize("dims", [{sets}, ({{"keep": frozenset({sets})}},), [set()]])
            @autotest(n=2)
            def test_sum(dims):
                pass
        """)
        sys.modules.pop(load(path).__name__)
        names.append(ids(path))
        sys.modules.pop(load(path).__name__)
    assert names[0] == names[1]
    assert names[0] == [
        "test_it.py::test_sum[dims={0, 8}]",
        "test_it.py::test_sum[dims=({'keep': frozenset({0, 8})},)]",
        "test_it.py::test_sum[dims=[set()]]",
    ]


def test_pytest_gives_a_test_the_same_name_whichever_others_are_deselected(pytester, quick, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    for folder in ("one", "other"):
        pytester.mkpydir(folder).joinpath("test_it.py").write_text(HEAD + "@autotest(n=2)\ndef test_a(): pass\n")
    seen: list[str] = []
    with driven_by(lambda test, context: seen.append(test.id)):
        result = pytester.runpytest_inprocess("-k", "other")
    assert seen == ["other/test_it.py::test_a"]
    result.stdout.fnmatch_lines(["autotest: other/test_it.py::test_a is listed as other/test_it.py::test_a, because *"])


def test_the_seeds_of_a_test_do_not_depend_on_the_folders_that_its_name_gets_beside_others():
    alone, beside_another = (
        trial_seed(0, f"{file}::test_a[x='a/b']", 3) for file in ("test_it.py", "other/test_it.py")
    )
    assert alone == beside_another
    assert alone != trial_seed(0, "test_it.py::test_a[x='b']", 3)


def test_tests_that_would_share_an_id_get_another_one_and_that_is_told(write):
    same = "@pytest.mark.parametrize('n', [1, 1])\n@autotest(n=2)\ndef test_same(n):\n    pass\n"
    one, other = write(same, "a/test_it.py"), write(same, "b/test_it.py")
    found = collect([one, other])
    named = [item.id for item in found.tests]
    assert named == [
        "test_it.py::test_same[n=1]",
        "test_it.py::test_same[n=1]#2",
        "b/test_it.py::test_same[n=1]",
        "b/test_it.py::test_same[n=1]#2",
    ]
    assert len(found.renamed) == 3
    assert (
        "test_same is listed as b/test_it.py::test_same[n=1], because another test has the same name"
    ) in found.renamed[1]
    assert [id_while_running(item.call) for item in found.tests] == named
    again: list[Collected] = [find(item.file, item.id) for item in found.tests]
    assert [id_while_running(item.call) for item in again] == named


def test_pytest_tells_of_tests_that_would_share_an_id(pytester, quick, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    for folder in ("one", "other"):
        pytester.mkpydir(folder).joinpath("test_it.py").write_text(HEAD + "@autotest(n=2)\ndef test_a(): pass\n")
    seen: list[str] = []
    with driven_by(lambda test, context: seen.append(test.id)):
        result = pytester.runpytest_inprocess()
    assert seen == ["test_it.py::test_a", "other/test_it.py::test_a"]
    result.stdout.fnmatch_lines(["autotest: other/test_it.py::test_a is listed as other/test_it.py::test_a, because *"])


def test_pytest_fails_a_test_whose_decorator_was_forgotten(pytester, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    pytester.makepyfile(
        "from autotest import random_tensor, torch",
        test_bare="from autotest import random_tensor, torch\ndef test_relu(): return torch.relu(random_tensor(2))\n"
        "def test_two(): return 1, torch.relu(random_tensor(2))\ndef test_none(): torch.relu(random_tensor(2))\n",
    )
    result = pytester.runpytest_inprocess("-W", "ignore")
    result.assert_outcomes(failed=2, passed=1)
    result.stdout.fnmatch_lines(
        ["test_bare.py:2: test_relu returned a dual object, but nothing compares it: decorate it with @*"]
    )


def test_pytest_fails_a_method_of_unittest_whose_decorator_was_forgotten(pytester, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    pytester.makepyfile(
        test_bare="""
        import unittest
        from autotest import autotest, random_tensor, torch

        class TestBare(unittest.TestCase):
            def test_relu(self):
                return torch.relu(random_tensor(2))

            def test_none(self):
                self.assertIsNone(None)

            @unittest.expectedFailure
            def test_expected(self):
                self.fail("always")

            @autotest(n=2)
            def test_decorated(self):
                return torch.relu(random_tensor(2))
        """
    )
    result = pytester.runpytest_inprocess("-W", "ignore")
    result.assert_outcomes(failed=1, passed=2, xfailed=1)
    result.stdout.fnmatch_lines(
        ["test_bare.py:5: test_relu returned a dual object, but nothing compares it: decorate it with @*"]
    )


GIVEN = """
import numpy
import pytest
from hypothesis import given, settings, strategies as st
from autotest import autotest, torch
from autotest.sources.hypothesis_strategies import arrays

given_rows = lambda test: settings(max_examples=5, deadline=None)(given(x=arrays(1, dim0=9, low=-1, high=1))(test))

@given_rows
def test_computes(x):
    torch.relu(torch.tensor(x))

@given_rows
def test_returns(x):
    return torch.relu(torch.tensor(x))

@given_rows
@autotest(n=1)
def test_decorated(x):
    return torch.relu(torch.tensor(x))

@given_rows
def test_reads(x):
    assert torch.relu(torch.tensor(x)).sum().item() >= 0

@given_rows
def test_reads_a_side(x):
    numpy.testing.assert_array_equal(torch.relu(torch.tensor(x)).reference, numpy.maximum(x, 0))

@given_rows
def test_raises(x):
    with pytest.raises(RuntimeError):
        torch.mm(torch.tensor(x), torch.tensor(x))

@given_rows
def test_has_nothing_dual(x):
    assert x.shape == (9,)
"""


def test_pytest_fails_a_test_of_hypothesis_in_which_nothing_compares_dual_results(pytester, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    pytester.makepyfile(test_given=GIVEN)
    result = pytester.runpytest_inprocess("-W", "ignore")
    result.assert_outcomes(failed=2, passed=5)
    remedy = "write @autotest(n=1) below @given(...)"
    result.stdout.fnmatch_lines(
        [
            f"test_given.py:*: test_computes computes with dual objects, but nothing compares the results: {remedy}*",
            f"test_given.py:*: test_returns returned a dual object, but nothing compares it: {remedy}",
        ]
    )


def test_a_fixture_is_no_test():
    with pytest.raises(UsageError, match=r"cannot decorate the fixture given: a fixture is not a test"):

        @autotest(n=1)
        @pytest.fixture
        def given(): ...


def test_a_campaign_ends_with_the_tests_that_never_had_an_accepted_trial():
    accepted, refused, untried = (
        TestProgress(Where(Path("test_it.py"), f"test_it.py::{name}", 0)) for name in ("good", "refused", "untried")
    )
    accepted.accepted = accepted.tried = 3
    refused.tried = 5
    refused.rejections["matmul: RuntimeError: no"] = 5
    told = campaign.summary(CampaignProgress(0, [accepted, refused, untried]))
    assert "2 tests had no accepted trial:" in told
    assert "  test_it.py::refused: 0 of 5; mostly matmul: RuntimeError: no" in told
    assert "  test_it.py::untried: no trial was run" in told
    assert "test_it.py::good" not in told


def test_a_pytest_run_ends_with_the_tests_that_never_had_an_accepted_trial():
    heard = {
        "accepted": 0,
        "rejections": {"matmul: RuntimeError": 3},
        "expected": {},
        "left_out": {},
        "cleared": 0,
        "base_seed": 7,
        "versions": {"torch": "2.0.1"},
        "found": [],
        "covered": {},
        "candidates": {},
        "told": False,
    }
    told = session.summary(
        [
            {**heard, "test": "test_it.py::refused"},
            {**heard, "test": "test_it.py::good", "accepted": 2},
            {**heard, "test": "test_it.py::skipped", "told": True},
        ]
    )
    assert told[-2:] == ["1 test had no accepted trial:", "  test_it.py::refused"]


def test_a_file_that_cannot_be_imported_is_told_with_its_line(write):
    found = collect([write("def broken(:\n    pass\n"), write("import no_such_module_here\n", "test_other.py")])
    (syntax, missing) = (item.why for item in found.broken)
    assert syntax.startswith("cannot be imported: SyntaxError: invalid syntax (")
    assert "test_it.py, line 4: def broken(:)" in syntax
    assert "No module named 'no_such_module_here' (line 4: import no_such_module_here)" in missing
