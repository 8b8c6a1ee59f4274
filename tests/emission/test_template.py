"""A script in a fork has the same status and output as in a new interpreter, and nothing of other scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.emission.template import Template


@pytest.fixture
def template() -> Iterator[Template]:
    made = Template()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("text", "status", "output", "errors"),
    [
        ("print('said')", 0, "said\n", ""),
        ("import sys; sys.exit(3)", 3, "", ""),
        ("raise SystemExit('words')", 1, "", "words\n"),
        ("print('said', end=''); 1 / 0", 1, "said", "ZeroDivisionError: division by zero\n"),
        ("import os; os.abort()", -6, "", ""),
        ("import atexit; atexit.register(print, 'at the end')", 0, "at the end\n", ""),
        ("import sys; print(sys.stdin.read() == '', __name__, sys.argv == [__file__])", 0, "True __main__ True\n", ""),
        ("print(np.ones(2).sum())", 1, "", "NameError: name 'np' is not defined\n"),
    ],
)
def test_a_script_ends_as_it_would_alone(
    template: Template, tmp_path: Path, text: str, status: int, output: str, errors: str
) -> None:
    (tmp_path / "script.py").write_text(text)
    found = template.run(tmp_path / "script.py")
    assert found[:2] == (status, output), found[2]
    assert found[2].endswith(errors)
    assert bool(found[2]) == bool(errors)


def test_what_a_script_does_is_gone_with_it(template: Template, tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text("import numpy, os; numpy.pi = 3; os.environ['LEFT'] = '1'")
    (tmp_path / "second.py").write_text("import numpy, os; print(numpy.pi > 3, 'LEFT' in os.environ)")
    template.run(tmp_path / "first.py")
    assert template.run(tmp_path / "second.py") == (0, "True False\n", "")


def test_a_script_that_does_not_end_is_told_and_the_next_one_runs(template: Template, tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text("import time; time.sleep(10)")
    (tmp_path / "ends.py").write_text("print('ends')")
    with pytest.raises(TimeoutError, match=r"has not ended within 0\.2 s"):
        template.run(tmp_path / "hangs.py", 0.2)
    assert template.run(tmp_path / "ends.py") == (0, "ends\n", "")
