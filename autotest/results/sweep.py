"""What a sweep found out, as data: cells, what was checked in each of them, and what diverged."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from autotest.program import Program
from autotest.results.accuracy import Accuracy

#: What is looked at in each cell, in the order in which it is shown.
Check: TypeAlias = Literal[
    "exists",
    "signature",
    "value",
    "dtype",
    "shape",
    "strides",
    "alias",
    "gradient",
    "double gradient",
    "nonfinite",
    "errors",
    "repeat",
    "survives",
]
CHECKS: Final[tuple[Check, ...]] = Check.__args__  # type: ignore[attr-defined]

#: What a cell comes to. The first that holds counts.
Status: TypeAlias = Literal[
    "dies", "differs", "refuses", "agrees", "vacuous", "absent", "refused by the reference", "left out", "not run"
]
STATUSES: Final[tuple[Status, ...]] = Status.__args__  # type: ignore[attr-defined]
#: States that something worse than they are can follow on: a gate fails when a cell leaves `agrees`.
PASSING: Final = frozenset(("agrees",))


class CellKey(NamedTuple):
    """One row of the map: an operator with its variant, called in one form, on inputs of one dtype."""

    operator: str
    form: str
    dtype: str

    def __str__(self) -> str:
        return "/".join(self)

    @property
    def name(self) -> str:
        """The operator without its variant."""
        return self.operator.partition(":")[0]


@dataclasses.dataclass(slots=True)
class CellDivergence:
    """One way in which a cell diverges, with the smallest of the samples that show it."""

    check: Check
    #: What differs, without the numbers that differ from sample to sample.
    key: str
    message: str
    #: Which sample it is: ``"sample 12"``.
    sample: str
    samples: int = 1
    #: Elements of its inputs.
    size: int = 0
    program: Program | None = None
    #: Whether the candidate, where it did not survive, gave no answer.
    hangs: bool = False
    #: How many of the samples each group of machines saw it in, where the sweep ran on several.
    groups: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)

    def merge(self, other: CellDivergence) -> None:
        """Count `other`, which is the same at other samples; the smaller program stays."""
        self.samples += other.samples
        self.groups += other.groups
        if other.program is not None and (self.program is None or other.size < self.size):
            self.message, self.sample, self.size, self.program = other.message, other.sample, other.size, other.program


@dataclasses.dataclass(slots=True)
class Cell:
    """What was found out in one cell. Every sample is counted in exactly one of the first five."""

    accepted: int = 0
    #: Refused by the reference, as error inputs are meant to be.
    refused: int = 0
    #: Of the accepted ones: the reference's result is empty or undefined, so that its values say nothing.
    vacuous: int = 0
    left_out: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Refused or died of by the candidate, where the reference accepts.
    failed: int = 0
    #: check -> samples that pass and samples that were checked
    checks: dict[str, list[int]] = dataclasses.field(default_factory=dict)
    divergences: dict[tuple[str, str], CellDivergence] = dataclasses.field(default_factory=dict)
    #: Why the operator is not there at all on the candidate; empty if it is.
    absent: str = ""
    #: The name of torch's that it lacks; empty where it is no name, such as a dtype.
    lacks: str = ""
    #: Samples whose difference the referee explains by rounding and the like.
    rounded: int = 0
    #: How far both sides are from double precision; None where nothing was measured.
    accuracy: Accuracy | None = None
    #: The public names that accepted samples call, such as ``"Tensor.add_"``.
    called: set[str] = dataclasses.field(default_factory=set)
    #: What its samples have of what decides how an operator behaves, and how it did behave, as numbers.
    features: set[int] = dataclasses.field(default_factory=set)
    #: How many of the samples each group of machines ran, where the sweep ran on several.
    groups: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)

    def of_group(self, name: str) -> None:
        """Note that all of this is what one group of machines found out."""
        self.groups[name] = self.samples
        for found in self.divergences.values():
            found.groups[name] = found.samples

    def measured(self, accuracy: Accuracy) -> None:
        """Add the errors of one sample."""
        if self.accuracy is None:
            self.accuracy = Accuracy()
        self.accuracy.merge(accuracy)

    @property
    def samples(self) -> int:
        return self.accepted + self.refused + self.left_out.total()

    def check(self, name: Check, passed: bool, times: int = 1) -> None:
        counts = self.checks.setdefault(name, [0, 0])
        counts[0] += times * passed
        counts[1] += times

    def diverged(self, found: CellDivergence) -> None:
        known = self.divergences.get((found.check, found.key))
        if known is None:
            self.divergences[found.check, found.key] = found
        else:
            known.merge(found)

    def merge(self, other: Cell) -> None:
        """Add what was found out about other samples of the same cell, but for their features."""
        self.accepted += other.accepted
        self.refused += other.refused
        self.vacuous += other.vacuous
        self.failed += other.failed
        self.rounded += other.rounded
        self.left_out.update(other.left_out)
        self.absent = self.absent or other.absent
        self.lacks = self.lacks or other.lacks
        self.called |= other.called
        self.groups += other.groups
        if other.accuracy is not None:
            self.measured(other.accuracy)
        for name, (passed, total) in other.checks.items():
            counts = self.checks.setdefault(name, [0, 0])
            counts[0] += passed
            counts[1] += total
        for found in other.divergences.values():
            self.diverged(found)

    @property
    def status(self) -> Status:
        if self.absent and not self.accepted:
            return "absent"
        failing = {name for name, (passed, total) in self.checks.items() if passed < total}
        if "survives" in failing:
            return "dies"
        if failing - {"errors", "signature", "exists"}:
            return "differs"
        if failing:
            # Where it accepts nothing, it has the name only.
            return "refuses" if self.failed >= self.accepted else "differs"
        if self.checks and (self.accepted or self.refused):
            if self.accepted and self.vacuous == self.accepted:
                return "vacuous"
            return "agrees" if self.accepted else "refused by the reference"
        return "left out" if self.left_out else "not run"


@dataclasses.dataclass(slots=True)
class SweepRow:
    """A cell with its key, and what is known of it without running it."""

    key: CellKey
    family: str
    database: str
    cell: Cell = dataclasses.field(default_factory=Cell)


@dataclasses.dataclass(slots=True)
class SweepMap:
    """All cells of one sweep."""

    sides: tuple[str, str]
    versions: Mapping[str, str]
    seed: int
    command: str
    rows: dict[CellKey, SweepRow] = dataclasses.field(default_factory=dict)
    #: Databases that could not be had, and the like.
    notes: list[str] = dataclasses.field(default_factory=list)
    seconds: float = 0.0
    #: Samples that an earlier run judged, which this one went on with, in other seconds.
    earlier: int = 0
    date: str = ""
    #: The public names that both sides have.
    shared: Sequence[str] = ()
    #: Whether it ended before all cells had run.
    incomplete: str = ""
    #: The groups of machines of a cluster that each ran all of it, with their workers; none where one did.
    workers: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def counts(self) -> Mapping[Status, int]:
        """How many cells there are of each status."""
        found = collections.Counter(row.cell.status for row in self.rows.values())
        return {status: found[status] for status in STATUSES}

    def operators(self) -> Mapping[str, list[SweepRow]]:
        """The rows of each operator, without its variants."""
        found: dict[str, list[SweepRow]] = {}
        for row in self.rows.values():
            found.setdefault(row.key.name, []).append(row)
        return found


def less_accurate(swept: SweepMap) -> list[SweepRow]:
    """The cells in which all values agree, and the candidate's errors are yet several times the reference's."""
    found: list[tuple[float, SweepRow]] = []
    for row in swept.rows.values():
        accuracy = row.cell.accuracy
        passed, total = row.cell.checks.get("value", (0, 0))
        if accuracy is not None and accuracy.worse and passed == total:
            found.append((accuracy.candidate.greatest / max(accuracy.reference.greatest, 0.5), row))
    return [row for _, row in sorted(found, key=lambda item: -item[0])]


def worst(statuses: Iterable[Status]) -> Status:
    """The status that several cells come to together."""
    return min(statuses, key=STATUSES.index, default="not run")
