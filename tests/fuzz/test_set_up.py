"""A test that a campaign calls gets the same set-up from its module, its class and autouse fixtures as under pytest."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest

from autotest.base.errors import UsageError
from autotest.sources.collection import collect, find
from autotest.trials.driver import driven_by

HEAD = "import os\nimport unittest\nimport pytest\nfrom autotest import autotest\n"
CONFTEST = """
import os
import pytest

@pytest.fixture(autouse=True)
def log():
    os.environ["AUTOTEST_TEST_LOG"] += " up"
    yield
    os.environ["AUTOTEST_TEST_LOG"] += " down"
"""
PLAIN = "@autotest(n=2)\ndef test_it(): pass\n"
METHOD = "class TestIt:\n    @autotest(n=2)\n    def test_it(self): pass\n"
CASE = "class TestIt(unittest.TestCase):\n    @autotest(n=2)\n    def test_it(self): pass\n"
AUTOUSE = """
@pytest.fixture(autouse=True)
def logging():
    log("up")
    yield
    log("down")
"""


def hooks(up: str, down: str, parameters: str = "", decorator: str = "") -> str:
    body = f"{decorator}\ndef {{0}}({parameters}): log({{1!r}})\n"
    return body.format(up, "up") + body.format(down, "down")


def in_class(test: str, members: str) -> str:
    return test + textwrap.indent(members, "    ")


CLASS_HOOKS = hooks("setup_class", "teardown_class", "cls", "@classmethod")


@pytest.mark.parametrize(
    ("source", "conftest"),
    [
        pytest.param(PLAIN, CONFTEST, id="conftest"),
        pytest.param(CASE, CONFTEST, id="conftest, unittest"),
        pytest.param(AUTOUSE + PLAIN, "", id="autouse"),
        pytest.param(AUTOUSE + CASE, "", id="autouse, unittest"),
        pytest.param(in_class(METHOD, AUTOUSE.replace("()", "(self)")), "", id="autouse in class"),
        pytest.param(hooks("setup_module", "teardown_module") + PLAIN, "", id="setup_module"),
        pytest.param(hooks("setup_module", "teardown_module", "module") + METHOD, "", id="setup_module, class"),
        pytest.param(hooks("setup_function", "teardown_function") + PLAIN, "", id="setup_function"),
        pytest.param(hooks("setUpModule", "tearDownModule") + PLAIN, "", id="setUpModule of a function"),
        pytest.param(hooks("setUpModule", "tearDownModule") + CASE, "", id="setUpModule"),
        pytest.param(in_class(METHOD, CLASS_HOOKS), "", id="setup_class"),
        pytest.param(
            "class TestBase:\n" + textwrap.indent(CLASS_HOOKS, "    ") + METHOD.replace("TestIt", "TestIt(TestBase)"),
            "",
            id="setup_class of a base class",
        ),
        pytest.param(in_class(METHOD, hooks("setup_method", "teardown_method", "self")), "", id="setup_method"),
        pytest.param(in_class(CASE, hooks("setUpClass", "tearDownClass", "cls", "@classmethod")), "", id="setUpClass"),
    ],
)
def test_the_set_up_is_done_around_the_trials_of_every_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, against, source: str, conftest: str
) -> None:
    against()
    log = "def log(word): os.environ['AUTOTEST_TEST_LOG'] += f' {word}'\n"
    file = tmp_path / "test_set_up.py"
    file.write_text(HEAD + log + source)
    (tmp_path / "conftest.py").write_text(conftest)
    monkeypatch.setenv("AUTOTEST_TEST_LOG", "")
    (test,) = collect([file]).tests

    def note(*_: object) -> None:
        monkeypatch.setenv("AUTOTEST_TEST_LOG", os.environ["AUTOTEST_TEST_LOG"] + " trials")

    with driven_by(note):
        for _ in range(2):
            find(file, test.id).call()
    assert os.environ["AUTOTEST_TEST_LOG"].split() == ["up", "trials", "down"] * 2


def test_a_function_that_pytest_would_not_call_is_called_without_it(tmp_path: Path, against) -> None:
    against()
    file = tmp_path / "operators.py"
    file.write_text(HEAD + AUTOUSE + PLAIN.replace("test_it", "relu"))
    called = []
    with driven_by(lambda test, context: called.append(test.id)):
        find(file, "operators.py::relu").call()
    assert called == ["operators.py::relu"]


def test_a_test_that_pytest_deselects_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "test_set_up.py"
    file.write_text(HEAD + PLAIN + PLAIN.replace("test_it", "test_slow"))
    deselecting = "def pytest_collection_modifyitems(items): items[:] = [i for i in items if 'slow' not in i.name]\n"
    (tmp_path / "conftest.py").write_text(CONFTEST + deselecting)
    found = collect([file])
    assert [test.id for test in found.tests] == ["test_set_up.py::test_it"]
    assert [tuple(one) for one in found.left_out] == [
        ("test_set_up.py::test_slow", "pytest does not collect it, or a conftest.py deselects it")
    ]


def test_a_set_up_that_fails_is_told(tmp_path: Path, against) -> None:
    against()
    file = tmp_path / "test_set_up.py"
    file.write_text(HEAD + "def setup_module(): raise OSError('no such device')\n" + PLAIN)
    with pytest.raises(UsageError, match=r"test_it: its fixtures cannot be set up here: .*no such device"):
        find(file, "test_set_up.py::test_it").call()
