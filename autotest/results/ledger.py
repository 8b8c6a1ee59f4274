"""Known divergences: what a run expects to find, with the reason for each.

    [[divergence]]
    key = "logsumexp-minus-inf"
    test = "test_reduction.py::test_logsumexp"      # a glob over test ids; with "[name='x']" of these arguments only
    symptom = "value"
    operator = "logsumexp"                          # optional
    match = "NaN"                                   # optional: a regular expression, searched in the message
    place = "[0]"                                   # optional: only there; "[1]", ".weight.grad", see `Mismatch.place`
    operand = "1"                                   # optional: only its gradient, see `Mismatch.operand`
    reason = "OneFlow 0.9.0 gives NaN where all elements are -inf"
    reproducer = "reproducers/logsumexp-minus-inf.py"
    date = 2026-11-20
    refused = true                                  # optional: it happens in calls that the reference refuses
    strict = false                                  # optional: too seldom for every run of the test to meet it

Whose divergences these are stands at the top of the file: ``candidate = "NAME"``, which may be a pattern, and of which
releases: ``versions = ">=3.3,<3.4"``. A candidate in another interpreter has the name that it has in this one. What is
said of some releases of the reference alone says so: ``reference_versions = ">=2.0,<2.1"``. Each candidate has a file
of its own beside the tests: ``ledger.toml``, ``ledger-NAME.toml``.

What happens in calls that the reference refuses (such as each ``accepted``) is met only where the candidate is asked
for them: in worker processes, and by tests with ``check_errors=True``. No other run waits for it, or calls it stale.

Where the symptom is ``crash``, ``hang`` or ``out of memory``, the test runs in a worker process, whoever calls it. One
death is waited for; after it the call that kills is not made again in that run, so what kills wants a test of its own.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import re
import sys
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

from autotest.base.errors import UsageError, nearest
from autotest.base.versions import within
from autotest.comparison import Mismatch
from autotest.results.identity import DEADLY, placeless

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
#: What may stand at the top of a file, for all of its entries.
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
    #: Which of several results, gradients or buffers of that operator differs so; any of them if empty.
    place: str = ""
    #: Of gradients: of which operand of that operator, such as ``"1"`` or ``"weight"``; of any of them if empty.
    operand: str = ""
    reproducer: str = ""
    link: str = ""
    date: str = ""
    #: The candidate that diverges so, as a pattern; any one if empty.
    candidate: str = ""
    #: Of which of its versions that is said, such as ``">=3.3,<3.4"``; of all if empty.
    versions: str = ""
    #: Beside which versions of the reference; any one if empty.
    reference_versions: str = ""
    #: Whether it happens in calls that the reference refuses.
    refused: bool = False
    #: Whether a run of the test that does not meet it fails, as one that passes does where pytest's `xfail` is strict.
    strict: bool = True

    @property
    def needs_error_parity(self) -> bool:
        """Whether only a run that asks the candidate for what the reference refuses can meet it."""
        return self.refused or self.symptom == "accepted"

    @property
    def kills(self) -> bool:
        """Whether the process in which it happens does not live on."""
        return self.symptom in DEADLY

    def is_about(self, candidate: str, version: Callable[[], str], reference_version: Callable[[], str] = str) -> bool:
        """Whether it is about `candidate` in its present version, beside the reference in its own.

        Versions are asked for only where they count; an empty one fits any.
        """
        named = (candidate, placeless(candidate))
        if self.candidate and not any(
            self.candidate == name or fnmatch.fnmatchcase(name, self.candidate) for name in named
        ):
            return False
        ranges = ((self.versions, version), (self.reference_versions, reference_version))
        return all(not allowed or within(own(), allowed) for allowed, own in ranges)

    def speaks_of(self, test: str) -> bool:
        """Whether the entry is about the test with this id."""
        # A test's id ends in [arguments] where it has any; brackets mean something else to fnmatch. An entry that
        # names no arguments speaks of all of them.
        if "[" not in self.test:
            test = test.partition("[")[0]
        return fnmatch.fnmatchcase(test, self.test.replace("[", "[[]"))

    def covers(self, mismatch: Mismatch, operator: str) -> bool:
        """Whether `mismatch`, which is known by `operator`, is the divergence that the entry describes."""
        return (
            # What is known to differ in ordinary numbers may differ in special ones, too.
            self.symptom in (mismatch.heading, mismatch.symptom)
            and (not self.operator or self.operator == operator)
            and (not self.place or self.place == mismatch.place)
            and (not self.operand or self.operand == mismatch.operand)
            and re.search(self.match, mismatch.message) is not None
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Ledger:
    """The entries that apply to one place."""

    entries: tuple[LedgerEntry, ...] = ()

    def entries_for(self, test: str) -> list[LedgerEntry]:
        """The entries that are about the test with this id."""
        return [entry for entry in self.entries if entry.speaks_of(test)]

    def expects_death(self, test: str, *, error_parity: bool) -> bool:
        """Whether `test` is known to kill the process that it runs in, with or without calls that are refused."""
        return bool(self.deaths(test, error_parity=error_parity))

    def deaths(self, test: str, *, error_parity: bool) -> list[LedgerEntry]:
        """The entries by which `test` is known to kill the process that it runs in."""
        return [entry for entry in self.entries_for(test) if entry.kills and (error_parity or not entry.refused)]

    def stale(self, test: str, met: Container[str], *, error_parity: bool) -> list[LedgerEntry]:
        """The entries for `test` that a whole run of it could have met and did not, where `met` has the keys it met."""
        expected = [entry for entry in self.entries_for(test) if error_parity or not entry.needs_error_parity]
        return [entry for entry in expected if entry.strict and entry.key not in met]

    def expects(self, test: str, mismatch: Mismatch, operator: str) -> LedgerEntry | None:
        """The entry that covers a trial whose first mismatch is this one, if there is one."""
        return next((entry for entry in self.entries_for(test) if entry.covers(mismatch, operator)), None)


def find(
    start: Path,
    candidate: str = "",
    version: Callable[[], str] = str,
    reference_version: Callable[[], str] = str,
    common: Path | None = None,
) -> Ledger:
    """The ledgers beside the file `start` and in the folders above it, up to the project's root, and the `common` one.

    With a `candidate`, only what is about that one, or about any; and about its `version`, and about that of the
    reference, unless they are empty.
    """
    entries: list[LedgerEntry] = []
    for folder in start.resolve().parents:
        for file in sorted(folder.glob(FILES)):
            entries.extend(read(file))
        if (folder / "pyproject.toml").exists() or (folder / ".git").exists():
            break
    if common is not None:
        entries += [entry for entry in read(common) if entry not in entries]
    about = (entry for entry in entries if not candidate or entry.is_about(candidate, version, reference_version))
    return Ledger(tuple(about))


def read(path: Path) -> list[LedgerEntry]:
    """The entries of one file; raises `UsageError` that names the file and the entry."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: no ledger can be read there: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not a ledger, because it is not TOML: {error}") from error
    for name in sorted(set(content) - {*_COMMON, "divergence"}):
        expected = f"expected [[divergence]], or {', '.join(_COMMON)} for all of them"
        raise UsageError(f"{path}: unknown {name!r}{nearest(name, [*_COMMON, 'divergence'])}; {expected}")
    if not isinstance(content.get("divergence", []), list):
        raise UsageError(f"{path}: expected [[divergence]] with two brackets: there may be several")
    common = {name: content.get(name, "") for name in _COMMON}
    tables = enumerate(content.get("divergence", []), start=1)
    return [_entry(path, position, {**common, **table}) for position, table in tables]


def _entry(path: Path, position: int, table: dict[str, Any]) -> LedgerEntry:
    where = f"{path}: divergence {position} ({table.get('key', 'without a key')})"
    missing = [name for name in _REQUIRED if not str(table.get(name, "")).strip()]
    if missing:
        raise UsageError(f"{where}: {', '.join(missing)} missing or empty")
    unknown = sorted(set(table) - {*_REQUIRED, *_OPTIONAL})
    if unknown:
        raise UsageError(f"{where}: unknown {', '.join(unknown)}; expected {', '.join((*_REQUIRED, *_OPTIONAL))}")
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
    told: dict[str, Any] = {name: value if name in _FLAGS else str(value) for name, value in table.items()}
    return LedgerEntry(**told)
