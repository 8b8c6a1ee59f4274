"""The breadcrumb file of a process is read after its death, ignored while it runs, and removed at its normal end."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest

from autotest.base.errors import UsageError
from autotest.processes import breadcrumb
from autotest.processes.breadcrumb import Breadcrumb
from autotest.program import Call, Ref
from tests.support.bodies import relu
from tests.support.descriptors import open_now
from tests.support.running import trials

PROGRAM = """
    import os, sys
    from pathlib import Path
    from autotest.processes.breadcrumb import Breadcrumb
    from autotest.program import Call, Ref

    class Record:
        calls = [Call("function", "nn.Linear", (2, 3), {}, 0)]
        rejection = None

    crumb = Breadcrumb(Path(sys.argv[1]))
    crumb.test(Path("tests/test_x.py"), "test_x.py::test_é[a='b']", 7, check_errors=True)
    crumb.trial(5)
    record = Record()
    call = Call("method", "__call__", (Ref(0), 1), {}, 1)
    crumb.before_call(record, "reference", call)
    if sys.argv[2] == "reference":
        os.kill(os.getpid(), 9)
    record.rejection = "refused" if sys.argv[2] == "refused" else None
    crumb.before_call(record, "candidate", call)
    if sys.argv[2] == "backward":
        crumb.before_call(record, "candidate", Call("tensor", "float32", (), {}, 1))
        crumb.before_call(record, "candidate", Call("method", "backward", (Ref(0),), {}, 1))
    if sys.argv[2] == "rest":
        crumb.idle()
    print("ready", flush=True)
    if sys.argv[2] == "live":
        sys.stdin.readline()
    os.kill(os.getpid(), 9)
"""


def process(path: Path, mode: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), str(path), mode],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.usefixtures("importable_elsewhere")
@pytest.mark.parametrize(
    ("mode", "stage", "side", "refused"),
    [
        ("forward", "forward", "candidate", False),
        ("backward", "backward", "candidate", False),
        ("reference", "forward", "reference", False),
        ("refused", "forward", "candidate", True),
    ],
)
def test_a_killed_process_leaves_where_it_was(tmp_path, mode, stage, side, refused):
    path = tmp_path / "1.trail"
    with process(path, mode) as child:
        child.communicate()
    ((found, position),) = breadcrumb.dead(tmp_path)
    assert found == path
    assert (position.test, position.base_seed, position.index) == ("test_x.py::test_é[a='b']", 7, 5)
    assert (position.file, position.call, position.operator) == (Path("tests/test_x.py"), 1, "nn.Linear")
    assert (position.stage, position.settings) == (stage, {"check_errors": True})
    assert (position.side, position.refused) == (side, refused)


@pytest.mark.usefixtures("importable_elsewhere")
def test_the_trail_of_a_living_process_is_nobodys_business(tmp_path):
    with process(tmp_path / "1.trail", "live") as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        assert list(breadcrumb.dead(tmp_path)) == []
        child.communicate("\n")
    assert len(list(breadcrumb.dead(tmp_path))) == 1


@pytest.mark.usefixtures("importable_elsewhere")
def test_a_process_that_died_between_trials_leaves_nothing_to_look_into(tmp_path):
    with process(tmp_path / "1.trail", "rest") as child:
        child.communicate()
    assert list(breadcrumb.dead(tmp_path)) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("importable_elsewhere")
def test_the_trail_of_a_dead_process_stays_when_another_gets_its_id(tmp_path):
    with process(tmp_path / "1.trail", "die") as child:
        child.communicate()
    (before,) = breadcrumb.dead(tmp_path)
    crumb = Breadcrumb(tmp_path / "1.trail")
    (after,) = breadcrumb.dead(tmp_path)
    assert after[1] == before[1]
    assert after[0] != crumb.path
    crumb.close()


def test_a_death_is_told_once_although_no_other_process_can_make_the_pair(tmp_path):
    child = os.fork()
    if child == 0:
        crumb = Breadcrumb(breadcrumb.folder(tmp_path) / "1.trail")
        crumb.test(tmp_path / "test_it.py", "test_it.py::test_it", 7)
        crumb.trial(3)
        os._exit(0)
    os.waitpid(child, 0)
    told = r"an earlier process ended in the middle of trial 3 of base seed 7, maybe in tensor of torch\. It cannot be"
    with pytest.raises(UsageError, match=told):
        trials(relu, tmp_path)
    assert trials(relu, tmp_path).accepted == 20


def test_a_trail_that_is_being_made_is_not_taken_for_that_of_a_dead_process(tmp_path, monkeypatch):
    lock, looked = fcntl.flock, []

    def look_first(handle, how):
        if how & fcntl.LOCK_EX:
            looked.append(list(breadcrumb.dead(tmp_path)))
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", look_first)
    crumb = Breadcrumb(tmp_path / "1.trail")
    assert looked == [[]]
    assert [file.name for file in tmp_path.iterdir()] == ["1.trail"]
    crumb.close()


def test_the_trail_of_a_living_process_is_not_overwritten(tmp_path):
    crumb = Breadcrumb(tmp_path / "1.trail")
    crumb.test(tmp_path / "test_x.py", "test_x.py::test", 0)
    with pytest.raises(FileExistsError, match=r"1\.trail: expected no such file"):
        Breadcrumb(tmp_path / "1.trail")
    position = breadcrumb.read(crumb.path)
    assert position is not None
    assert position.test == "test_x.py::test"
    assert [file.name for file in tmp_path.iterdir()] == ["1.trail"]
    crumb.close()


def test_a_test_whose_id_has_no_room_is_not_taken_for_the_one_before(tmp_path):
    crumb = Breadcrumb(tmp_path / "1.trail")
    crumb.test(tmp_path / "test_x.py", "test_x.py::test_a", 0)
    crumb.test(tmp_path / "test_x.py", f"test_x.py::test_b[{'1, ' * 2000}]", 0)
    crumb.trial(1)
    assert breadcrumb.read(crumb.path) is None
    crumb.close()


def test_a_trail_that_ends_well_is_removed_and_what_is_no_trail_is_ignored(tmp_path):
    crumb = Breadcrumb(tmp_path / "2.trail")
    crumb.close()
    (tmp_path / "3.trail").write_bytes(b"something else")
    assert list(breadcrumb.dead(tmp_path)) == []


def test_a_process_that_writes_into_many_folders_holds_few_files_and_leaves_no_trail(tmp_path):
    crumbs = [breadcrumb.own(tmp_path / str(number), -os.getpid()) for number in range(20)]
    each = open_now(str(tmp_path)) / len(crumbs)
    assert None not in crumbs
    del crumbs
    assert open_now(str(tmp_path)) <= 4 * each
    assert len(list(tmp_path.glob("*/trails/*.trail"))) <= 4


def test_a_fork_that_forgets_the_trail_of_its_parent_leaves_it_where_it_is(tmp_path):
    crumb = Breadcrumb(tmp_path / "4.trail")
    child = os.fork()
    if child == 0:
        del crumb
        os._exit(0)
    os.waitpid(child, 0)
    assert crumb.path.exists()


def test_no_trail_where_none_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    assert breadcrumb.own(tmp_path / "file", os.getpid()) is None


def test_no_trail_on_a_full_disk(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    assert breadcrumb.own(tmp_path, -os.getpid()) is None


def test_an_operator_with_the_name_of_a_dtype_is_no_tensor_of_this_dtype(tmp_path):
    crumb = Breadcrumb(tmp_path / "1.trail")
    crumb.test(tmp_path / "test_x.py", "test_x.py::test", 0)
    recorder = SimpleNamespace(calls=[], rejection=None)
    new = Call("tensor", "bool", (), {}, 0)
    operator = Call("method", "bool", (Ref(0),), {}, 1)
    for calls, expected in (([new, operator], "bool"), ([operator], "bool"), ([new], "")):
        crumb.trial(1)
        for call in calls:
            crumb.before_call(recorder, "candidate", call)
        assert breadcrumb.read(crumb.path).operator == expected
    crumb.close()


def test_a_call_is_noted_with_its_operator_and_only_for_its_trial(tmp_path):
    crumb = Breadcrumb(tmp_path / "1.trail")
    crumb.test(tmp_path / "test_x.py", "test_x.py::test", 0)
    crumb.trial(1)
    crumb.note("relu", "relu(float32 empty)")
    position = breadcrumb.read(crumb.path)
    assert (position.noted, position.signature) == ("relu", "relu(float32 empty)")
    crumb.trial(2)
    position = breadcrumb.read(crumb.path)
    assert (position.noted, position.signature) == ("", "")
    crumb.close()
