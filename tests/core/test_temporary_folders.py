"""Folders that killed processes left in the temporary folder are removed later, and no others."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from autotest.base.temporary_folders import STALE, own_folder, remove_abandoned, temporary_folder
from autotest.clusters.ray_engine import _of_dead_drivers


@pytest.fixture
def ended() -> int:
    """Return the id of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def made(folder: Path, age: float) -> Path:
    folder.mkdir()
    at = folder.stat().st_mtime - age
    os.utime(folder, (at, at))
    return folder


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_folders_of_processes_that_have_ended_are_removed(temporary, ended):
    own = own_folder("autotest-sweep-")
    _, _, _, namespace, _ = own.name.split("-")
    gone = made(temporary / f"autotest-pytest-{ended}-{namespace}-a", 0)
    kept = [
        made(temporary / f"autotest-pytest-{os.getpid()}-{namespace}-b", 2 * STALE),
        made(temporary / f"autotest-agent-{ended}-{namespace}-c", 2 * STALE),
    ]
    second = own_folder("autotest-pytest-")
    assert not gone.exists()
    assert sorted(temporary.iterdir()) == sorted([own, second, *kept])


def test_folders_of_a_process_that_nobody_has_waited_for_are_removed(temporary):
    own = own_folder("autotest-trace-")
    _, _, _, namespace, _ = own.name.split("-")
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        gone = made(temporary / f"autotest-trace-{process.pid}-{namespace}-a", 0)
        remove_abandoned("autotest-trace-")
        assert not gone.exists()
    assert own.exists()


def test_a_folder_of_another_container_is_removed_when_it_is_old(temporary, ended):
    gone = made(temporary / f"autotest-sweep-{ended}-elsewhere-a", 2 * STALE)
    kept = made(temporary / f"autotest-sweep-{ended}-elsewhere-b", 0)
    own = own_folder("autotest-sweep-")
    assert not gone.exists()
    assert sorted(temporary.iterdir()) == sorted([own, kept])


def test_a_folder_that_the_user_made_stays_however_similar_its_name_is(temporary):
    kept = [made(temporary / f"autotest-sweep-{name}", 2 * STALE) for name in ("my-results", "of-all-operators", "7-a")]
    own = own_folder("autotest-sweep-")
    assert sorted(temporary.iterdir()) == sorted([own, *kept])


def test_a_fork_leaves_the_folder_of_its_parent(temporary):
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("autotest-pytest-"))
        fork = os.fork()
        if not fork:
            stack.close()
            os._exit(0)
        os.waitpid(fork, 0)
        assert folder.is_dir()
    assert not folder.exists()


def test_the_folder_of_a_cluster_of_ray_is_that_of_its_driver(tmp_path, ended):
    for name, pid in (("autotest-a", ended), ("autotest-b", os.getpid())):
        folder = made(tmp_path / name, 0)
        session = made(folder / f"session_2026-11-25_06-52-11_670680_{pid}", 0)
        (folder / "session_latest").symlink_to(session)
    made(tmp_path / "autotest-c", 0)
    assert list(_of_dead_drivers(tmp_path)) == [tmp_path / "autotest-a"]
