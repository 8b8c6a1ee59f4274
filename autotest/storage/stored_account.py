"""The gradient account of a suite, on disk test by test while it is made, so that another run can go on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from autotest.base.errors import UsageError
from autotest.results.gradient_account import GradientAccount
from autotest.results.tasks import Where
from autotest.storage.records import Format, Records

FORMAT: Final = Format("autotest gradients under way", 2)


@dataclasses.dataclass(frozen=True, slots=True)
class AccountRequest:
    """What an account was asked for: so many trials of each test, and of whom."""

    trials: int
    candidate: str


class StoredAccount:
    """Appends the account of one test after the other, with the group of machines that ran it."""

    def __init__(self, directory: Path, asked: AccountRequest, *, resume: bool = False) -> None:
        """Raises `UsageError` where there is nothing to resume, or what was asked for something else."""
        self._path, self._asked, self._resume = directory / "gradients" / "last", asked, resume
        #: Group and test -> what an earlier run came to.
        self.known: Mapping[tuple[str, str, str], GradientAccount] = _read(self._path, asked) if resume else {}
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

    def account(self, test: Where, group: str = "") -> GradientAccount | None:
        """What an earlier run came to of a test; None where it did not come to it."""
        return self.known.get(_key(test, group))

    def all_of(self, tests: Sequence[Where], group: str = "") -> GradientAccount:
        """What an earlier run came to of all of `tests`."""
        whole = GradientAccount()
        for test in tests:
            whole.take(self.account(test, group) or GradientAccount())
        return whole

    def add(self, test: Where, account: GradientAccount, group: str = "") -> None:
        """Note the account of one test, after `begin`."""
        assert self._records is not None
        self._records.add((_key(test, group), account))

    def close(self) -> None:
        """Close the file."""
        if self._records is not None:
            self._records.close()


def _key(test: Where, group: str) -> tuple[str, str, str]:
    return group, str(test.file.absolute()), test.test


def _read(path: Path, asked: AccountRequest) -> dict[tuple[str, str, str], GradientAccount]:
    before, written = FORMAT.resumed(path, AccountRequest)
    if before != asked:
        raise UsageError(
            f"--resume: expected what the last run was asked for, --trials {before.trials} against {before.candidate}; "
            f"got --trials {asked.trials} against {asked.candidate}. Ask for the same, or run without --resume"
        )
    return dict(written)


__all__ = ["AccountRequest", "StoredAccount"]
