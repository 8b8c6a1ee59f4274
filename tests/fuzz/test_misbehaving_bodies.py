"""A test body that misbehaves costs its own test at most, and what it starts ends with its worker."""

from __future__ import annotations

import signal
import time

from tests.fuzz.conftest import entries
from tests.support.tasks_of_children import alive

SUITE = """
import os, subprocess

from autotest import autotest, random_tensor, torch


@autotest(n=3)
def test_a_body():
    {body}
    return torch.tanh(random_tensor(2))


@autotest(n=3)
def test_b_relu():
    return torch.relu(random_tensor(2))
"""
MIXED = "tests.support.deadly:mixed"


def test_a_body_that_forks_and_goes_on_in_both_processes_counts_once(told_by, tmp_path):
    (tmp_path / "test_it.py").write_text(SUITE.format(body="os.fork()"))
    run = told_by("autotest", "fuzz", "test_it.py", "--trials", "3", "--jobs", "1", candidate=MIXED)
    assert run.status == 1, run.output
    assert "6 trials of 2 tests" in run.output
    assert list(entries(tmp_path)) == ["relu"]


def test_a_body_that_ends_its_process_group_costs_its_worker(told_by, tmp_path):
    (tmp_path / "test_it.py").write_text(SUITE.format(body=f"os.killpg(0, {int(signal.SIGTERM)})"))
    run = told_by("autotest", "fuzz", "test_it.py", "--trials", "3", "--jobs", "1", candidate=MIXED)
    assert run.status in (1, 2), run.output
    assert "relu" in entries(tmp_path)


def test_what_a_body_has_started_ends_with_the_campaign(told_by, tmp_path):
    started = tmp_path / "started"
    body = f"print(subprocess.Popen(['sleep', '600']).pid, file=open({str(started)!r}, 'a'))"
    (tmp_path / "test_it.py").write_text(SUITE.format(body=body))
    run = told_by("autotest", "fuzz", "test_it.py", "--trials", "2", "--jobs", "1", candidate=MIXED)
    assert run.status == 1, run.output
    pids = [int(pid) for pid in started.read_text().split()]
    assert len(pids) == 2
    end = time.monotonic() + 20
    while any(map(alive, pids)):
        assert time.monotonic() < end, pids
        time.sleep(0.05)
