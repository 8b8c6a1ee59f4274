"""Finds the ledger entries that are about no test any more, because it was renamed or removed."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from autotest.results import ledger
from autotest.results.ledger import LedgerEntry

#: The characters of a pattern that stand for others. A bracket in an entry is one of the test's arguments.
_WILDCARDS: Final = frozenset("*?")


def unmatched_entries(
    tests: Mapping[Path, Collection[str]], is_collected: Callable[[Path], bool], candidates: Iterable[str]
) -> list[tuple[Path, LedgerEntry]]:
    """Return the entries of the ledgers beside and above some test files that are about none of their tests.

    An entry counts only if everything that it may be about was collected: the files that it names, or the whole folder
    of the ledger if there is no such file.

    Args:
        tests: for each completely collected test file, the names of its tests, such as ``Class.test[arguments]``.
        is_collected: returns whether everything in a folder was collected.
        candidates: the candidates of the run. Tests may exist for some candidates only.

    Raises:
        UsageError: a ledger cannot be read.
    """
    ids = {file: [f"{file.as_posix()}::{name}" for name in names] for file, names in tests.items()}
    collected = _Collected(ids, _by_end(ids), is_collected, functools.cache(_python_files))
    named = list(candidates)
    return [
        (path, entry)
        for path in dict.fromkeys(path for file in tests for path in ledger.files_for(file))
        for entry in ledger.read(path)
        if any(entry.is_about(name, str) for name in named) and collected.lacks(entry, path.parent)
    ]


class _Collected(NamedTuple):
    """The collected tests; what all entries of a ledger ask of files is found out once."""

    #: The ids of the tests of each file.
    ids: Mapping[Path, list[str]]
    #: These files by each end of their paths, such as ``folder/file.py``.
    by_end: Mapping[str, list[Path]]
    is_complete: Callable[[Path], bool]
    #: Returns the Python files below a folder.
    files_below: Callable[[Path], list[Path]]

    def lacks(self, entry: LedgerEntry, folder: Path) -> bool:
        """Return whether `entry`, of a ledger in `folder`, is about no test, and all of its files were collected."""
        pattern, _, name = entry.test.partition("::")
        parts = pattern.count("/") + 1
        # Nearly all entries name their file, and there may be ten thousand tests in others.
        possible = self.ids if _WILDCARDS & {*pattern} else self.by_end.get(pattern, [])
        if any(entry.applies_to_test(test) for file in possible for test in self.ids[file]):
            return False
        files = [
            file for file in self.files_below(folder) if fnmatch.fnmatchcase("/".join(file.parts[-parts:]), pattern)
        ]
        if not files:
            return self.is_complete(folder)
        return all(file in self.ids and not _may_call(file, name, self.ids[file]) for file in files)


def _by_end(files: Iterable[Path]) -> Mapping[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for file in files:
        parts = file.as_posix().split("/")
        for at in range(len(parts)):
            found.setdefault("/".join(parts[at:]), []).append(file)
    return found


def _python_files(folder: Path) -> list[Path]:
    """Return the Python files below `folder`, without hidden ones."""
    found = folder.rglob("*.py")
    return [file for file in found if not any(part.startswith(".") for part in file.relative_to(folder).parts)]


def _may_call(file: Path, name: str, ids: Iterable[str]) -> bool:
    """Whether a test with this `name` may exist in `file` although pytest does not collect it.

    Another test may call a decorated function, and campaigns run decorated functions of any name.
    """
    plain = re.split(r"[\[#]", name)[0]
    function = plain.rpartition(".")[2]
    if not re.fullmatch(r"\w+", function):
        return False  # a pattern
    if any(re.split(r"[\[#]", test.partition("::")[2])[0] == plain for test in ids):
        return False  # it is collected, but not with the arguments of the entry
    return re.search(rf"\b{function}\b", file.read_text(encoding="utf-8", errors="replace")) is not None
