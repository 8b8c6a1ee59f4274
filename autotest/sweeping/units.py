"""Units of a sweep: all samples of one kind in one cell, in the order in which they are best run."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from autotest.frameworks.samples import DatabaseEntry, Form, SampleKind
from autotest.results.sweep import CellKey
from autotest.sweeping.trail import Running

#: Deaths in one unit after which the rest of its samples is only counted.
DEATHS: Final = 12
#: And those without an answer, each of which costs a wait.
HANGS: Final = 3
#: Calls that everything has; the other forms come after them.
FIRST: Final = frozenset(("function", "module", "reflected", "optimizer"))
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


#: Of these dtypes there are mutations, too, for those forms.
_MUTATED_DTYPES: Final = frozenset(("float64", "int64", "int32", "uint8", "bool"))
#: And of these forms those of whole numbers.
_WHOLE: Final = (("operator", "int64"), ("in-place", "int64"))
#: The kinds of an entry that holds what was found before.
FOUND: Final[tuple[SampleKind, ...]] = ("found",)
#: What is made of an entry's samples besides.
_MUTATED: Final[tuple[SampleKind, ...]] = ("mutation", "special", "hard")
#: Kinds of units that begin with the ordinary samples of their cell.
OF_ORDINARY: Final[frozenset[str]] = frozenset(("sample", *_MUTATED))


#: How the end of a process is told that was waited for too long.
NO_ANSWER: Final = "no answer"


class Ended(NamedTuple):
    """How the worker ended that judged a sample."""

    #: What it was doing.
    running: Running
    #: ``"SIGSEGV"``, ``"no answer in 20 s"``.
    how: str
    words: str
    #: Whether it did not end by itself: it gave no answer.
    hung: bool = False
    #: Whether nobody knows if the candidate would have come to one: less than the whole deadline was waited for it, or
    #: it was the reference's turn.
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
    #: The dtypes of which its operator has cells.
    dtypes: tuple[str, ...] = ()
    #: Whether its database has samples with optional arguments besides.
    optioned: bool = False
    #: The first sample to judge. Those before it have been.
    start: int = 0
    #: How many of its samples there are; None for all. The making of one after them comes to no end.
    stop: int | None = None
    #: Mutations are made anew in each turn.
    turn: int = 0
    #: Samples that ended a worker before.
    ended: Mapping[int, Ended] = dataclasses.field(default_factory=dict)
    #: Why no more samples are judged, but only counted; empty if they are.
    abandoned: str = ""
    #: Arguments of its operator that ended processes before (`autotest.sweeping.arguments`), and how often.
    deadly: Mapping[str, int] = dataclasses.field(default_factory=dict)
    #: Whether no fork of the worker judges it, since one has given no answer: it lacks the threads of the framework.
    unforked: bool = False

    @property
    def in_forks(self) -> bool:
        """Whether forks of the worker judge it. What has ended a process once does so again.

        What gave no answer would hardly give one in a fork, and says something only of the worker itself.
        """
        return bool(self.ended) and not self.unforked and not self.hung

    @property
    def hung(self) -> bool:
        """Whether one of its samples gave no answer."""
        return any(ended.hung for ended in self.ended.values())

    def with_deadly(self, told: str) -> Unit:
        """Itself, when such arguments have ended one process more."""
        return dataclasses.replace(self, deadly={**self.deadly, told: self.deadly.get(told, 0) + 1})


def was_counted(unit: Unit, sample: int) -> bool:
    """Whether `sample` is known to end processes, so that it is not run again; one that did in a probe is."""
    return sample in unit.ended and unit.ended[sample].running is not Running.PROBE


def after_death(unit: Unit, start: int, sample: int, ended: Ended, allowed: int = DEATHS) -> Unit:
    """The rest of `unit`, from `start` on, after `sample` ended the process; only counted after `allowed` deaths."""
    known = {**unit.ended, sample: ended}
    abandoned = "not run: samples beside it ended the process" if len(known) >= allowed else ""
    if sum(one.hung for one in known.values()) >= HANGS:
        abandoned = "not run: samples beside it gave no answer"
    return dataclasses.replace(unit, start=start, ended=known, abandoned=abandoned)


def after_end(unit: Unit, upto: int, sample: int, ended: Ended) -> Unit:
    """The rest of `unit`, judged up to `upto`, after its worker ended over `sample`, or gave no answer.

    A fork that gives no answer says nothing of the candidate: the sample is judged again, and no fork judges the rest.
    """
    if ended.hung and unit.in_forks:
        return dataclasses.replace(unit, start=upto, unforked=True)
    return after_death(unit, upto, sample, ended)


def units(entries: Sequence[DatabaseEntry], chosen: Callable[[str], bool], seed: int) -> Iterator[Unit]:
    """The units of all cells whose names fit: first one pass over all operators, then forms, dtypes, other inputs."""
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
        # The form has no part in it: all forms are given the same samples.
        drawn = "sample" if kind in _MUTATED else kind
        own = digest(seed, f"{key.operator}/{key.dtype}/{drawn}")
        yield Unit(number, entry.database, key, kind, own, path, entry.dtypes, "option" in entry.kinds)


def round_of(form: Form, dtype: str, kind: SampleKind) -> int:
    """When a unit's turn comes: 0 is the first pass, over every operator."""
    if kind != "sample":
        # Mutations of the forms that everything has find more than ordinary inputs of the other forms do.
        return _KINDS[kind] + (dtype != "float32") + 3 * (form not in FIRST)
    if dtype == "float32":
        return 0 if form in FIRST else 2
    return 4 if form in FIRST else 6


def in_first_pass(unit: Unit) -> bool:
    """Whether it belongs to the pass over every operator."""
    return round_of(unit.key.form, unit.key.dtype, unit.kind) == 0  # type: ignore[arg-type]


def _applies(entry: DatabaseEntry, form: Form, dtype: str, kind: SampleKind) -> bool:
    if kind == "error":
        # They come with dtypes of their own.
        return form in FIRST and dtype == ("float32" if "float32" in entry.dtypes else entry.dtypes[0])
    if kind == "hard":
        return form in FIRST and dtype == "float32"
    if kind == "special":
        return form in FIRST and dtype in ("float32", "int64")
    if kind == "mutation":
        # Some candidates have ``x % y``, and no function of that.
        return dtype == "float32" or (form in FIRST and dtype in _MUTATED_DTYPES) or (form, dtype) in _WHOLE
    return kind in ("sample", "found") or (form in FIRST and dtype in ("float32", "int64"))


def digest(seed: int, text: str) -> int:
    """A number that depends on nothing but `seed` and `text`, on every machine."""
    return int.from_bytes(hashlib.blake2b(f"{seed}\0{text}".encode(), digest_size=8).digest(), "big") >> 1


def in_shard(unit: Unit, seed: int, shard: tuple[int, int]) -> bool:
    """Whether `unit` belongs into the I-th of K parts. All kinds of a cell belong into the same one."""
    number, parts = shard
    return digest(seed, str(unit.key)) % parts == number - 1
