"""Scripts run in forks of one process that has imported the reference, and behave as in interpreters of their own."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autotest.comparison import Mismatch
from autotest.diagnosis.verification import interpreter_started_early, run_script, verify
from autotest.frameworks.registry import pair
from autotest.frameworks.torch import TorchFramework
from autotest.processes import prepared
from autotest.processes.client import Server
from autotest.processes.fresh import FreshInterpreter
from autotest.processes.prepared import PreparedInterpreter, Template, prepared_interpreter
from autotest.program import Program
from autotest.results.finding import Finding
from autotest.storage.reproduction import reproduce
from tests.processes.test_fresh import HANGS, pids_in
from tests.processes.test_server import all_end
from tests.support import tasks_of_children as tasks

AHEAD = ["import wave"]


@pytest.fixture(autouse=True)
def started(monkeypatch) -> Iterator[list[Template]]:
    """Return the templates that a test starts."""
    made: list[Template] = []

    class Noted(Template):
        def __init__(self, lines):
            super().__init__(lines)
            made.append(self)

    monkeypatch.setattr(prepared, "Template", Noted)
    prepared._template.cache_clear()
    yield made
    prepared._template.cache_clear()
    for template in made:
        template.close()


def outcome(script: str, ahead: list[str] = AHEAD, deadline: float = 60.0) -> tuple[int | None, str]:
    with contextlib.closing(prepared_interpreter(ahead)) as interpreter:
        assert isinstance(interpreter, PreparedInterpreter)
        return interpreter.run(script, deadline)


def test_scripts_of_one_process_import_the_reference_once_and_nothing_of_one_reaches_the_next(started):
    script = "import os, sys, wave; print(hasattr(wave, 'mark'), os.getcwd(), os.environ.get('MARK'))\n"
    changes = "wave.mark = os.environ['MARK'] = '1'; os.chdir('/')"
    told = "print('wave' in sys.modules, __name__, len(sys.argv))"
    first, second = (outcome(f"{script}{told}\n{changes}") for _ in range(2))
    assert first == second == (0, f"False {Path.cwd()} None\nTrue __main__ 1\n")
    assert len(started) == 1


def test_a_script_ends_with_its_own_status_and_output():
    assert outcome("import sys; print('one\\r\\ntwo'); print('three', file=sys.stderr); sys.exit(1)")[0] == 1
    assert outcome("import os; os.write(1, b'one\\r\\ntwo\\xff')") == (0, "one\ntwo�")
    assert outcome("import os; os.abort()") == (-signal.SIGABRT, "")
    assert outcome("import os; os.kill(os.getpid(), 9)") == (-signal.SIGKILL, "")
    assert outcome("raise SystemExit('why')") == (1, "why\n")
    status, output = outcome("raise ValueError('planted')")
    assert (status, output.splitlines()[0], output.splitlines()[-1]) == (
        1,
        "Traceback (most recent call last):",
        "ValueError: planted",
    )
    assert outcome("import atexit; atexit.register(print, 'at exit')") == (0, "at exit\n")
    assert outcome("import signal; print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)") == (0, "True\n")
    assert outcome("import gc; print(gc.isenabled(), gc.get_freeze_count() > 1_000)") == (0, "True True\n")


def test_a_script_has_no_open_file_of_the_process_that_it_was_forked_from():
    script = "import os; print(sorted(int(number) for number in os.listdir('/proc/self/fd')))"
    with contextlib.closing(FreshInterpreter()) as interpreter:
        assert outcome(script) == interpreter.run(script, 60.0)


def test_a_script_imports_from_its_own_folder_and_the_project_but_not_from_where_the_template_was_started(
    tmp_path, monkeypatch
):
    (tmp_path / "own_framework.py").write_text("value = 7\n")
    monkeypatch.chdir(tmp_path)
    assert outcome("import own_framework", ["import own_framework"])[0] == 1
    monkeypatch.setenv("PYTHONPATH", f".{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    assert outcome("import sys, own_framework; sys.exit(own_framework.value)") == (7, "")


def test_a_changed_environment_has_a_template_of_its_own(started, monkeypatch):
    told = "import os; print(os.environ.get('TESTS_TOLD'))"
    assert outcome(told) == (0, "None\n")
    monkeypatch.setenv("TESTS_TOLD", "later")
    assert outcome(told) == (0, "later\n")
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "another")  # pytest sets it for every test
    assert outcome(told) == (0, "later\n")
    assert len(started) == 2


def test_an_interpreter_is_started_early_with_what_the_script_imports_after_the_fork():
    told = "import sys; print([name in sys.modules for name in ('wave', 'mailbox')]); sys.exit(1)"
    with interpreter_started_early(["import wave", "import mailbox", "raise SystemExit(3)"], AHEAD):
        assert run_script(told) == (1, "[True, True]\n")
        assert run_script(told) == (1, "[True, False]\n"), "the second script has an interpreter of its own"


def test_without_imports_that_may_run_before_a_fork_nothing_is_forked():
    for ahead in ([], ["raise SystemExit(3)"]):
        with contextlib.closing(prepared_interpreter(ahead)) as interpreter:
            assert isinstance(interpreter, FreshInterpreter)


@pytest.mark.oneflow
def test_only_the_import_of_torch_runs_before_the_fork():
    # OneFlow notices a fork, and computes in the calling thread then.
    imports = pair("torch", "oneflow").script_imports(Program([], []))
    assert imports == (("import torch", "import oneflow"), ("import torch",))


@pytest.mark.oneflow
def test_a_torch_that_may_start_a_device_when_it_is_imported_is_imported_after_the_fork(monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [group] * (group == "torch.backends"))
    assert pair("torch", "oneflow").script_imports(Program([], [])).passive == ()


def test_a_template_that_was_killed_is_replaced(started):
    outcome("")
    os.kill(started[0].pid, signal.SIGKILL)
    assert all_end([started[0].pid])
    with contextlib.closing(prepared_interpreter(AHEAD)) as interpreter:
        assert interpreter.run("print('runs')", 60.0) == (0, "runs\n")
    assert outcome("print('runs')") == (0, "runs\n")
    assert len(started) == 2


def test_a_script_ends_with_a_template_that_is_killed(started, tmp_path):
    place = tmp_path / "pids"
    with contextlib.closing(prepared_interpreter(AHEAD)) as interpreter:
        killing = f"import os\nos.kill({started[0].pid}, 9)\n"
        assert interpreter.run(killing + HANGS.format(place=str(place)), 60.0) == (-signal.SIGKILL, "")
    written = place.read_text().split() if place.exists() else []  # it may end before it writes, or while it does
    assert all_end([int(pid) for pid in written])


def test_an_interpreter_that_got_no_script_is_gone(started):
    with interpreter_started_early([], AHEAD):
        pass
    assert outcome("") == (0, "")  # whatever was forked before it has started
    assert eventually_without_children(started[0].pid)


def test_a_script_that_takes_too_long_is_ended_with_its_processes(tmp_path, started):
    place = tmp_path / "pids"
    assert outcome(HANGS.format(place=str(place)), deadline=3.0) == (None, "")
    assert all_end(pids_in(place))
    assert eventually_without_children(started[0].pid)


def test_what_a_script_leaves_running_ends_when_its_interpreter_is_closed(tmp_path):
    leaves = """
import subprocess, sys
endless = [sys.executable, "-c", "while True: pass"]
print(subprocess.Popen(endless, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)
"""
    status, output = outcome(leaves)
    assert status == 0
    assert all_end([int(output)])


def test_no_process_or_file_of_a_script_outlives_whoever_wanted_it_and_was_killed(
    tmp_path, temporary, importable_elsewhere
):
    place = tmp_path / "pids"
    with contextlib.closing(Server(fork=True)) as server:
        process = server.process(tasks.run_a_prepared_script, HANGS.format(place=str(place)))
        template = process.connection.recv()
        pids = pids_in(place)
        assert list(temporary.rglob("repro.py"))
        os.kill(process.pid(), signal.SIGKILL)
        assert all_end([*pids, template])
    assert list(temporary.iterdir()) == []


def test_a_fork_does_not_use_or_end_the_template_of_its_parent(started):
    outcome("")
    child = os.fork()
    if child == 0:
        try:
            prepared._template.cache_clear()
            started.clear()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert outcome("print('runs')") == (0, "runs\n")
    assert len(started) == 1


def test_stored_scripts_import_the_reference_once_however_many_are_replayed(started, monkeypatch):
    monkeypatch.setattr(TorchFramework, "passive_imports", ("import wave",))
    first = Mismatch("sinh", 0, "value", "forward", "candidate", "not close")
    kept = Finding("test_it.py::test_a", 0, 0, 17, (first,), ("torch", "mine"), None, {}, {}, script="import wave")
    assert [reproduce(kept).state for _ in range(3)] == ["fixed"] * 3
    assert len(started) == 1
    assert reproduce(dataclasses.replace(kept, sides=("elsewhere", "mine"))).state == "fixed"
    assert reproduce(dataclasses.replace(kept, script="import json")).state == "fixed"
    assert len(started) == 1, "what a script does not import itself is not imported for it"


def test_a_prepared_interpreter_shows_a_difference_as_any_other_does(started):
    shows = "import sys, wave\nprint('DIFFERS: one, two')\nsys.exit(wave.__name__ == 'wave')"
    with interpreter_started_early([], AHEAD):
        assert verify(shows).holds
    assert verify(f"import wave\n{shows}", ahead=AHEAD).holds
    assert len(started) == 1


def eventually_without_children(pid: int) -> bool:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    end = time.monotonic() + 20
    while children.read_text() and time.monotonic() < end:
        time.sleep(0.02)
    return not children.read_text()
