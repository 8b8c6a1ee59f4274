"""The results of a sweep as data: cells, the checks in each of them, and divergences."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from autotest.program import Program
from autotest.results.accuracy import Accuracy

#: The checks of a cell, in the order in which reports show them.
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

#: The status of a cell, the worst first: several cells together have the first status that one of them has.
Status: TypeAlias = Literal[
    "dies", "differs", "refuses", "agrees", "vacuous", "absent", "refused by the reference", "left out", "not run"
]
STATUSES: Final[tuple[Status, ...]] = Status.__args__  # type: ignore[attr-defined]
#: Statuses that a cell must not lose: a gate fails when a cell does not agree any more.
PASSING: Final = frozenset(("agrees",))


class CellKey(NamedTuple):
    """The key of a cell: an operator with its variant, called in one form, on inputs of one dtype."""

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
    #: The difference without the numbers that vary from sample to sample.
    key: str
    message: str
    #: The name of the smallest sample, such as ``"sample 12"``.
    sample: str
    #: Number of samples that show it.
    samples: int = 1
    #: Number of elements in the inputs of the smallest sample.
    size: int = 0
    program: Program | None = None
    #: Whether the candidate, if it did not survive, hung.
    hangs: bool = False
    #: Number of samples in which each group of machines found it, if the sweep ran on several groups.
    groups: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)

    def merge(self, other: CellDivergence) -> None:
        """Add `other`, the same divergence in other samples; the smaller program is kept."""
        self.samples += other.samples
        self.groups += other.groups
        if other.program is not None and (self.program is None or other.size < self.size):
            self.message, self.sample, self.size, self.program = other.message, other.sample, other.size, other.program


@dataclasses.dataclass(slots=True)
class Cell:
    """The results of one cell. Each sample is counted in exactly one of `accepted`, `refused` and `left_out`."""

    accepted: int = 0
    #: Samples that the reference rejects, as it should reject error inputs.
    refused: int = 0
    #: Accepted samples whose result on the reference is empty, undefined or constant, so that its values prove nothing.
    vacuous: int = 0
    #: Samples that were not judged, by reason.
    left_out: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Units of which nothing was judged because two workers ended before they began them.
    not_begun: int = 0
    #: Samples that the reference accepts, and that the candidate rejects or does not survive.
    failed: int = 0
    #: check -> number of samples that passed, and number that were checked
    checks: dict[str, list[int]] = dataclasses.field(default_factory=dict)
    #: Divergences by check and key.
    divergences: dict[tuple[str, str], CellDivergence] = dataclasses.field(default_factory=dict)
    #: Why the candidate does not have the operator at all; empty if it has it.
    absent: str = ""
    #: The name in torch that the candidate lacks; empty if it lacks something else, such as a dtype.
    lacks: str = ""
    #: Samples whose difference the referee explains by rounding or similar.
    rounded: int = 0
    #: The errors of both sides against double precision; None if none were measured.
    accuracy: Accuracy | None = None
    #: The public names that accepted samples call, such as ``"Tensor.add_"``.
    called: set[str] = dataclasses.field(default_factory=set)
    #: Hashes of the features of its samples that affect an operator's behaviour, and of the behaviour itself.
    features: set[int] = dataclasses.field(default_factory=set)
    #: Number of samples that each group of machines ran, if the sweep ran on several groups.
    groups: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)

    def of_group(self, name: str) -> None:
        """Assign all samples and divergences to one group of machines."""
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
        """Add the results of other samples of the same cell, except their features."""
        self.accepted += other.accepted
        self.refused += other.refused
        self.vacuous += other.vacuous
        self.failed += other.failed
        self.rounded += other.rounded
        self.left_out.update(other.left_out)
        self.not_begun += other.not_begun
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
            # A candidate that accepts no sample has only the name of the operator.
            return "refuses" if self.failed >= self.accepted else "differs"
        if self.checks and (self.accepted or self.refused):
            if self.accepted and self.vacuous == self.accepted:
                return "vacuous"
            return "agrees" if self.accepted else "refused by the reference"
        return "left out" if self.left_out else "not run"


@dataclasses.dataclass(slots=True)
class SweepRow:
    """A cell with its key, its family and the database of its samples."""

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
    #: Messages for the report, such as databases that are not available.
    notes: list[str] = dataclasses.field(default_factory=list)
    seconds: float = 0.0
    #: Number of samples judged by an earlier run that this one continues; `seconds` does not include their time.
    earlier: int = 0
    date: str = ""
    #: The public names that both sides have.
    shared: Sequence[str] = ()
    #: Why it ended before all cells had run; empty if they all did.
    incomplete: str = ""
    #: Number of workers of each group of machines, by name, if each group of a cluster ran the whole sweep; else empty.
    workers: Mapping[str, int] = dataclasses.field(default_factory=dict)

    @property
    def samples(self) -> int:
        """The number of samples of all cells."""
        return sum(row.cell.samples for row in self.rows.values())

    def checked(self) -> Mapping[Check, tuple[int, int]]:
        """Return, for each check that was made, the number of samples that passed it, and of those it was made of."""
        found = {
            name: [row.cell.checks[name] for row in self.rows.values() if name in row.cell.checks] for name in CHECKS
        }
        return {
            name: (sum(passed for passed, _ in counts), sum(total for _, total in counts))
            for name, counts in found.items()
            if counts
        }

    def left_out(self) -> collections.Counter[str]:
        """Return the number of samples that were not judged, by reason."""
        found: collections.Counter[str] = collections.Counter()
        for row in self.rows.values():
            found.update(row.cell.left_out)
        return found

    def counts(self) -> Mapping[Status, int]:
        """Return the number of cells of each status."""
        found = collections.Counter(row.cell.status for row in self.rows.values())
        return {status: found[status] for status in STATUSES}

    def operators(self) -> Mapping[str, list[SweepRow]]:
        """Return the rows by operator name; all variants of an operator are under the same name."""
        found: dict[str, list[SweepRow]] = {}
        for row in self.rows.values():
            found.setdefault(row.key.name, []).append(row)
        return found


def less_accurate(swept: SweepMap) -> list[SweepRow]:
    """Return the cells whose values all agree although the candidate's errors are several times the reference's.

    They are sorted by the ratio of the greatest errors, the largest first.
    """
    found: list[tuple[float, SweepRow]] = []
    for row in swept.rows.values():
        accuracy = row.cell.accuracy
        passed, total = row.cell.checks.get("value", (0, 0))
        if accuracy is not None and accuracy.worse and passed == total:
            found.append((accuracy.candidate.greatest / max(accuracy.reference.greatest, 0.5), row))
    return [row for _, row in sorted(found, key=lambda item: -item[0])]


def worst(statuses: Iterable[Status]) -> Status:
    """Return the worst of `statuses`; ``"not run"`` if there are none."""
    return min(statuses, key=STATUSES.index, default="not run")
