"""A finding that cannot be stored in its own folder is stored elsewhere, and found there again."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from autotest.base.errors import UsageError
from autotest.storage.keeping import forget, latest, put
from autotest.storage.store_format import to_files
from tests.store.test_store import finding

KEY = "k"


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replace the system's folder for temporary files by an empty one."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Return a path for findings that cannot be written until it is unlinked."""
    place = tmp_path / "kept"
    place.write_text("no folder")
    return place


def write(directory: Path, seed: int) -> Path:
    return put(directory, KEY, lambda folder, why: to_files(finding(seed=seed), f"{folder}: {why}"))[0]


def test_what_is_kept_elsewhere_says_why_and_is_replaced_there(own, other):
    place, trouble = put(own, KEY, lambda folder, why: to_files(finding(), why))
    assert trouble == (place / "report.txt").read_text().rstrip("\n") != ""
    assert write(own, seed=2) == place
    assert latest(own, KEY).seed == 2
    assert len(list(other.iterdir())) == 1


def test_what_is_kept_elsewhere_goes_before_what_its_own_place_had_and_is_gone_once_that_has_room(own, other):
    own.unlink()
    first = write(own, seed=1)
    failures = first.parent
    failures.rename(own / "as-before")
    failures.write_text("no folder")
    elsewhere = write(own, seed=2)
    failures.unlink()
    (own / "as-before").rename(failures)
    assert latest(own, KEY).seed == 2
    assert write(own, seed=3) == first
    assert latest(own, KEY).seed == 3
    assert not elsewhere.exists()


def test_what_is_forgotten_is_gone_from_both_places(own, other):
    write(own, seed=1)
    forget(own, KEY)
    with pytest.raises(UsageError, match="no failure 'k'"):
        latest(own, KEY)
    forget(own, KEY)


def test_a_folder_of_somebody_else_is_neither_written_nor_read(own, other, monkeypatch):
    before = os.geteuid()
    write(own, seed=1)
    (theirs,) = other.iterdir()
    monkeypatch.setattr(os, "geteuid", lambda: before + 1)
    theirs.rename(other / theirs.name.replace(f"-{before}-", f"-{before + 1}-"))
    with pytest.raises(UsageError, match="no failure 'k'"):
        latest(own, KEY)
    (known,) = other.iterdir()
    assert not write(own, seed=2).is_relative_to(known)
