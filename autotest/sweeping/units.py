"""Units of a sweep: all samples of one kind in one cell, in the order in which they should run."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from autotest.frameworks.samples import DatabaseEntry, Form, SampleKind
from autotest.results.sweep import CellKey
from autotest.sweeping.worker_position import Running

#: Deaths in one unit after which its remaining samples are only counted.
DEATHS: Final = 12
#: The same for hangs, each of which costs a wait.
HANGS: Final = 3
#: The basic forms, which every operator has; the other forms come later.
FIRST: Final = frozenset(("function", "module", "reflected", "optimizer"))
#: Kind of samples -> round in which its units of the basic forms and float32 are judged.
_KINDS: Final[Mapping[SampleKind, int]] = {
    "sample": 0,
    "error": 1,
    "noncontiguous": 1,
    "option": 1,
    "mutation": 1,
    "special": 2,
    "hard": 3,
    "found": 0,
    "reference": 5,
}


#: Dtypes, in addition to float32, for which mutations are made in the forms of `FIRST`.
_MUTATED_DTYPES: Final = frozenset(("float64", "int64", "int32", "uint8", "bool"))
#: Forms and dtypes outside of `FIRST` and float32 that get mutations.
_WHOLE: Final = (("operator", "int64"), ("in-place", "int64"))
#: The kinds of an entry for earlier findings.
FOUND: Final[tuple[SampleKind, ...]] = ("found",)
#: Additional kinds, generated from the samples of an entry.
_MUTATED: Final[tuple[SampleKind, ...]] = ("mutation", "special", "hard")
#: Kinds of units that need the ordinary samples of their cell first.
OF_ORDINARY: Final[frozenset[str]] = frozenset(("sample", *_MUTATED))


#: Text for a process that was killed because it did not respond.
NO_ANSWER: Final = "no answer"


class Ended(NamedTuple):
    """How the worker ended that judged a sample."""

    #: The step it was running.
    running: Running
    #: Such as ``"SIGSEGV"``, ``"no answer in 20 s"``.
    how: str
    words: str
    #: Whether it hung and was killed.
    hung: bool = False
    #: Whether it is unknown if the candidate would have responded: the wait was shorter than the deadline, or the
    #: reference was running.
    early: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Unit:
    """One piece of work: the samples of one kind, of one operator in one form and dtype."""

    number: int
    database: str
    key: CellKey
    kind: SampleKind
    seed: int
    path: str = ""
    #: The dtypes for which its operator has cells.
    dtypes: tuple[str, ...] = ()
    #: Whether its database also has samples with additional optional arguments.
    optioned: bool = False
    #: Index of the first sample to judge. Those before it have been judged.
    start: int = 0
    #: Number of samples to judge; None for all. Generating the next one does not end.
    stop: int | None = None
    #: Number of the turn; each turn has other mutations.
    turn: int = 0
    #: The samples that ended a worker before.
    ended: Mapping[int, Ended] = dataclasses.field(default_factory=dict)
    #: Why the remaining samples are only counted, not judged; empty if they are judged.
    abandoned: str = ""
    #: Summaries of arguments that ended processes (`autotest.sweeping.arguments`), with counts.
    deadly: Mapping[str, int] = dataclasses.field(default_factory=dict)
    #: Whether no fork may judge it, because one has hung: a fork lacks the framework's threads.
    unforked: bool = False
    #: Whether a worker ended before it began the unit. Only a fresh one gets it then.
    orphaned: bool = False

    @property
    def in_forks(self) -> bool:
        """Whether forks of the worker judge the unit: it has crashed a process, so it may crash another one.

        A sample that hung would probably hang in a fork too, and a hang is evidence only if it happens in the worker
        itself.
        """
        return bool(self.ended) and not self.unforked and not self.hung

    @property
    def hung(self) -> bool:
        """Whether one of its samples hung."""
        return any(ended.hung for ended in self.ended.values())

    def with_deadly(self, summary: str) -> Unit:
        """Return the unit with one more death counted for arguments with the summary `summary`."""
        return dataclasses.replace(self, deadly={**self.deadly, summary: self.deadly.get(summary, 0) + 1})


def was_counted(unit: Unit, sample: int) -> bool:
    """Whether `sample` is known to end processes and is not run again. After a death in a probe, it is run again."""
    return sample in unit.ended and unit.ended[sample].running is not Running.PROBE


def after_death(unit: Unit, start: int, sample: int, ended: Ended) -> Unit:
    """Return the rest of `unit` from `start` on, after `sample` ended the process.

    After `DEATHS` deaths, or `HANGS` hangs, the remaining samples are only counted.
    """
    known = {**unit.ended, sample: ended}
    abandoned = "not run: other samples of this unit crashed" if len(known) >= DEATHS else ""
    if sum(one.hung for one in known.values()) >= HANGS:
        abandoned = "not run: other samples of this unit gave no answer"
    return dataclasses.replace(unit, start=start, ended=known, abandoned=abandoned)


def after_end(unit: Unit, upto: int, sample: int, ended: Ended) -> Unit:
    """Return the rest of `unit`, judged up to `upto`, after its worker died or hung during `sample`.

    A hang in a fork says nothing about the candidate: the sample is judged again, and no fork judges the rest.
    """
    if ended.hung and unit.in_forks:
        return dataclasses.replace(unit, start=upto, unforked=True)
    return after_death(unit, upto, sample, ended)


def units(entries: Sequence[DatabaseEntry], chosen: Callable[[str], bool], seed: int) -> Iterator[Unit]:
    """Yield the units of all chosen cells: a first pass over all operators, then forms, dtypes and other inputs."""
    found = [
        (round_of(form, dtype, kind), name, entry, key, kind)
        for entry in entries
        for form in entry.forms
        for dtype in entry.dtypes
        if chosen(name := str(key := CellKey(entry.key, form, dtype)))
        for kind in (*entry.kinds, *(_MUTATED if entry.mutated else ()))
        if _applies(entry, form, dtype, kind)
    ]
    found.sort(key=lambda item: (item[0], digest(seed, item[1])))
    for number, (_, _, entry, key, kind) in enumerate(found):
        path = entry.paths.get(key.form, "")
        # The form is not part of the seed: all forms get the same samples.
        drawn = "sample" if kind in _MUTATED else kind
        own = digest(seed, f"{key.operator}/{key.dtype}/{drawn}")
        yield Unit(number, entry.database, key, kind, own, path, entry.dtypes, "option" in entry.kinds)


def round_of(form: Form, dtype: str, kind: SampleKind) -> int:
    """Return the round of a unit: 0 is the first pass, over every operator."""
    if kind != "sample":
        # Mutations of the common forms find more than ordinary inputs of the other forms.
        return _KINDS[kind] + (dtype != "float32") + 3 * (form not in FIRST)
    if dtype == "float32":
        return 0 if form in FIRST else 2
    return 4 if form in FIRST else 6


def in_first_pass(unit: Unit) -> bool:
    """Whether the unit belongs to the first pass, over every operator."""
    return round_of(unit.key.form, unit.key.dtype, unit.kind) == 0  # type: ignore[arg-type]


def _applies(entry: DatabaseEntry, form: Form, dtype: str, kind: SampleKind) -> bool:
    if kind == "error":
        # Error inputs bring their own dtypes.
        return form in FIRST and dtype == ("float32" if "float32" in entry.dtypes else entry.dtypes[0])
    if kind == "hard":
        return form in FIRST and dtype == "float32"
    if kind == "special":
        return form in FIRST and dtype in ("float32", "int64")
    if kind == "mutation":
        # Some candidates have ``x % y`` but no function for it.
        return dtype == "float32" or (form in FIRST and dtype in _MUTATED_DTYPES) or (form, dtype) in _WHOLE
    return kind in ("sample", "found") or (form in FIRST and dtype in ("float32", "int64"))


def digest(seed: int, text: str) -> int:
    """Return a hash of `seed` and `text` that is the same on every machine."""
    return int.from_bytes(hashlib.blake2b(f"{seed}\0{text}".encode(), digest_size=8).digest(), "big") >> 1


def in_shard(unit: Unit, seed: int, shard: tuple[int, int]) -> bool:
    """Whether `unit` belongs to the I-th of K parts. All kinds of a cell belong to the same part."""
    number, parts = shard
    return digest(seed, str(unit.key)) % parts == number - 1
