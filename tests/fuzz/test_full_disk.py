"""On a disk that is really full, a campaign says so, stores its findings elsewhere, and continues."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autotest.base.errors import StoreUnwritable
from autotest.campaigns import worker_breadcrumbs
from autotest.campaigns.history import History
from autotest.processes.endings import death_from_status
from autotest.results.progress import CampaignProgress

SUITE = """
import pytest

from autotest import autotest, random_tensor, torch


@pytest.mark.parametrize("name", "relu sinh cosh exp tanh".split())
@autotest(n=5)
def test_it(name):
    return getattr(torch, name)(random_tensor(2, low=0.5, high=1.5))
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("only root may make a small disk")
    made = subprocess.run([mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], check=False, capture_output=True)
    if made.returncode:
        pytest.skip(f"no small disk can be made here: {made.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


@pytest.fixture
def leave(disk: Path) -> Callable[[int], None]:
    """Return ``leave(bytes)``, which fills the disk except for that many bytes."""

    def fill(rest: int) -> None:
        filling = disk / "filling"
        filling.unlink(missing_ok=True)
        room = os.statvfs(disk)
        with filling.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize - rest)

    return fill


def test_a_trail_that_finds_no_room_is_kept_elsewhere_and_found_there(disk, leave, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    place, log = disk / "campaign-7" / "0.crumb", disk / "worker.log"
    place.parent.mkdir()
    leave(8192)
    crumb = worker_breadcrumbs.breadcrumb_at(place)
    assert crumb is not None
    crumb.test(Path("test_x.py"), "test_x.py::test_it", 7)
    crumb.trial(3)
    death = worker_breadcrumbs.read_death(place, log, death_from_status(-6))
    assert (death.index, death.how) == (3, "SIGABRT")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk"]


def test_no_trail_where_no_disk_has_room(disk, leave, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(disk))
    leave(8192)
    assert worker_breadcrumbs.breadcrumb_at(disk / "0.crumb") is None


def begin_often(history: History) -> None:
    for _ in range(20):
        history.begin(CampaignProgress(0, []), "1/1")


def test_a_history_that_cannot_begin_says_so_and_begins_once_there_is_room(disk, leave):
    history = History(disk)
    leave(4096)
    with pytest.raises(StoreUnwritable, match="cannot be written: database or disk is full; make it writable"):
        begin_often(history)
    leave(500_000)
    assert history.begin(CampaignProgress(0, []), "1/1")
    history.close()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_campaign_goes_on_and_keeps_what_it_announces(disk, leave, shell, tmp_path):
    (tmp_path / "test_it.py").write_text(SUITE)
    (tmp_path / "elsewhere").mkdir()
    History(disk / "kept").close()
    # Enough space for the first record of a campaign in its history and SQLite's own files, and not more.
    leave(14 * 4096)
    command = ("autotest", "fuzz", "test_it.py", "--trials", 300, "--seed", 1)
    surroundings = {"AUTOTEST_DIR": str(disk / "kept"), "TMPDIR": str(tmp_path / "elsewhere"), "AUTOTEST_SHRINK": "1"}
    with shell(*command, **surroundings) as run:
        output, _ = run.communicate()
    assert run.returncode == 1, output
    assert "are broken:" not in output
    assert "cannot be written any more: database or disk is full" in output
    scripts = re.findall(r"python (\S+repro\.py)  \(verified in a fresh interpreter\)", output)
    assert len(scripts) == output.count("\nfound ") == 2, output
    assert all((tmp_path / script).exists() for script in scripts)
