"""The books of gradients of a suite, on disk test by test while they are kept, so that another run can go on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from autotest.base.errors import UsageError
from autotest.results.gradient_account import Books
from autotest.results.tasks import Where
from autotest.storage.records import Format, Records

FORMAT: Final = Format("autotest gradients under way", 2)


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """What the books were asked for: so many trials of each test, and of whom."""

    trials: int
    candidate: str


class KeptBooks:
    """Appends the books of one test after the other, with the group of machines that ran it."""

    def __init__(self, directory: Path, asked: Asked, *, resume: bool = False) -> None:
        """Raises `UsageError` where there is nothing to resume, or what was asked for something else."""
        self._path, self._asked, self._resume = directory / "gradients" / "last", asked, resume
        #: Group and test -> what an earlier run came to.
        self.known: Mapping[tuple[str, str, str], Books] = _read(self._path, asked) if resume else {}
        self._records: Records | None = None

    def begin(self) -> None:
        """Write from now on, behind what is resumed, or in place of an earlier run's, which stay until then."""
        self._records = Records(self._path, resumed=self._resume)
        if not self._resume:
            self._records.begin(FORMAT.header(self._asked))

    @property
    def trouble(self) -> str:
        """Why it lacks what happened last; empty if it does not."""
        return "" if self._records is None else self._records.trouble

    def books(self, test: Where, group: str = "") -> Books | None:
        """What an earlier run came to of a test; None where it did not come to it."""
        return self.known.get(_key(test, group))

    def all_of(self, tests: Sequence[Where], group: str = "") -> Books:
        """What an earlier run came to of all of `tests`."""
        whole = Books()
        for test in tests:
            whole.take(self.books(test, group) or Books())
        return whole

    def add(self, test: Where, books: Books, group: str = "") -> None:
        """Note the books of one test, after `begin`."""
        assert self._records is not None
        self._records.add((_key(test, group), books))

    def close(self) -> None:
        """Close the file."""
        if self._records is not None:
            self._records.close()


def _key(test: Where, group: str) -> tuple[str, str, str]:
    return group, str(test.file.absolute()), test.test


def _read(path: Path, asked: Asked) -> dict[tuple[str, str, str], Books]:
    before, written = FORMAT.resumed(path, Asked)
    if before != asked:
        raise UsageError(
            f"the books to go on with are of {before.trials} trials against {before.candidate}, not of {asked.trials} "
            f"against {asked.candidate}; ask for the same, or run without --resume"
        )
    return dict(written)


__all__ = ["Asked", "KeptBooks"]
