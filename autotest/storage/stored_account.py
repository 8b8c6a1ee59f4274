"""The gradient account of a suite, written to disk after each test, so that another run can resume it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from autotest.base.errors import UsageError
from autotest.results.gradient_account import GradientAccount
from autotest.results.tasks import Where
from autotest.storage.records import Format, Records

FORMAT: Final = Format("autotest gradients under way", 3)


@dataclasses.dataclass(frozen=True, slots=True)
class AccountRequest:
    """The arguments of an account: the number of trials of each test, and the candidate."""

    trials: int
    candidate: str


class StoredAccount:
    """Appends the account of each test, with the group of machines that ran it, to a file."""

    def __init__(self, directory: Path, asked: AccountRequest, *, resume: bool = False) -> None:
        """Read the accounts of an earlier run if `resume`.

        Args:
            directory: the folder of the run.
            asked: the arguments of this run.
            resume: whether to continue the last run.

        Raises:
            UsageError: there is nothing to resume, or the last run had other arguments.
        """
        self._path, self._asked, self._resume = directory / "gradients" / "last", asked, resume
        #: Group, file and test -> the account of an earlier run.
        self.known: Mapping[tuple[str, str, str], GradientAccount] = _read(self._path, asked) if resume else {}
        self._records: Records | None = None

    def begin(self) -> None:
        """Open the file for writing: append to a resumed one, else replace that of an earlier run."""
        self._records = Records(self._path, resumed=self._resume)
        if not self._resume:
            self._records.begin(FORMAT.header(self._asked))

    @property
    def trouble(self) -> str:
        """Why the latest accounts could not be written; empty if they were."""
        return "" if self._records is None else self._records.trouble

    def account(self, test: Where, group: str = "") -> GradientAccount | None:
        """Return the account of a test from an earlier run; None if that run did not get to the test."""
        return self.known.get(_key(test, group))

    def all_of(self, tests: Sequence[Where], group: str = "") -> GradientAccount:
        """Return the sum of the accounts of `tests` from an earlier run."""
        whole = GradientAccount()
        for test in tests:
            whole.take(self.account(test, group) or GradientAccount())
        return whole

    def add(self, test: Where, account: GradientAccount, group: str = "") -> None:
        """Write the account of one test; call `begin` first."""
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
            f"--resume: expected the options of the last run, --trials {before.trials} against {before.candidate}; "
            f"got --trials {asked.trials} against {asked.candidate}. Give the same options, or run without --resume"
        )
    return dict(written)
