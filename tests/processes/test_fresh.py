"""A script is verified in a new interpreter, and none of its processes remains."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest

from autotest.diagnosis.verification import interpreter_started_early, run_script, verify
from autotest.processes.client import Server
from autotest.processes.fresh import FreshInterpreter
from autotest.results.verification import State, Verification
from tests.processes.test_server import all_end
from tests.support import tasks_of_children as tasks

#: A script that prints its process ids and hangs in a child, as the candidate of a script may.
HANGS = """
import os, subprocess, sys

child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
with open({place!r}, "w") as file:
    file.write(f"{{os.getpid()}} {{child.pid}}")
child.wait()
"""


def pids_in(place: Path) -> list[int]:
    while not (place.exists() and len(place.read_text().split()) == 2):
        time.sleep(0.02)
    return [int(pid) for pid in place.read_text().split()]


def test_a_script_ends_with_its_own_status_and_output():
    assert run_script("import sys; print(__name__, len(sys.argv)); sys.exit(1)") == (1, "__main__ 1\n")
    assert verify("import sys; print('DIFFERS: one, two'); sys.exit(1)") == Verification(State.VERIFIED)
    assert verify("") == Verification(State.MISSED)
    assert "ended with status -6" in str(verify("import os; os.abort()"))
    assert "the script itself failed: ValueError: planted" in str(verify("raise ValueError('planted')"))


def test_an_interpreter_imports_ahead_what_the_script_will_and_nothing_else_of_it():
    told = "import sys; print('wave' in sys.modules); sys.exit(1)"
    with interpreter_started_early(["import wave", "raise SystemExit(3)", "from no_such_module import name"]):
        assert run_script(told) == (1, "True\n")
        assert run_script(told) == (1, "False\n"), "the second script has an interpreter of its own"


def test_garbage_is_looked_for_in_a_script_but_not_among_what_was_imported_ahead():
    with interpreter_started_early(["import wave"]):
        told = "import gc, sys; print(gc.isenabled(), gc.get_freeze_count() > 1_000); sys.exit(1)"
        assert run_script(told) == (1, "True True\n")


def test_a_script_finds_modules_by_a_relative_path_of_the_project(tmp_path, monkeypatch):
    (tmp_path / "own_framework.py").write_text("value = 7\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f".{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    assert run_script("import sys, own_framework; sys.exit(own_framework.value)") == (7, "")


def test_an_interpreter_that_got_no_script_is_gone():
    with interpreter_started_early(["import wave"]):
        pass
    interpreter = FreshInterpreter()
    pid = interpreter._process.pid
    interpreter.close()
    assert all_end([pid])


def test_a_script_that_takes_too_long_is_ended_with_its_processes(tmp_path):
    place = tmp_path / "pids"
    assert (
        str(verify(HANGS.format(place=str(place)), deadline=3.0)) == "not verified: the script did not end within 3 s"
    )
    assert all_end(pids_in(place))


def test_no_process_or_file_of_a_script_outlives_whoever_wanted_it_and_was_killed(
    tmp_path, temporary, importable_elsewhere
):
    place = tmp_path / "pids"
    with contextlib.closing(Server(fork=True)) as server:
        process = server.process(tasks.run_a_script, HANGS.format(place=str(place)))
        pids = pids_in(place)
        assert list(temporary.rglob("repro.py"))
        os.kill(process.pid(), signal.SIGKILL)
        assert all_end(pids)
    assert list(temporary.iterdir()) == []


def test_a_script_that_has_told_what_it_saw_may_die_at_its_exit():
    # A framework may crash at the exit. The script's earlier output is still valid.
    dies_at_exit = "import atexit, os, sys\natexit.register(os.abort)\n"
    shown = verify(dies_at_exit + "print('DIFFERS: torch gives 0.0, mine 1.0', flush=True)\nsys.exit(1)")
    assert str(shown) == "verified in a fresh interpreter: the script then crashes at exit (SIGABRT)"
    assert not verify(dies_at_exit + "print('same', flush=True)").holds


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("signalled", ["script", "its parent"])
def test_no_file_of_a_script_outlives_a_signal_to_every_process_of_its_job(
    tmp_path, temporary, importable_elsewhere, number, signalled
):
    place = tmp_path / "pids"
    with contextlib.closing(Server(fork=True)) as server:
        process = server.process(tasks.run_a_script, HANGS.format(place=str(place)))
        pids = pids_in(place)
        os.kill(process.pid(), signal.SIGSTOP)  # it cannot remove anything, and has not ended yet
        parent = int(Path(f"/proc/{pids[0]}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(pids[0] if signalled == "script" else parent, number)
        until = time.monotonic() + 30
        while list(temporary.iterdir()):
            assert time.monotonic() < until, list(temporary.rglob("*"))
            time.sleep(0.05)
        with contextlib.suppress(ProcessLookupError):  # a signal to the script alone leaves what it has started
            os.kill(pids[1], signal.SIGKILL)
