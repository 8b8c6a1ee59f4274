"""`autotest sweep --calls` checks the operators of a program on the candidate."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from autotest import harvest
from autotest.cli import main


@pytest.fixture
def judged(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    quick: Path,
    importable_elsewhere: None,
    warm: None,
) -> Callable[..., tuple[int, str]]:
    """Return ``judged(function, candidate)``: exit status and output of a sweep of the function's calls."""
    monkeypatch.chdir(tmp_path)

    def run(function: Callable[[], object], candidate: str) -> tuple[int, str]:
        with harvest("calls.jsonl"):
            function()
        monkeypatch.setenv("AUTOTEST_CANDIDATE", candidate)
        capsys.readouterr()
        status = main(["sweep", "--calls", "calls.jsonl", "--jobs", "1"])
        printed = capsys.readouterr()
        return status, printed.out + printed.err

    return run


def network() -> None:
    # relu of other numbers sometimes gives only zeros, whose softmax shows no fault.
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU())
    torch.nn.functional.softmax(model(torch.randn(2, 4)), dim=-1)


def test_all_calls_work_on_the_same_framework(judged: Callable[..., tuple[int, str]]) -> None:
    status, said = judged(network, "torch")
    assert status == 0, said
    assert "On torch, of 6 operators (by form and dtype): 5 working, 1 working (contents not specified)." in said


@pytest.mark.slow
def test_a_wrong_operator_is_named_and_a_script_that_does_not_show_it_says_so(
    judged: Callable[..., tuple[int, str]],
) -> None:
    status, said = judged(network, "tests.sweep.planted:wrong_relu_but_in_scripts")
    assert status == 1
    assert "nn.functional.relu/function/float32: differs" in said
    (line,) = [line for line in said.splitlines() if "reproduce: python " in line and "relu" in line]
    assert "(DOES NOT REPRODUCE in a fresh interpreter)" in line


@pytest.mark.oneflow
@pytest.mark.slow
def test_a_divergence_is_kept_with_a_script_that_was_seen_to_show_it(
    judged: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    status, said = judged(lambda: torch.lgamma(torch.rand(3, requires_grad=True)), "oneflow")
    assert status == 1
    assert "lgamma/function/float32: differs (1 of 1 call tried)" in said
    (line,) = [line for line in said.splitlines() if "reproduce: python " in line]
    assert line.endswith("(verified in a fresh interpreter)")
    script = line.partition("python ")[2].partition(" (")[0]
    assert subprocess.run([sys.executable, script], cwd=tmp_path, check=False, timeout=120).returncode == 1


@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        ("no_such_framework", "no framework is named 'no_such_framework'. Registered are"),
        ("no_such_module:factory", "(no_such_module:factory) cannot be imported"),
    ],
)
def test_a_candidate_that_is_none_is_a_wrong_command_line(
    judged: Callable[..., tuple[int, str]], candidate: str, said: str
) -> None:
    status, told = judged(lambda: torch.ones(2), candidate)
    assert status == 2
    assert said in told
    assert "Traceback" not in told
