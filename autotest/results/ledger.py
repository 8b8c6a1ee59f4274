"""The ledger: known divergences that a run expects, each with its reason.

    [[divergence]]
    key = "logsumexp-minus-inf"
    test = "test_reduction.py::test_logsumexp"      # a glob over test ids; with "[name='x']" only for these arguments,
                                                    # with "tests/" in front only for files in this folder
    symptom = "value"
    operator = "logsumexp"                          # optional
    match = "NaN"                                   # optional: a regular expression, searched in the message
    place = "[0]"                                   # optional: only at "[0]", ".weight.grad", ..; see `Mismatch.place`
    operand = "1"                                   # optional: only its gradient, see `Mismatch.operand`
    reason = "OneFlow 0.9.0 gives NaN where all elements are -inf"
    reproducer = "reproducers/logsumexp-minus-inf.py"
    date = 2026-11-20
    refused = true                                  # optional: it happens in calls that the reference rejects
    strict = false                                  # optional: too rare to happen in every run of the test

The top of the file names the candidate that diverges, ``candidate = "NAME"``, which may be a pattern, and its releases:
``versions = ">=3.3,<3.4"``. A candidate in another interpreter has the same name as in this one. Divergences from only
some releases of the reference name these: ``reference_versions = ">=2.0,<2.1"``. Each candidate has its own file next
to the tests: ``ledger.toml``, ``ledger-NAME.toml``.

Divergences in calls that the reference rejects (such as each ``accepted``) happen only in runs that make these calls on
the candidate: in worker processes, and in tests with ``check_errors=True``. Other runs do not expect them, and do not
report them as stale.

If the symptom is ``crash``, ``hang`` or ``out of memory``, the test always runs in a worker process. The run expects
one such death. After it, the run does not make the fatal call again, so a fatal call should have its own test.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import fnmatch
import functools
import re
import sys
from collections import Counter
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Any, get_args

from autotest.base.errors import UsageError, nearest
from autotest.base.versions import within
from autotest.comparison import SPECIAL, Mismatch, Symptom
from autotest.results.identity import DEADLY, without_interpreter

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = "ledger.toml"
#: The files of a folder that are ledgers.
FILES = "ledger*.toml"
_REQUIRED = ("key", "test", "symptom", "reason")
_OPTIONAL = (
    *("operator", "match", "place", "operand", "reproducer", "link", "date"),
    *("candidate", "versions", "reference_versions", "refused", "strict"),
)
_FLAGS = ("refused", "strict")
_SYMPTOMS: tuple[str, ...] = (*get_args(Symptom), SPECIAL)
#: Keys that may be set at the top of a file for all of its entries.
_COMMON = ("candidate", "versions", "reference_versions")


@dataclasses.dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One known divergence."""

    key: str
    test: str
    symptom: str
    reason: str
    operator: str = ""
    match: str = ""
    #: The result, gradient or buffer of the operator that differs; any of them if empty.
    place: str = ""
    #: For gradients: the leaf's place in the first call that reads it, such as ``"1"`` or ``"weight"``; any if empty.
    operand: str = ""
    reproducer: str = ""
    link: str = ""
    date: str = ""
    #: The candidate that diverges, as a pattern; any candidate if empty.
    candidate: str = ""
    #: The versions of the candidate that diverge, such as ``">=3.3,<3.4"``; all if empty.
    versions: str = ""
    #: The versions of the reference from which it diverges; all if empty.
    reference_versions: str = ""
    #: Whether it happens in calls that the reference rejects.
    refused: bool = False
    #: Whether a run of the test without this divergence fails, as with pytest's strict `xfail`.
    strict: bool = True

    @property
    def needs_error_parity(self) -> bool:
        """Whether it can happen only in runs that also make the reference's rejected calls on the candidate."""
        return self.refused or self.symptom == "accepted"

    @property
    def kills(self) -> bool:
        """Whether it ends the process in which it happens."""
        return self.symptom in DEADLY

    def is_about(self, candidate: str, version: Callable[[], str], reference_version: Callable[[], str] = str) -> bool:
        """Whether the entry applies to these versions of the candidate and the reference.

        Args:
            candidate: the name of the candidate.
            version, reference_version: return the versions of the two sides. They are called only if the entry has a
                range for that side; an empty version satisfies every range.
        """
        named = (candidate, without_interpreter(candidate))
        if self.candidate and not any(
            self.candidate == name or fnmatch.fnmatchcase(name, self.candidate) for name in named
        ):
            return False
        ranges = ((self.versions, version), (self.reference_versions, reference_version))
        return all(not allowed or within(own(), allowed) for allowed, own in ranges)

    def applies_to_test(self, test: str) -> bool:
        """Whether the entry applies to the test with this id, which may have more folders than the entry names.

        An entry without arguments applies to all of them, and one without ``#2`` to all tests that differ only in it.
        """
        file, colons, name = test.partition("::")
        name, number = _numbered(name)
        if "[" not in self.test:
            name = name.partition("[")[0]
        if _numbered(self.test)[1]:
            name += number
        parts = file.split("/")[-1 - self.test.partition("::")[0].count("/") :]
        # The id of a test with arguments ends in [arguments], but brackets have another meaning for fnmatch.
        return fnmatch.fnmatchcase("/".join(parts) + colons + name, self.test.replace("[", "[[]"))

    def covers(self, mismatch: Mismatch, operator: str) -> bool:
        """Whether `mismatch`, which is attributed to `operator`, is the divergence that the entry describes."""
        return (
            # An operator that is known to differ for ordinary values may also differ for special ones.
            self.symptom in (mismatch.heading, mismatch.symptom)
            and (not self.operator or self.operator == operator)
            and (not self.place or self.place == mismatch.place)
            and (not self.operand or self.operand == mismatch.operand)
            and re.search(self.match, mismatch.message) is not None
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger entries that apply to one test file."""

    entries: tuple[LedgerEntry, ...] = ()
    #: The test file. The folders in the id of a test depend on which files were collected; those of the file do not.
    file: Path | None = dataclasses.field(default=None, compare=False)
    #: The entries that apply to each test that was asked for: a run asks again for each of its failed trials.
    _of_tests: dict[str, list[LedgerEntry]] = dataclasses.field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def entries_for(self, test: str, meant: Callable[[LedgerEntry], bool] = lambda entry: True) -> list[LedgerEntry]:
        """Return those of the entries that are `meant` that apply to the test with this id."""
        applying = self._of_tests.get(test)
        if applying is None:
            known = test if self.file is None else f"{self.file.as_posix()}::{test.partition('::')[2]}"
            applying = self._of_tests[test] = [entry for entry in self.entries if entry.applies_to_test(known)]
        return [entry for entry in applying if meant(entry)]

    def expects_death(self, test: str, *, error_parity: bool) -> bool:
        """Whether `test` is known to kill its process.

        Args:
            test: the test's id.
            error_parity: whether calls that the reference rejects are also made on the candidate.
        """
        return bool(self.deaths(test, error_parity=error_parity))

    def deaths(self, test: str, *, error_parity: bool) -> list[LedgerEntry]:
        """Return the entries by which `test` is known to kill its process; arguments as of `expects_death`."""
        return self.entries_for(test, lambda entry: entry.kills and (error_parity or not entry.refused))

    def stale(
        self, test: str, met: Container[str], *, error_parity: bool, special_values: bool = True
    ) -> list[LedgerEntry]:
        """Return the strict entries for `test` whose divergences did not happen in a complete run.

        Args:
            test: the test's id.
            met: the keys of the entries whose divergences happened.
            error_parity: whether calls that the reference rejects were also made on the candidate.
            special_values: whether special values were drawn, and differences on them counted.
        """

        def is_missed(entry: LedgerEntry) -> bool:
            reachable = (error_parity or not entry.needs_error_parity) and (special_values or entry.symptom != SPECIAL)
            return entry.strict and entry.key not in met and reachable

        return self.entries_for(test, is_missed)

    def expects(self, test: str, mismatch: Mismatch, operator: str | Callable[[], str]) -> LedgerEntry | None:
        """Return the entry that covers a trial whose first mismatch is `mismatch`, or None.

        Args:
            test: the test's id.
            mismatch: the mismatch.
            operator: the operator that the mismatch is attributed to, or a function that returns it. It is called only
                if an entry depends on it, as it may replay the trial.
        """
        possible = self.entries_for(test, lambda entry: entry.covers(mismatch, entry.operator))
        if not isinstance(operator, str):
            operator = operator() if any(entry.operator for entry in possible) else ""
        # An exception in a backward may be expected by the name of the pass, too, whatever call it is traced to.
        names = ("", operator, mismatch.name)
        return next((entry for entry in possible if entry.operator in names), None)


def find(
    start: Path,
    candidate: str = "",
    version: Callable[[], str] = str,
    reference_version: Callable[[], str] = str,
    common: Path | None = None,
) -> Ledger:
    """Return the entries of the ledgers in the folder of the file `start` and above, and of the `common` one.

    Args:
        start: the test file. Folders are searched up to the project's root, which has a `pyproject.toml` or `.git`.
        candidate: return only entries that apply to this candidate; all entries if empty.
        version, reference_version: return the versions of the two sides, which entries with ranges must allow; an
            empty version is allowed by all.
        common: a ledger that applies to all tests.

    Raises:
        UsageError: a ledger cannot be read.
    """
    entries = [entry for file in files_for(start) for entry in read(file)]
    if common is not None:
        entries += [entry for entry in read(common) if entry not in entries]
    about = (entry for entry in entries if not candidate or entry.is_about(candidate, version, reference_version))
    return Ledger(tuple(about), start.resolve())


def files_for(start: Path) -> Iterator[Path]:
    """Yield the ledgers that apply to the file `start`: those in its folder and above, up to the project's root."""
    for folder in start.resolve().parents:
        yield from sorted(folder.glob(FILES))
        if (folder / "pyproject.toml").exists() or (folder / ".git").exists():
            return


def _numbered(test: str) -> tuple[str, str]:
    """Return the id of a test without its number or variant, and this, such as ``#2``; empty if it has none."""
    found = re.search(r"(?:#[0-9.]+)+$", test)
    return (test, "") if found is None else (test[: found.start()], found.group())


def read(path: Path) -> list[LedgerEntry]:
    """Return the entries of one file.

    Raises:
        UsageError: the file cannot be read, or an entry is wrong; the message names the file and the entry.
    """
    try:
        return list(_parsed_once(path.read_text(encoding="utf-8"), path))
    except OSError as error:
        raise UsageError(f"{path}: no ledger can be read there: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not a ledger, because it is not UTF-8: {error}") from error


@functools.lru_cache(maxsize=64)  # a project's ledgers are read for each test file, and again for each death
def _parsed_once(text: str, path: Path) -> tuple[LedgerEntry, ...]:
    return tuple(parsed(text, path))


def parsed(text: str, path: Path) -> list[LedgerEntry]:
    """Return the entries of a ledger with the contents `text`; `path` is its name in error messages.

    Raises:
        UsageError: `text` is no TOML, or an entry is wrong; the message names the file and the entry.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not a ledger, because it is not TOML: {error}") from error
    for name in sorted(set(content) - {*_COMMON, "divergence"}):
        expected = f"expected [[divergence]], or {', '.join(_COMMON)} for all of them"
        raise UsageError(f"{path}: unknown {name!r}; {expected}{nearest(name, [*_COMMON, 'divergence'])}")
    if not isinstance(content.get("divergence", []), list):
        raise UsageError(f"{path}: expected [[divergence]] with two brackets: there may be several")
    common = {name: content.get(name, "") for name in _COMMON}
    tables = content.get("divergence", [])
    if any(not isinstance(table, dict) for table in tables):
        raise UsageError(f"{path}: expected each divergence to be a table that begins with [[divergence]]")
    entries = [_entry(path, position, {**common, **table}) for position, table in enumerate(tables, start=1)]
    (key, times), *_ = [*Counter(entry.key for entry in entries).most_common(1), ("", 0)]
    if times > 1:
        raise UsageError(f"{path}: {times} divergences have the key {key!r}; expected a key of its own for each")
    return entries


def _entry(path: Path, position: int, table: dict[str, Any]) -> LedgerEntry:
    where = f"{path}: divergence {position} ({table.get('key', 'without a key')})"
    missing = [name for name in _REQUIRED if not str(table.get(name, "")).strip()]
    if missing:
        expected = f"expected {', '.join(_REQUIRED)} in each divergence; `autotest ledger add` writes them"
        raise UsageError(f"{where}: {', '.join(missing)} missing or empty; {expected}")
    if table["symptom"] not in _SYMPTOMS:
        raise UsageError(
            f"{where}: symptom = {table['symptom']!r}; expected one of {', '.join(_SYMPTOMS)}"
            f"{nearest(str(table['symptom']), _SYMPTOMS)}"
        )
    if not all(isinstance(table[name], str) for name in _COMMON if name in table):
        raise UsageError(f"{where}: expected text for each of {', '.join(_COMMON)}; write an entry for each candidate")
    unknown = sorted(set(table) - {*_REQUIRED, *_OPTIONAL})
    if unknown:
        raise UsageError(f"{where}: unknown {', '.join(unknown)}; expected {', '.join((*_REQUIRED, *_OPTIONAL))}")
    for name, value in table.items():
        if name not in _FLAGS and not isinstance(value, (str, dt.date)):
            raise UsageError(f"{where}: {name} = {value!r}: expected text in quotes")
    try:
        re.compile(str(table.get("match", "")))
    except re.error as error:
        raise UsageError(f"{where}: match is not a regular expression: {error}") from error
    try:
        for name in ("versions", "reference_versions"):
            within("0", str(table.get(name, "")))
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from error
    for flag in _FLAGS:
        if type(table.get(flag, False)) is not bool:
            raise UsageError(f"{where}: {flag} = {table[flag]!r}: expected true or false")
    fields: dict[str, Any] = {name: value if name in _FLAGS else str(value) for name, value in table.items()}
    return LedgerEntry(**fields)
