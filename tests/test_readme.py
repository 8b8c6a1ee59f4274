"""The README is executed: its snippets run, its commands work, and the reproducers that it shows are stored ones.

The language of a block decides: ``python`` is run (by pytest if it contains tests), ``py`` is a reproducer and exits 1,
``console`` lists commands, of which those of this library run for a few seconds, and ``text`` is output. ``python3``
are tests that fail, with the report and the reproducers that follow.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.support.reproducing import run_all
from tests.support.warm import WarmProcess

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")

Run = Callable[..., pytest.RunResult]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    return [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")]


def around(folder: Path, **environment: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "AUTOTEST_DIR": str(folder / "kept"), **environment}


@pytest.fixture
def run(warm_process: WarmProcess, tmp_path: Path) -> Run:
    """Return a function that does ``python -m`` in the test's folder, in a fork of a process with torch."""
    return lambda *arguments, **environment: warm_process.result(arguments, tmp_path, around(tmp_path, **environment))


def plain(text: str) -> str:
    """Return `text` without what differs between machines: the build of torch, and the digits of rounding errors."""
    return re.sub(r"\d\.\d+e-1\d", "ROUNDING", re.sub(r"(\d\.\d\.\d)\+\w+", r"\1", text))


def test_there_is_something_to_execute() -> None:
    assert len(blocks("python")) >= 4
    assert len(commands()) >= 2


SCRIPTS = [block for block in blocks("python") if "def test_" not in block]


@pytest.mark.oneflow
def test_snippets_with_tests_pass_under_pytest(tmp_path: Path, run: Run) -> None:
    # In one project, because each project would import both frameworks again.
    snippets = [block for block in blocks("python") if block not in SCRIPTS]
    for index, snippet in enumerate(snippets):
        (tmp_path / f"test_snippet_{index}.py").write_text(snippet, encoding="utf-8")
    options = ["-q", "-rA", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml")]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # a fork has imported the plugin already
    done = run("pytest", *options, str(tmp_path))

    assert done.ret == 0, done.stdout.str()
    assert set(re.findall(r"^PASSED .*?test_snippet_(\d+)\.py", done.stdout.str(), re.MULTILINE)) == {
        str(index) for index in range(len(snippets))
    }


@pytest.mark.oneflow
@pytest.mark.parametrize("index", range(len(SCRIPTS)))
def test_snippets_without_tests_run(index: int, tmp_path: Path, run: Run) -> None:
    (tmp_path / "snippet.py").write_text(SCRIPTS[index], encoding="utf-8")
    done = run("snippet")

    assert done.ret == 0, done.stdout.str()


@pytest.mark.oneflow
def test_the_unittest_snippet_runs_under_unittest_too(tmp_path: Path, run: Run) -> None:
    snippet = next(block for block in blocks("python") if "unittest.TestCase" in block)
    (tmp_path / "test_snippet.py").write_text(snippet, encoding="utf-8")
    done = run("unittest", "test_snippet")

    assert done.ret == 0, done.stdout.str()
    assert done.stdout.lines[-1] == "OK"


def test_the_set_up_commands_are_the_two_that_were_promised() -> None:
    assert "pip install uv && uv run autotest fuzz tests/alignment --time 60s" in commands()
    assert "pip install uv && uv run pytest -n 4" in commands()


def test_ci_runs_the_tests_as_it_says() -> None:
    legs = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    (command,) = [command.rpartition(" && ")[2] for command in commands() if "uv run pytest" in command]
    assert [leg for leg in legs if leg.startswith(f"{command} ||")]


@pytest.mark.oneflow
@pytest.mark.parametrize("command", [c for c in dict.fromkeys(commands()) if "autotest " in c and "KEY" not in c])
def test_commands_of_this_library_run(command: str, run: Run) -> None:
    words = shlex.split(command.rpartition("uv run ")[2])
    words = [word.replace("tests/alignment", str(ROOT / "tests/alignment")) for word in words]
    assert words[0] == "autotest"
    # One second shows that the command works. Its findings are not tested here.
    words = ["1s" if re.fullmatch(r"\d+(s|m|h)", word) else word for word in words]
    done = run(*words, AUTOTEST_VERIFY="0", AUTOTEST_SHRINK="0")

    assert done.ret in (0, 1), done.stdout.str()


@pytest.mark.slow
@pytest.mark.oneflow
def test_the_report_and_the_reproducers_that_it_shows_are_those_of_its_tests(tmp_path: Path) -> None:
    (tests,) = blocks("python3")
    (tmp_path / "test_findings.py").write_text(tests, encoding="utf-8")
    kept = tmp_path / ".autotest"
    (command,) = re.findall(r"`AUTOTEST_SEED=1 (pytest .*?)`", README)
    # In a new interpreter, as readers run it.
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)],
        cwd=tmp_path,
        env=around(tmp_path, AUTOTEST_DIR=str(kept), AUTOTEST_SEED="1", AUTOTEST_VERIFY="", AUTOTEST_SHRINK=""),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )

    (report,) = [block for block in blocks("text") if block.startswith("oneflow diverges from torch: lgamma")]
    assert plain(report) in plain(done.stdout)
    scripts = [path.read_text(encoding="utf-8") for path in kept.glob("failures/*/repro.py")]
    assert {*map(plain, scripts)} == {*map(plain, blocks("py"))}


@pytest.fixture(scope="module")
def reproducers(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[int, str]]:
    """Return status and output of each reproducer, run in forks of one process that has imported both frameworks."""
    folder = tmp_path_factory.mktemp("reproducers")
    for index, text in enumerate(blocks("py")):
        (folder / f"{index}.py").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", str(ROOT))
        return run_all(sorted(folder.glob("*.py")), 280.0)


@pytest.mark.oneflow
@pytest.mark.parametrize("index", range(len(blocks("py"))))
def test_reproducers_that_it_shows_still_show_their_divergence(
    index: int, reproducers: Mapping[str, tuple[int, str]]
) -> None:
    status, output = reproducers[f"{index}.py"]

    assert status == 1, output
    assert "Traceback" not in output
    assert len(blocks("py")[index].splitlines()) <= 29  # enough for a death, which waits for every part
