"""A death of an earlier process counts in runs of its test on the same frameworks, and is not lost in others."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
from pathlib import Path

import pytest

from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.comparison import Mismatch
from autotest.diagnosis import verification
from autotest.frameworks import Pair, registry
from autotest.frameworks.torch import TorchFramework
from autotest.processes import breadcrumb
from autotest.results.finding import Finding
from autotest.results.verification import State, Verification
from autotest.running.deaths import death_finding
from autotest.running.deaths.earlier import earlier_deaths
from autotest.storage.store import Store
from autotest.trials import decorated
from autotest.trials.context import RunContext

SUITE = """
import unittest
from autotest import autotest, random_tensor, torch

class TestDie(unittest.TestCase):
    @autotest(n=3)
    def test_sinh(self):
        return torch.sinh(random_tensor(2))
"""
NAMES = [("torch", "tests.support.deadly:six"), ("torch", "tests.support.faults:wrong_relu")]


def the_test(file: Path) -> decorated.Test:
    return decorated.Test("test_it.py::test_a", lambda: None, Settings(), file)


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """Return the trail file of a process that died in a trial of the test, which ran against two candidates."""
    folder = breadcrumb.folder(tmp_path)
    crumb = breadcrumb.Breadcrumb(folder / "1.trail")
    crumb.test(tmp_path / "test_it.py", "test_it.py::test_a", 0, frameworks=NAMES)
    crumb.trial(3)
    shutil.copy(crumb.path, folder / "2.trail")
    crumb.close()
    return folder / "2.trail"


def test_a_stored_death_counts_for_its_own_frameworks(tmp_path, monkeypatch):
    store = Store(tmp_path)
    first = Mismatch("sinh", 0, "crash", "forward", "candidate", "sinh: mine dies (SIGSEGV)")
    store.save(Finding("test_it.py::test_a", 0, 0, 17, (first,), ("torch", "mine"), None, {}, {}, script="..."))
    monkeypatch.setattr(verification, "verify", lambda script, **_: Verification(State.VERIFIED))
    for name, count in (("mine", 1), ("other", 0)):
        pair = Pair(TorchFramework("torch"), TorchFramework(name))
        context = RunContext(pair, Options(directory=tmp_path))
        assert len([*earlier_deaths(the_test(tmp_path / "test_it.py"), context, store)]) == count


def test_a_trail_is_examined_with_the_candidates_that_ran_and_left_to_the_next_of_them(tmp_path, monkeypatch, trail):
    seen = []

    def recovered(position, context):
        seen.append(context.pair.names)
        return Verification(State.SURVIVED)

    monkeypatch.setattr(death_finding, "_recovered", recovered)
    others = ("torch", "torch")
    for names in (others, *NAMES):
        assert trail.exists()
        context = RunContext(registry.pair(*names), Options(directory=tmp_path))
        assert [*earlier_deaths(the_test(tmp_path / "test_it.py"), context, Store(tmp_path / "kept"))] == []
    assert seen == NAMES
    assert not trail.exists()


def test_a_trail_names_the_frameworks_to_recover_it_with(tmp_path, monkeypatch, trail):
    seen = []

    def recovered(position, context):
        seen.append(context.pair.names)
        return Verification(State.SURVIVED)

    monkeypatch.setattr(death_finding, "_recovered", recovered)
    ((path, position),) = breadcrumb.dead(trail.parent)
    death_finding.recover_any(path, position, Options(), lambda: pytest.fail("the frameworks are known"))
    assert seen == NAMES
    assert not trail.exists()


def test_a_trail_whose_diagnosis_is_interrupted_is_kept(monkeypatch, trail):
    def interrupted(position, context):
        raise KeyboardInterrupt

    monkeypatch.setattr(death_finding, "_recovered", interrupted)
    ((path, position),) = breadcrumb.dead(trail.parent)
    with pytest.raises(KeyboardInterrupt):
        death_finding.recover(path, position, RunContext(registry.pair(*NAMES[0])))
    assert trail.exists()


def test_a_trail_that_cannot_be_deleted_is_examined_again_and_ends_no_run(tmp_path, monkeypatch, trail):
    idle = breadcrumb.Breadcrumb(trail.parent / "3.trail")
    idle.test(tmp_path / "test_it.py", "test_it.py::test_b", 0)
    shutil.copy(idle.path, trail.parent / "4.trail")
    idle.close()

    def refused(path, missing_ok=False):
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(Path, "unlink", refused)
    monkeypatch.setattr(death_finding, "_recovered", lambda position, context: Verification(State.SURVIVED))
    for _ in range(2):
        ((path, position),) = breadcrumb.dead(trail.parent)
        assert death_finding.recover(path, position, RunContext(registry.pair(*NAMES[0]))) == Verification(
            State.SURVIVED
        )


@pytest.mark.parametrize("facts", [[5, "t", 0, {}], ["t.py", "t", "0", {}], ["t.py", "t", 0, None], {}, 7])
def test_a_trail_whose_facts_are_damaged_names_no_death(trail, facts):
    before = breadcrumb._TEST_AT
    data = bytearray(trail.read_bytes())
    written = json.dumps(facts).encode() + b"\n"
    data[before : before + len(written)] = written
    trail.write_bytes(data)
    assert [*breadcrumb.dead(trail.parent)] == []


def test_a_stored_death_counts_as_long_as_the_test_still_dies(told_by, tmp_path):
    file = tmp_path / "test_die.py"
    file.write_text(SUITE)
    assert told_by("unittest", file.name, AUTOTEST_QUICK="1").status < 0
    for _ in range(2):
        run = told_by("unittest", file.name, AUTOTEST_QUICK="1")
        assert (run.status, "sinh: faulty dies (SIGSEGV)" in run.output) == (1, True), run.output
    file.write_text(SUITE.replace("torch.sinh", "torch.sigmoid"))
    run = told_by("unittest", file.name, AUTOTEST_QUICK="1")
    assert run.status == 0, run.output
    assert [*tmp_path.glob(".autotest/failures/*/survived.txt")]
    file.write_text(SUITE)  # it dies as before, whatever the note says of another version of the file
    run = told_by("unittest", file.name, AUTOTEST_QUICK="1")
    assert (run.status, "sinh: faulty dies (SIGSEGV)" in run.output) == (1, True), run.output


@pytest.fixture
def died(tmp_path, monkeypatch):
    """Return a function that looks for a stored death, whose script still dies, and returns what it found and ran.

    It takes whether the test's own trial dies, too.
    """
    file = tmp_path / "test_it.py"
    file.write_text("1")
    first = Mismatch("sinh", 0, "crash", "forward", "candidate", "sinh: wrong_relu dies (SIGSEGV)")
    pair = registry.pair(*NAMES[1])
    finding = Finding("test_it.py::test_a", 0, 0, 17, (first,), pair.sides, None, {}, {}, script="...")
    Store(tmp_path).save(finding)
    ran = []

    def look(*, dies):
        ran.clear()
        monkeypatch.setattr(
            verification, "verify", lambda script, **_: ran.append("script") or Verification(State.VERIFIED)
        )
        monkeypatch.setattr(death_finding, "dies_again", lambda *_: ran.append("trial") or dies)
        context = RunContext(pair, Options(directory=tmp_path))
        found = [*earlier_deaths(the_test(file), context, Store(tmp_path))]
        return len(found), [*ran]

    return look


def change(file: Path, text: str) -> None:
    file.write_text(text)
    later = time.time() + 10
    os.utime(file, (later, later))


def test_a_death_that_a_changed_test_survives_is_checked_once(tmp_path, died):
    assert died(dies=True) == (1, ["script", "trial"])
    change(tmp_path / "test_it.py", "2")
    assert died(dies=False) == (0, ["script", "trial"])
    assert died(dies=False) == (0, [])
    change(tmp_path / "test_it.py", "1")
    assert died(dies=True) == (1, ["script", "trial"])


def test_a_death_that_an_unchanged_test_survives_is_checked_again(died):
    assert died(dies=False) == (0, ["script", "trial"])
    assert died(dies=True) == (1, ["script", "trial"])
