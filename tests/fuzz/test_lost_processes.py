"""What remains after crashes, hangs and kills of a worker, of a test run, or of the campaign itself."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import sqlite3
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autotest.processes.client import Server
from autotest.storage.store import Store, Stored
from tests.fuzz.conftest import SUITES, entries, without_settings
from tests.plugin.conftest import PLUGIN
from tests.support import tasks_of_children as tasks
from tests.support.tasks_of_children import alive

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("importable_elsewhere")]

SUITE = SUITES / "twenty_six.py"
DEADLY = {"sinh": "SIGSEGV", "cosh": "SIGABRT", "tan": "SIGFPE", "atan": "no answer", "erf": "status 3"}


@pytest.mark.timeout(900)
def test_six_deadly_operators_are_found_and_verified_and_cost_no_trial_of_the_other_twenty(shell, tmp_path):
    command = ("autotest", "fuzz", SUITE, "--trials", 20, "--seed", 7, "--deadline", "10s", "--json", "out.json")
    with shell(*command) as run:
        output, _ = run.communicate()
    assert run.returncode == 1, output
    found = entries(tmp_path)
    assert found.keys() == {*DEADLY, "asinh"}
    assert {str(entry.finding.verified) for entry in found.values()} == {"verified in a fresh interpreter"}, output
    for operator, how in DEADLY.items():
        assert how in found[operator].finding.first.message
    symptoms = {operator: entry.finding.first.symptom for operator, entry in found.items()}
    assert symptoms == {**dict.fromkeys(DEADLY, "crash"), "atan": "hang", "asinh": "out of memory"}
    tests = json.loads((tmp_path / "out.json").read_text())["tests"]
    healthy = [test for test in tests if not any(f"'{name}'" in test["test"] for name in DEADLY)]
    assert [test["accepted"] for test in healthy] == [20] * 21
    assert not list((tmp_path / ".autotest" / "trails").glob("campaign-*"))


@pytest.fixture
def importing(monkeypatch, tmp_path) -> Iterator[Server]:
    """Start a server that forks the processes to kill, because importing torch in each would take most of the time."""
    without_settings(monkeypatch)
    for name, value in {"CANDIDATE": "tests.support.faults:wrong_relu", "VERIFY": "0"}.items():
        monkeypatch.setenv(f"AUTOTEST_{name}", value)
    monkeypatch.chdir(tmp_path)
    server = Server(("autotest.cli.fuzz", "autotest.decorator", "tests.support.tasks_of_children"))
    yield server
    server.close()


def found_in(log: Path) -> set[str]:
    """Return the keys of the findings that a campaign has announced in complete lines."""
    whole = log.read_text().rpartition("\n")[0] if log.exists() else ""
    return {line.split()[1].rstrip(":") for line in whole.splitlines() if line.startswith("found ")}


@pytest.mark.timeout(900)
def test_kill_9_at_any_moment_loses_nothing_announced_and_leaves_a_store_that_opens(importing, tmp_path):
    moments = random.Random(0)
    announced: set[str] = set()
    for seed in range(20):
        command = ("fuzz", str(SUITE), "--time", "600s", "--jobs", "0", "--seed", str(seed), "-k", "'relu' or 'exp'")
        log = tmp_path / f"{seed}.log"
        campaign = importing.process(tasks.command, *command, log=log)
        while not found_in(log):
            assert campaign.status() is None, log.read_text()
            time.sleep(0.01)
        time.sleep(moments.uniform(0.0, 0.5))
        os.kill(campaign.pid(), signal.SIGKILL)
        assert campaign.status(60) == -signal.SIGKILL
        announced |= found_in(log)
        kept = Store(tmp_path / ".autotest").list()
        assert announced <= {entry.key for entry in kept if isinstance(entry, Stored)}
        base = sqlite3.connect(tmp_path / ".autotest" / "history.sqlite")
        assert base.execute("pragma integrity_check").fetchone() == ("ok",)
        assert base.execute("select count(*) from finding").fetchone()[0] >= 1
        base.close()


def below(pid: int) -> list[int]:
    """Return the ids of all descendants of the process `pid`."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
    found = list(parents.get(pid, []))
    for one in found:
        found += parents.get(one, [])
    return found


@pytest.mark.timeout(900)
@pytest.mark.parametrize("end", ["the campaign is killed", "the server is killed, then Ctrl-C"])
def test_no_process_outlives_a_campaign_however_it_ends(shell, tmp_path, end):
    command = ("autotest", "fuzz", SUITE, "--time", "600s", "-k", "'relu' or 'exp' or 'atan'", "--deadline", "5s")
    with shell(*command, PYTHONUNBUFFERED="1") as run:
        for line in run.stdout:
            if line.startswith("found "):
                break
        while len(started := below(run.pid)) <= 4:  # a server, two workers, and the process that diagnoses a death
            assert run.poll() is None, run.stdout.read()
            time.sleep(0.05)
        if end == "the campaign is killed":
            os.kill(run.pid, signal.SIGKILL)
        else:
            (server,) = [pid for pid in started if b"processes.server" in cmdline(pid)][:1]
            os.kill(server, signal.SIGKILL)
            another = next_server(run, {*started})
            while len(below(another)) < 2:  # workers that continue the tasks of the lost ones
                time.sleep(0.05)
            time.sleep(2.0)
            started += below(run.pid)
            os.kill(run.pid, signal.SIGINT)
            output, _ = run.communicate(timeout=60)
            assert "(interrupted)" in output
            assert "'relu'" not in output, "what was lost with the server is no death of a test"
    all_gone(started)


@pytest.mark.timeout(900)
def test_a_campaign_survives_twenty_kills_of_its_server_at_any_moment_and_loses_nothing_announced(shell, tmp_path):
    moments, started = random.Random(0), set()
    command = ("autotest", "fuzz", SUITE, "--time", "600s", "--seed", 7, "-k", "'relu' or 'exp' or 'sinh' or 'erf'")
    with shell(*command, candidate="tests.support.deadly:mixed", PYTHONUNBUFFERED="1") as run:
        said = [next(line for line in run.stdout if line.startswith("found "))]
        for _ in range(20):
            server = next_server(run, started)
            time.sleep(moments.uniform(0.0, 2.0))
            started.update(below(run.pid))
            os.kill(server, signal.SIGKILL)
        next_server(run, started)
        started.update(below(run.pid))
        os.kill(run.pid, signal.SIGINT)
        output, _ = run.communicate(timeout=60)
    assert "(interrupted)" in output
    said += [line for line in output.splitlines() if line.startswith("found ")]
    announced = {line.split()[1].rstrip(":") for line in said}
    assert announced <= {entry.key for entry in Store(tmp_path / ".autotest").list() if isinstance(entry, Stored)}
    all_gone(sorted(started))


def next_server(run, known) -> int:
    """Wait for a process server of the campaign that is not one of the `known` processes; return its id."""
    while run.poll() is None:
        for pid in below(run.pid):
            with contextlib.suppress(OSError):
                parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
                if pid not in known and parent == run.pid and b"processes.server" in cmdline(pid):
                    known.add(pid)
                    return pid
        time.sleep(0.01)
    raise AssertionError(f"it ended: {run.stdout.read()}")


def cmdline(pid: int) -> bytes:
    """Return the command line of a process, empty if it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, None], ids=["killed", "Ctrl-C", "at its end"])
def test_no_process_outlives_an_isolated_test_run_however_it_ends(shell, tmp_path, end):
    (tmp_path / "test_long.py").write_text(
        textwrap.dedent(f"""
            from autotest import autotest, torch, random_tensor

            @autotest(n={200 if end is None else 1000000})
            def test_relu():
                return torch.relu(random_tensor(2))
        """)
    )
    with shell("pytest", *PLUGIN, "--autotest-isolate", "test_long.py", candidate="torch") as run:
        while not list((tmp_path / ".autotest" / "trails" / f"campaign-{run.pid}").glob("*.crumb")):
            assert run.poll() is None, run.stdout.read()
            time.sleep(0.01)
        started = below(run.pid)
        assert len(started) >= 2, "a server and a worker"
        if end is not None:
            os.kill(run.pid, end)
        run.communicate(timeout=120)
    all_gone(started)


def all_gone(started: list[int]) -> None:
    """Assert that all of these processes end within some seconds."""
    gone = time.monotonic() + 30
    while any(alive(pid) for pid in started):
        assert time.monotonic() < gone, f"left behind: {[pid for pid in started if alive(pid)]}"
        time.sleep(0.1)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_campaign_with_its_summary(shell, tmp_path, number):
    with shell("autotest", "fuzz", SUITE, "--time", "600s", "-k", "'relu' or 'exp'", candidate="torch") as run:
        while not list((tmp_path / ".autotest" / "trails" / f"campaign-{run.pid}").glob("*.crumb")):
            time.sleep(0.1)
        os.kill(run.pid, number)
        output, _ = run.communicate(timeout=60)
    assert "(interrupted)" in output
    assert output.endswith("Nothing new found before it was interrupted.\n")
    assert run.returncode == 3


@pytest.mark.timeout(900)
def test_a_test_run_that_dies_is_reported_by_the_next_run_and_by_recover(told_by, tmp_path):
    (tmp_path / "test_die.py").write_text(
        textwrap.dedent("""
            import unittest
            from autotest import autotest, torch, random_tensor

            class TestDie(unittest.TestCase):
                @autotest(n=5)
                def test_sinh(self):
                    return torch.sinh(random_tensor(2) + 1)

                @autotest(n=5)
                def test_relu(self):
                    return torch.relu(random_tensor(2))
        """)
    )
    for reader in (("unittest", "test_die.py"), ("autotest", "recover")):
        for path in (tmp_path / ".autotest" / "failures").glob("*"):
            Store(tmp_path / ".autotest").remove(path.name)
        assert told_by("unittest", "test_die.py").status == -signal.SIGSEGV
        run = told_by(*reader)
        assert run.status == 1
        assert "sinh: faulty dies (SIGSEGV)" in run.output
        assert "(verified in a fresh interpreter)" in run.output
        assert entries(tmp_path).keys() == {"sinh"}
    run = told_by("unittest", "test_die.py", AUTOTEST_VERIFY="0")
    assert "Ran 2 tests" in run.output
    assert "FAILED (failures=1)" in run.output


@pytest.mark.timeout(600)
def test_a_death_that_no_fork_shows_is_reported_by_the_next_run(told_by, tmp_path):
    (tmp_path / "test_die.py").write_text(
        textwrap.dedent("""
            import unittest
            from autotest import autotest, torch, random_tensor

            class TestDie(unittest.TestCase):
                @autotest(n=5)
                def test_sinh(self):
                    return torch.sinh(random_tensor(2) + 1)
        """)
    )
    for ends, words in ((-signal.SIGABRT, ""), (1, "sinh: faulty dies (SIGABRT)")):
        # Shrinking starts an interpreter for each program that it tries. Of the forks that are interpreters here, none
        # counts as one: each imports the candidate itself.
        surroundings = {"candidate": "tests.support.dying_elsewhere:sinh", "AUTOTEST_SHRINK": "0.1"}
        run = told_by("unittest", "test_die.py", **surroundings)
        assert run.status == ends, run.output
        assert words in run.output
    assert "(verified in a fresh interpreter)" in run.output
    assert entries(tmp_path).keys() == {"sinh"}


def test_the_trial_that_an_asynchronous_candidate_died_of_is_found_among_those_that_waited(told_by, tmp_path):
    (tmp_path / "test_late.py").write_text(
        textwrap.dedent("""
            import unittest
            from autotest import autotest, torch, random, random_tensor

            class TestLate(unittest.TestCase):
                @autotest(n=10)
                def test_sinh_of_three(self):
                    x = random_tensor(1, dim0=random(1, 5))
                    return torch.sinh(x) if x.shape[0] == 3 else torch.relu(x)
        """)
    )
    candidate = "tests.support.deadly:late"
    assert told_by("unittest", "test_late.py", candidate=candidate).status == -signal.SIGABRT
    # No script reproduces it, because scripts do not wait as a trial does. Without these attempts the test is faster.
    run = told_by("autotest", "recover", candidate=candidate, AUTOTEST_VERIFY="0")
    assert "sinh: faulty dies (SIGABRT)" in run.output
    found = entries(tmp_path)["sinh"].finding
    assert found.index < 9
    assert [call.target for call in found.program.calls][-1] == "sinh"


@pytest.mark.timeout(600)
def test_a_death_that_needs_an_earlier_trial_is_told_with_it_and_with_a_script_that_does_both(told_by, tmp_path):
    (tmp_path / "test_mined.py").write_text(
        textwrap.dedent("""
            from autotest import autotest, torch, random, random_tensor

            @autotest(n=20)
            def test_either():
                x = random_tensor(1, dim0=random(1, 5))
                return torch.cosh(x) if x.shape[0] == 2 else torch.relu(torch.sinh(x))
        """)
    )
    command = ("autotest", "fuzz", "test_mined.py", "--trials", 20, "--seed", 7)
    run = told_by(*command, candidate="tests.support.deadly:mined")
    finding = entries(tmp_path)["sinh"].finding
    assert re.fullmatch(r"only after [1-9]\d* earlier trials? in the same process", *finding.happens), run.output
    # How far it is shrunk depends on how busy the machine is.
    targets = [call.target for call in finding.program.calls]
    assert "cosh" in targets
    assert targets[-1] == "sinh"
    assert str(finding.verified) == "verified in a fresh interpreter", run.output
    assert f"Happens: {finding.happens[0]}" in run.output


@pytest.mark.timeout(600)
def test_a_death_that_needs_the_trials_of_another_test_is_told_with_them(told_by, tmp_path):
    (tmp_path / "test_two.py").write_text(
        textwrap.dedent("""
            from autotest import autotest, torch, random_tensor

            @autotest(n=20)
            def test_cosh():
                return torch.cosh(random_tensor(1))

            @autotest(n=20)
            def test_sinh():
                return torch.relu(torch.sinh(random_tensor(1)))
        """)
    )
    command = ("autotest", "fuzz", "test_two.py", "--trials", 100, "--seed", 7, "--jobs", 1)
    run = told_by(*command, candidate="tests.support.deadly:mined", AUTOTEST_SHRINK="0.5")
    finding = entries(tmp_path)["sinh"].finding
    (happens,) = finding.happens
    assert re.fullmatch(r"only after \d+ earlier trials?( of 2 tests)? in the same process", happens), run.output
    targets = [call.target for call in finding.program.calls]
    assert "cosh" in targets
    assert targets[-1] == "sinh"
    assert str(finding.verified) == "verified in a fresh interpreter", run.output


@pytest.mark.timeout(600)
def test_a_reference_that_dies_is_told_as_such_with_a_script_that_says_the_same(told_by, tmp_path):
    command = ("autotest", "fuzz", SUITE, "--trials", 3, "--seed", 7, "-k", "('sinh' or 'relu') and not asinh")
    reference = {"AUTOTEST_REFERENCE": "tests.support.deadly:six", "AUTOTEST_SHRINK": "0"}
    run = told_by(*command, candidate="torch", **reference)
    assert run.status == 1, run.output
    found = entries(tmp_path)
    deaths = {operator: entry.finding for operator, entry in found.items() if entry.finding.first.symptom == "crash"}
    assert deaths.keys() == {"sinh"}
    finding = deaths["sinh"]
    assert (finding.first.side, finding.blame) == ("reference", "reference")
    assert finding.first.message.startswith("sinh: faulty dies (SIGSEGV)")
    assert str(finding.verified) == "verified in a fresh interpreter", run.output
    assert finding.script is not None
    assert "sinh: faulty crashes, torch does not." in finding.script


@pytest.mark.timeout(900)
def test_what_dies_only_in_some_runs_is_found_with_a_script_that_runs_often_enough_and_says_so(
    told_by, tmp_path, monkeypatch
):
    monkeypatch.setenv("TESTS_CALLS", str(tmp_path / "calls"))
    command = ("autotest", "fuzz", SUITE, "--trials", 40, "--seed", 7, "--jobs", 1, "-k", "'sinh'")
    run = told_by(*command, candidate="tests.support.deadly:aging", AUTOTEST_SHRINK="2")
    assert run.status == 1, run.output
    finding = entries(tmp_path)["sinh"].finding
    assert re.fullmatch(r"verified in a fresh interpreter: dies in [1-9] of 10 runs", str(finding.verified)), run.output
    assert str(finding.verified) in run.output
    assert "It does not die in every run: the script starts 10 processes" in finding.script
