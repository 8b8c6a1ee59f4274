"""After Ctrl-C, a run writes its report and its files, also if OneFlow was imported."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from autotest import random_tensor, torch
from autotest.cli.termination import terminated
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.storage.store import Store, Stored
from tests.support import faults
from tests.support.running import trials
from tests.support.warm import WarmProcess

ROOT = Path(__file__).parents[2]
#: A test that prints a line when its second trial begins, and then waits for Ctrl-C.
SUITE = """
import time
from pathlib import Path
from autotest import autotest, random_tensor, torch

@autotest(n=3)
def test_first():
    return torch.relu(random_tensor(2))

@autotest(n=3)
def test_waits():
    Path("ready").touch()
    time.sleep({seconds})
    return torch.relu(random_tensor(2))
"""


@pytest.fixture
def interrupted(warm_process: WarmProcess, tmp_path: Path) -> Callable[..., pytest.RunResult]:
    """Return ``interrupted(candidate, seconds, *command)``: the command's end after Ctrl-C during a trial."""

    def run(candidate: str, seconds: float, *command: str) -> pytest.RunResult:
        (tmp_path / "test_it.py").write_text(SUITE.format(seconds=seconds), encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AUTOTEST_")}
        around = {**kept, "PYTHONPATH": str(ROOT), "AUTOTEST_CANDIDATE": candidate}
        log = tmp_path / "output"
        with contextlib.closing(warm_process.started(command, tmp_path, around, log)) as process:
            deadline = time.monotonic() + 200
            while not (tmp_path / "ready").exists() and process.status() is None and time.monotonic() < deadline:
                time.sleep(0.1)
            os.kill(process.pid(), signal.SIGINT)
            status = process.status(60)
        return pytest.RunResult(status, log.read_text(encoding="utf-8").splitlines(), [], 0.0)

    return run


@pytest.mark.parametrize("candidate", ["torch", pytest.param("oneflow", marks=[pytest.mark.oneflow, pytest.mark.slow])])
def test_pytest_tells_what_it_heard_and_writes_its_files(tmp_path, interrupted, candidate):
    done = interrupted(candidate, 60, "pytest", "-p", "no:cacheprovider", "--junitxml", "report.xml", "test_it.py")
    output = done.stdout.str()
    assert done.ret == pytest.ExitCode.INTERRUPTED, output
    assert "KeyboardInterrupt" in output
    assert "1 test ran 3 trials: 3 accepted" in output
    assert "test_first" in (tmp_path / "report.xml").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("candidate", ["torch", pytest.param("oneflow", marks=pytest.mark.oneflow)])
def test_fuzz_tells_what_it_found_and_writes_its_files(tmp_path, interrupted, candidate):
    command = (
        "autotest",
        "fuzz",
        "test_it.py",
        "--trials",
        "3000",
        "--jobs",
        "1",
        "--json",
        "all.json",
        "--junitxml",
        "r.xml",
    )
    done = interrupted(candidate, 0.05, *command)
    output = done.stdout.str()
    assert "(interrupted)" in output
    assert "Nothing new found before it was interrupted." in output
    assert done.ret == 3
    assert (tmp_path / "all.json").exists()
    assert (tmp_path / "r.xml").exists()


def test_sigterm_twice_is_one_interrupt() -> None:
    usual = signal.getsignal(signal.SIGTERM)
    with terminated():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)  # as `timeout` does, while the map is being written
    assert signal.getsignal(signal.SIGTERM) is usual


def test_ctrl_c_twice_at_once_is_one_interrupt_and_a_later_one_interrupts_again(monkeypatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with terminated():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)  # as `timeout -s INT` does, while the summary is being written
        now += 5
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_finding_whose_diagnosis_is_interrupted_is_kept_and_named(tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(FailedTrial, "_diagnosed", interrupt)
    with pytest.raises(KeyboardInterrupt, match=r"^test_it.py::test_it had a finding, .*: autotest show faulty-relu-"):
        trials(lambda: torch.relu(random_tensor(2)), tmp_path, faults.wrong_relu())
    (kept,) = Store(tmp_path).list()
    assert isinstance(kept, Stored)
    assert kept.finding.script is not None
