"""What becomes of a death after its trial has run again. The results of tracing are prepared by the tests."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import tempfile
from pathlib import Path

import numpy as np
import pytest

from autotest import torch
from autotest.base.options import Options
from autotest.diagnosis import crashing
from autotest.diagnosis.shrinking.probing import ProbeOptions
from autotest.frameworks import chosen_pair, registry
from autotest.frameworks.torch import TorchFramework
from autotest.processes.breadcrumb import Position
from autotest.processes.client import Server
from autotest.processes.endings import ProcessDeath, death_from_status, last_words, timeout_death
from autotest.program import Array, Call, Captured, Program, Ref
from autotest.report.text import headline
from autotest.results.identity import FatalCall, Identity, death_of
from autotest.results.ledger import Ledger
from autotest.results.tasks import Conditions, DiagnoseDeath, ExpectedDeath, FindingRecord, Where
from autotest.results.verification import State, Verification
from autotest.running.deaths import death_finding, scripts, tracing
from autotest.running.deaths.attempts import Attempt
from autotest.running.deaths.tracing import TracedTrial, trace
from autotest.storage.keeping import latest
from autotest.storage.store import Store
from autotest.trials.context import RunContext
from tests.support.running import trial

SUITE = """
from autotest import autotest, random_tensor, torch


@autotest(n=5)
def test_sinh():
    return torch.sinh(random_tensor(2)).sum()
"""
LEFT = Identity("sum", "crash", "forward", "candidate", "SIGABRT", "")
CALLS = (
    Call("tensor", "float32", (Captured(0),), {"requires_grad": True, "device": "cpu"}, 0),
    Call("function", "sinh", (Ref(0),), {}, 1),
)
DIED = TracedTrial(
    death_from_status(-signal.SIGABRT),
    Program(CALLS, (Array(np.ones(2, np.float32), "float32"),)),
    "x.cpp:1] Check failed: 1 == 2",
)

LIVED = TracedTrial(None, None, "")


@pytest.fixture
def settle(tmp_path, monkeypatch, against):
    """Return ``settle(traced, ...)``, which diagnoses a stored death; it returns the result and the keys in the store.

    Each `TracedTrial` is the result of one attempt, and each item of `verified` that of a script in a new interpreter.
    """
    file = tmp_path / "test_sinh.py"
    file.write_text(SUITE)
    (tmp_path / "pyproject.toml").write_text("")
    against()
    monkeypatch.setattr(scripts, "verify", lambda script: said.pop(0) if len(said) > 1 else said[0])
    monkeypatch.setattr(death_finding, "interpreter_ready_for", lambda *of_what: contextlib.nullcontext())
    said = [Verification(State.VERIFIED)]
    server = Server()  # starts no process, because no task is requested
    conditions = Conditions(tmp_path / "kept")
    where = Where(file, "test_sinh.py::test_sinh", 0)

    def run(*attempts, verified=()):
        said[:] = verified or [Verification(State.VERIFIED)]
        again = list(attempts)
        monkeypatch.setattr(death_finding, "trace", lambda *place, **more: again.pop(0) if len(again) > 1 else again[0])
        task = DiagnoseDeath(where, 3, LEFT, "sum: the candidate dies", thorough=False)
        assert death_finding.diagnose(task, conditions, server).identity == LEFT
        later = DiagnoseDeath(where, 3, LEFT, "sum: the candidate dies", thorough=True, shrink=False)
        settled = death_finding.diagnose(later, conditions, server)
        if isinstance(settled, FindingRecord) and not settled.verified.tried:
            proof = dataclasses.replace(later, identity=settled.identity, verify=True)
            settled = death_finding.diagnose(proof, conditions, server)
        return settled, [entry.key for entry in Store(tmp_path / "kept").list()]

    return run


def test_it_is_kept_as_the_death_that_it_was_and_no_more_as_what_the_trail_said(settle):
    found, keys = settle(DIED)
    assert isinstance(found, FindingRecord)
    assert found.identity == Identity("sinh", "crash", "forward", "candidate", "SIGABRT: N == N", "", "torch")
    assert keys == [found.key]
    assert found.verified.holds


def test_what_could_not_be_kept_in_its_place_is_proved_all_the_same(settle, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "kept").write_text("no folder")
    found, _ = settle(DIED)
    assert found.verified.holds
    assert latest(tmp_path / "kept", found.key).finding.verified.holds
    assert Path(found.place).is_relative_to(tmp_path)


def test_a_slow_start_of_the_script_is_no_hang(settle, tmp_path):
    settle(TracedTrial(timeout_death(20), DIED.program, ""))
    (entry,) = Store(tmp_path / "kept").list()
    assert entry.finding.first.symptom == "hang"
    assert 'print("imported", flush=True)' in entry.finding.script


def test_how_long_a_hang_was_waited_for_makes_no_other_finding_of_it():
    call = FatalCall("atan", "hang", "forward", "candidate")
    one, other = (death_of(call, timeout_death(wait).how, "") for wait in (2, 20))
    assert one == other


def test_the_reference_is_not_the_candidates_fault(settle, tmp_path):
    found, _ = settle(TracedTrial(DIED.death, DIED.program, DIED.last_words, side="reference"))
    assert found.identity.side == "reference"
    assert found.message.startswith("sinh: torch dies (SIGABRT)")
    assert found.verdict == "torch: crash; torch did not run"
    (entry,) = Store(tmp_path / "kept").list()
    assert (entry.finding.blame, entry.finding.first.side) == ("reference", "reference")


def test_one_that_no_script_shows_is_laid_to_nobody(settle, tmp_path):
    settle(DIED, verified=(Verification(State.MISSED),))
    (entry,) = Store(tmp_path / "kept").list()
    assert entry.finding.blame == "inconclusive"
    assert entry.finding.verdict[0].startswith("inconclusive: the recorded calls alone do not crash or hang")


def test_one_that_the_ledger_expects_under_its_own_name_is_known_and_nothing_is_kept(settle, tmp_path):
    entry = '[[divergence]]\nkey = "k"\ntest = "*test_sinh"\nsymptom = "crash"\noperator = "sinh"\nreason = "r"\n'
    (tmp_path / "ledger.toml").write_text(entry)
    found, keys = settle(DIED)
    assert found == ExpectedDeath("k")
    assert keys == []


def test_one_that_does_not_happen_again_is_still_told(settle):
    found, keys = settle(LIVED)
    assert isinstance(found, FindingRecord)
    assert (found.identity, found.verified) == (LEFT, Verification(State.SURVIVED))
    assert keys == [found.key]


def test_one_that_happens_in_a_later_attempt_is_told_with_a_script_that_tries_often(settle, tmp_path):
    found, _ = settle(LIVED, DIED)
    (entry,) = Store(tmp_path / "kept").list()
    assert found.verified.holds
    assert "for _ in range(20)" in entry.finding.script


def test_what_needs_the_trials_before_it_is_told_with_them(settle, tmp_path):
    found, _ = settle(LIVED, LIVED, dataclasses.replace(DIED, index=3))
    (entry,) = Store(tmp_path / "kept").list()
    assert entry.finding.happens == ("only after 3 earlier trials in the same process",)
    assert found.happens == entry.finding.happens[0]
    assert "for _ in range" not in entry.finding.script


def test_what_died_in_the_first_of_the_trials_before_it_dies_now_and_then(settle, tmp_path):
    settle(LIVED, LIVED, dataclasses.replace(DIED, index=0))
    (entry,) = Store(tmp_path / "kept").list()
    assert entry.finding.happens == ()
    assert "for _ in range(20)" in entry.finding.script


def test_a_script_that_was_survived_gives_way_to_one_that_tries_often(settle, tmp_path):
    settle(DIED, verified=(Verification(State.VERIFIED),))
    (plain,) = Store(tmp_path / "kept").list()
    assert "for _ in range" not in plain.finding.script
    found, _ = settle(DIED, verified=(Verification(State.MISSED), Verification(State.VERIFIED, "dies in 3 of 10 runs")))
    (often,) = Store(tmp_path / "kept").list()
    assert str(found.verified) == str(often.finding.verified) == "verified in a fresh interpreter: dies in 3 of 10 runs"
    assert "for _ in range(10)" in often.finding.script


def test_a_script_forks_where_both_frameworks_can_be_and_starts_an_interpreter_where_a_fork_does_not_die(
    settle, tmp_path, monkeypatch
):
    settle(DIED)
    (plain,) = Store(tmp_path / "kept").list()
    assert "os.fork()" in plain.finding.script
    settle(DIED, verified=(*[Verification(State.MISSED)] * 2, Verification(State.VERIFIED)))
    (another,) = Store(tmp_path / "kept").list()
    assert "subprocess.run(" in another.finding.script
    monkeypatch.setattr(TorchFramework, "forkable", False)
    settle(DIED)
    (unforkable,) = Store(tmp_path / "kept").list()
    assert unforkable.finding.script == another.finding.script


def test_what_hangs_is_shown_by_an_interpreter_since_a_fork_may_hang_by_itself(settle, tmp_path):
    settle(TracedTrial(timeout_death(20), DIED.program, ""))
    (entry,) = Store(tmp_path / "kept").list()
    assert "os.fork()" not in entry.finding.script


def test_a_python_exception_in_the_process_that_runs_it_again_is_no_death(settle):
    found, keys = settle(TracedTrial(None, None, "", raised="UsageError: expected a candidate\nin two lines"))
    assert isinstance(found, FindingRecord)
    assert (found.identity, found.message) == (LEFT, "sum: the candidate dies")
    assert str(found.verified) == "its trial cannot run again: UsageError: expected a candidate"
    assert keys == [found.key]


BROKEN = """
import pytest

from autotest import autotest, random_tensor, torch


@autotest(n=5)
def test_broken():
    torch.sinh(random_tensor(2)).sum()
    raise ValueError("the body's own")


@autotest(n=5)
def test_failing():
    torch.sinh(random_tensor(2)).sum()
    pytest.fail("pytest's own")
"""


@pytest.mark.slow
@pytest.mark.usefixtures("importable_elsewhere", "warm")
@pytest.mark.parametrize(
    ("test", "raised"),
    [
        ("test_broken", "ValueError: the body's own"),
        ("test_failing", "Failed: pytest's own"),
        ("test_gone", "UsageError: "),
    ],
    ids=["of the test", "of pytest", "about the use of the library"],
)
def test_a_traced_process_that_ends_by_an_exception_did_not_die(tmp_path, monkeypatch, test, raised):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.faults:none")
    file = tmp_path / "test_broken.py"
    file.write_text(BROKEN)
    conditions = Conditions(tmp_path, check_errors=True, deadline=60.0)
    with contextlib.closing(Server()) as server:
        traced = trace(Where(file, f"test_broken.py::{test}", 0), Attempt(range(1)), conditions, server)
    assert traced.death is None
    assert traced.raised.startswith(raised)


SLOW = """
import time

from autotest import autotest, random_tensor, torch


@autotest(n=5)
def test_after_a_call():
    torch.tanh(random_tensor(2))
    time.sleep(600)


@autotest(n=5)
def test_before_a_call_that_hangs():
    result = torch.tanh(random_tensor(2))
    time.sleep(4)
    return torch.atan(result)
"""


@pytest.fixture
def traced_slow(tmp_path, monkeypatch):
    """Return ``traced_slow(test, deadline)``, which traces a test of `SLOW` whose trial was seen to hang."""
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.deadly:six")
    file = tmp_path / "test_slow.py"
    file.write_text(SLOW)

    def run(test, deadline):
        where = Where(file, f"test_slow.py::{test}", 0)
        with contextlib.closing(Server()) as server:
            conditions = Conditions(tmp_path, check_errors=True, deadline=deadline)
            return trace(where, Attempt(range(1)), conditions, server, hangs=True)

    return run


@pytest.mark.slow
@pytest.mark.usefixtures("importable_elsewhere", "warm")
def test_code_of_the_test_that_does_not_end_in_time_is_no_hang_of_a_framework(traced_slow):
    traced = traced_slow("test_after_a_call", 6.0)
    assert traced.death is None
    assert traced.own_code == "test_slow.py, line 10, in test_after_a_call"


@pytest.mark.slow
@pytest.mark.usefixtures("importable_elsewhere", "warm")
def test_a_call_that_hangs_after_slow_code_of_the_test_is_a_hang(traced_slow):
    traced = traced_slow("test_before_a_call_that_hangs", 20.0)
    assert traced.death == timeout_death(20.0)
    assert traced.program.calls[-1].target == "atan"


def test_a_finding_says_which_line_of_the_test_did_not_end_in_time(settle, tmp_path):
    found, _ = settle(TracedTrial(None, None, "", own_code="test_sinh.py, line 6, in test_sinh"))
    assert found.verified.state is State.OWN_HANG
    assert "the test's own code" in str(found.verified)
    assert "test_sinh.py, line 6" in str(found.verified)
    kept = latest(tmp_path / "kept", found.key).finding
    assert kept.blame == "inconclusive"
    assert "test_sinh.py, line 6" in headline(kept)
    assert "diverges" not in headline(kept)


ENDS = """\
import os

from autotest import autotest, random_tensor, torch


@autotest(n=5)
def test_after_a_call():
    result = torch.tanh(random_tensor(2))
    os.abort()
    return result
"""


@pytest.mark.usefixtures("importable_elsewhere", "warm")
def test_a_crash_in_the_code_of_the_test_is_told_with_its_line_and_blames_no_framework(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.deadly:six")
    file = tmp_path / "test_ends.py"
    file.write_text(ENDS)
    where = Where(file, "test_ends.py::test_after_a_call", 0)
    with contextlib.closing(Server()) as server:
        traced = trace(where, Attempt(range(1)), Conditions(tmp_path, check_errors=True), server)
    assert traced.death.how == "SIGABRT"
    assert traced.own_code == "test_ends.py, line 9, in test_after_a_call"


def test_a_finding_says_which_line_of_the_test_ended_the_process(settle, tmp_path):
    death = ProcessDeath("crash", "SIGABRT")
    found, _ = settle(TracedTrial(death, None, "", own_code="test_sinh.py, line 6, in test_sinh"))
    assert found.verified.state is State.OWN_CRASH
    kept = latest(tmp_path / "kept", found.key).finding
    assert kept.blame == "inconclusive"
    assert "the test's own code, not a recorded call, ended its process: test_sinh.py, line 6" in headline(kept)
    assert "SIGABRT" in headline(kept)
    assert "diverges" not in headline(kept)


def test_a_program_that_is_no_data_leaves_no_earlier_program_behind(tmp_path):
    outcome = trial(lambda: torch.ones(2) + 1)
    recorder, writer = outcome.recorder, tracing._Writer(tmp_path)
    writer.before_call(recorder, "candidate", recorder.next_call("function", "relu", (Ref(0),), {}))
    assert tracing._read_all(tmp_path).calls[-1].target == "relu"
    writer.before_call(recorder, "candidate", recorder.next_call("function", "fold", (object(),), {}))
    assert tracing._read_all(tmp_path) is None
    assert tracing._written(tmp_path)


HANGING = """
from autotest import autotest, random_tensor, torch


@autotest(n=5)
def test_hanging():
    return torch.atan(torch.tanh(random_tensor(2)))
"""


@pytest.mark.slow
@pytest.mark.usefixtures("importable_elsewhere", "warm")
def test_what_was_seen_to_hang_is_traced_and_shrunk_without_waiting_for_the_deadline_again(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.deadly:six")
    file = tmp_path / "test_hanging.py"
    file.write_text(HANGING)
    day = 24 * 3600.0
    with contextlib.closing(Server()) as server:
        conditions = Conditions(tmp_path, check_errors=True, deadline=day)
        where = Where(file, "test_hanging.py::test_hanging", 0)
        traced = trace(where, Attempt(range(1)), conditions, server, hangs=True)
        assert traced.death == timeout_death(day)
        assert traced.program.calls[-1].target == "atan"
        smaller = crashing.shrink(
            traced.program, chosen_pair(), server, options=ProbeOptions(day), seconds=60.0, hangs=True
        )
    assert [call.target for call in smaller.program.calls] == ["float32", "atan"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        (
            "F20261121 19:08:18.832674 17267 shape.cpp:29] Check failed: index >= 0 (-1 vs. 0) \n*** trace: ***\n",
            "shape.cpp:29] Check failed: index >= 0 (-1 vs. 0)",
        ),
        ('init.py:412: UserWarning: Initializing is a no-op\n  warnings.warn("Initializing is a no-op")\n', ""),
        ("libibverbs not available, ibv_fork_init skipped\n", ""),
        (
            "E20261122 22:46:30.348255  4650 cuda_device_manager_factory.cpp:65] Failed to get cuda runtime version\n",
            "",
        ),
        ("terminate called after throwing\n  what():  no\n", "terminate called after throwing"),
        ("one\ntwo\n", "two"),
    ],
)
def test_the_last_words_are_those_that_tell_something(text, words):
    assert last_words(text) == words


def test_what_an_earlier_process_died_of_is_looked_into_as_this_run_asks(tmp_path):
    asked = Options(directory=tmp_path, shrink=0.25, verify=False, deadline=7.0)
    position = Position(tmp_path / "test_it.py", "test_it.py::test_it", 0, 0, 1, "sinh", "forward", 1, {})
    conditions = death_finding.conditions_of(position, RunContext(registry.pair("torch", "torch"), asked, Ledger()))
    assert (conditions.shrink, conditions.verify, conditions.deadline) == (0.25, False, 7.0)
