"""Cached samples are the same for all units and workers. If they cannot be stored, they are made again."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from autotest.frameworks.samples import Sample
from autotest.results.sweep import CellKey
from autotest.sweeping import sample_cache
from autotest.sweeping.sample_cache import SampleCache
from autotest.sweeping.sampling import samples
from autotest.sweeping.units import Unit
from tests.sweep.planted import databases


class Counted:
    """A database that counts how often its samples are created."""

    name = "operators"

    def __init__(self) -> None:
        self.made = 0
        self._database = databases()["operators"]
        self.entries = self._database.entries

    def samples(self, *asked: object) -> Iterator[Sample]:
        self.made += 1
        yield from self._database.samples(*asked)  # type: ignore[arg-type]


def unit(kind: str) -> Unit:
    return Unit(0, "operators", CellKey("nn.functional.relu", "function", "float32"), kind, 7)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def all_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_cache, "_LONG", -1.0)


def same(one: list[Sample], other: list[Sample]) -> bool:
    return pickle.dumps(one) == pickle.dumps(other)


def test_samples_are_made_once_for_all_units_and_workers(tmp_path: Path) -> None:
    database = Counted()
    plain = {kind: list(samples(unit(kind), database)) for kind in ("sample", "mutation", "hard")}
    assert database.made == 3
    for kind in ("sample", "mutation", "hard", "sample"):
        worker = SampleCache(tmp_path)
        assert len(list(samples(unit(kind), database, worker))) == len(plain[kind]) > 0
    assert database.made == 4
    (file,) = tmp_path.iterdir()
    assert same(pickle.loads(file.read_bytes()), plain["sample"])


def test_what_cannot_be_kept_or_read_is_made_again(tmp_path: Path) -> None:
    database = Counted()
    nowhere = SampleCache(tmp_path / "missing")
    assert len(list(samples(unit("sample"), database, nowhere))) > 0
    kept = SampleCache(tmp_path)
    expected = list(samples(unit("sample"), database, kept))
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"")
    assert len(list(samples(unit("sample"), database, kept))) == len(expected)
    assert database.made == 3
