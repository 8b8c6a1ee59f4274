"""Every reproducer of the ledgers still shows its divergence in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.reproducing import run_all

HERE = Path(__file__).parent
FILES = sorted([*HERE.glob("reproducers/*.py"), *HERE.parent.glob("oneflow_style/reproducers/*.py")])
#: In a fork, OneFlow computes in the caller's thread, and raises errors that end other processes.
ALONE = [file for file in FILES if file.name in ("setitem-expanded.py", "fill-expanded-cotangent.py")]
FORKED = [file for file in FILES if file not in ALONE]
#: One process for each worker of CI, because each process imports both frameworks.
PARTS = [FORKED[::2], FORKED[1::2]]


def not_shown(files, timeout=1160.0):
    """Return the output of each of `files` that does not exit with 1, or that ends with a traceback."""
    found = run_all(files, timeout)
    missing = {file.name: "it was not run to its end" for file in files if file.name not in found}
    wrong = {
        name: f"status {status}: {output[-400:]}"
        for name, (status, output) in found.items()
        if status != 1 or "Traceback (most recent call last)" in output
    }
    return {**missing, **wrong}


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.oneflow
@pytest.mark.parametrize("part", range(len(PARTS)))
def test_every_reproducer_of_the_ledger_shows_its_divergence(part, importable_elsewhere):
    assert not_shown(PARTS[part]) == {}


@pytest.mark.slow
@pytest.mark.oneflow
@pytest.mark.parametrize("file", ALONE, ids=lambda file: file.name)
def test_a_reproducer_that_no_fork_shows_does_in_an_interpreter_of_its_own(file):
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 1, done.stdout


#: A script that starts itself again, and exits with 1 if that process dies of its own signal.
IN_A_CHILD = """
import os, subprocess, sys
import oneflow
if sys.argv[1:]:
    {child}
asked = [sys.executable, __file__, "child"]
ended = subprocess.run(asked, stdout=subprocess.PIPE, text=True)
print(ended.returncode, ended.stdout)
sys.exit(ended.returncode == -6)
"""


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.oneflow
def test_a_script_that_shows_nothing_or_breaks_is_told(tmp_path, importable_elsewhere):
    scripts = {
        "gone": "raise SystemExit(0)",
        "broken": "1 / 0",
        "shows": "import sys; sys.exit(1)",
        "its child dies": IN_A_CHILD.format(child="os.abort()"),
        "its child exits": IN_A_CHILD.format(child="sys.exit(7)"),
        "its child lives": IN_A_CHILD.format(child="sys.exit(print(oneflow.ones(2).sum().item(), *sys.argv[1:2]))"),
    }
    for name, text in scripts.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    told = not_shown(sorted(tmp_path.glob("*.py")))
    assert sorted(told) == ["broken.py", "gone.py", "its child exits.py", "its child lives.py"]
    assert "ZeroDivisionError" in told["broken.py"]
    assert told["gone.py"].startswith("status 0")
    assert told["its child exits.py"].startswith("status 0: 7 ")
    assert told["its child lives.py"].startswith("status 0: 0 2.0 child")
