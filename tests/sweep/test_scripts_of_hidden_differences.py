"""Differences in strides, shared memory and repeatability have scripts, which print them and exit with 1."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from autotest.frameworks import Pair
from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.results.finding import Finding
from autotest.results.sweep import Check
from autotest.sweeping.hidden_differences import hidden_finding
from tests.sweep.planted import TORCH, lies_otherwise

CALLS = {
    "permute": Call("function", "permute", (Ref(0), (1, 0)), {}, 1),
    "transpose": Call("function", "transpose", (Ref(0), 0, 1), {}, 1),
    "positive": Call("function", "positive", (Ref(0),), {}, 1),
    "cosh": Call("function", "cosh", (Ref(0),), {}, 1),
    "exp": Call("function", "exp", (Ref(0),), {}, 1),
}


def program(name: str, shape: tuple[int, ...] = (2, 3)) -> Program:
    data = Array(np.random.default_rng(1).random(shape, "float32"), "float32")
    return Program((tensor_call(0, 0, data, requires_grad=False), CALLS[name]), (data,))


def found(check: Check, name: str, shape: tuple[int, ...] = (2, 3)) -> Finding | None:
    return hidden_finding(check, "it differs", "a sweep", program(name, shape), Pair(TORCH, lies_otherwise()))


def run(script: str, path: Path) -> object:
    """Return the exit status of a script, run in this process, because a new one is slow to start."""
    path.write_text(script, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    return ended.value.code


@pytest.mark.parametrize(
    ("check", "name", "said"),
    [
        ("strides", "permute", "DIFFERS: torch has strides [1, 3], faulty [2, 1]"),
        ("alias", "transpose", "DIFFERS: the result shares memory with its operand on torch, and has its own memory"),
        ("alias", "positive", "DIFFERS: the result is its operand on torch, and has its own memory on faulty"),
        ("repeat", "cosh", "DIFFERS: faulty gives [["),
    ],
)
@pytest.mark.parametrize("shape", [(2, 3), (40, 30)])
def test_a_script_shows_what_values_do_not(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, check: Check, name: str, said: str, shape: tuple[int, ...]
) -> None:
    finding = found(check, name, shape)
    assert finding is not None
    assert finding.script is not None
    assert (finding.operator, run(finding.script, tmp_path / "script.py")) == (name, 1)
    printed = capsys.readouterr().out
    assert printed.startswith(said.replace("[1, 3], faulty [2, 1]", "[") if shape != (2, 3) else said)


def test_a_script_says_when_it_is_gone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    finding = found("strides", "permute")
    assert finding is not None
    assert finding.script is not None
    mended = finding.script.replace("(1, 0)", "(0, 1)")
    assert run(mended, tmp_path / "script.py") in (None, 0)
    assert "same" in capsys.readouterr().out


@pytest.mark.parametrize("check", ["strides", "alias", "repeat"])
def test_what_does_not_show_again_has_no_script(check: Check) -> None:
    assert found(check, "exp") is None
