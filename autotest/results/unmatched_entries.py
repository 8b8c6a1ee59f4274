"""Finds the ledger entries that are about no test any more, because it was renamed or removed."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

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
    named = list(candidates)
    return [
        (path, entry)
        for path in dict.fromkeys(path for file in tests for path in ledger.files_for(file))
        for entry in ledger.read(path)
        if any(entry.is_about(name, str) for name in named) and _is_unmatched(entry, path.parent, ids, is_collected)
    ]


def _is_unmatched(
    entry: LedgerEntry, folder: Path, ids: Mapping[Path, list[str]], is_collected: Callable[[Path], bool]
) -> bool:
    pattern, _, name = entry.test.partition("::")
    parts = pattern.count("/") + 1
    # Nearly all entries name their file, and there may be ten thousand tests in others.
    named = not _WILDCARDS & {*pattern}
    ids_of_file = (
        found for file, found in ids.items() if not named or "/".join(file.as_posix().split("/")[-parts:]) == pattern
    )
    if any(entry.applies_to_test(test) for found in ids_of_file for test in found):
        return False
    files = [
        file
        for file in folder.rglob("*.py")
        if fnmatch.fnmatchcase("/".join(file.parts[-parts:]), pattern)
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    ]
    if not files:
        return is_collected(folder)
    return all(file in ids and not _may_call(file, name, ids[file]) for file in files)


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
