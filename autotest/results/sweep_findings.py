"""The distinct divergences of a sweep, each with all cells that show it."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Final

from autotest.comparison import SPECIAL
from autotest.program import Program
from autotest.program.semantics import plain_name
from autotest.results.finding import Finding
from autotest.results.ledger import LedgerEntry
from autotest.results.sweep import CHECKS, CellKey, Check, SweepMap
from autotest.results.verification import Verification


@dataclasses.dataclass(slots=True)
class SweepFinding:
    """One way in which an operator diverges."""

    number: int
    operator: str
    check: Check
    key: str
    message: str
    sample: str
    cells: list[CellKey]
    samples: int
    size: int
    program: Program | None
    #: Results of the diagnosis; empty before it.
    verdict: Sequence[str] = ()
    blame: str = ""
    text: str = ""
    script: str = ""
    #: Why the ledger expects it; empty if it does not.
    known: str = ""
    #: If there is a script: the same as a `Finding`, the folder in which it is stored, its report, and whether the
    #: script reproduces it.
    finding: Finding | None = None
    place: str = ""
    report: str = ""
    verified: Verification = dataclasses.field(default_factory=Verification)
    #: The names that the programs of its cells call; for a method or an operator they differ from the cell's name.
    calls: list[str] = dataclasses.field(default_factory=list)
    #: Whether the candidate, if it did not survive, hung.
    hangs: bool = False
    #: Number of samples in which each group of machines found it, if the sweep ran on several groups.
    groups: Mapping[str, int] = dataclasses.field(default_factory=dict)


def findings(swept: SweepMap) -> list[SweepFinding]:
    """Return the distinct findings of a map, sorted by operator and check and numbered."""
    found: dict[tuple[str, str, str], SweepFinding] = {}
    for row in swept.rows.values():
        for divergence in row.cell.divergences.values():
            operator = row.key.name
            known = found.get((operator, divergence.check, divergence.key))
            if known is None:
                found[operator, divergence.check, divergence.key] = SweepFinding(
                    0,
                    operator,
                    divergence.check,
                    divergence.key,
                    divergence.message,
                    f"{row.key}, {divergence.sample}",
                    [row.key],
                    divergence.samples,
                    divergence.size,
                    divergence.program,
                    calls=called(divergence.program),
                    hangs=divergence.hangs,
                    groups=divergence.groups,
                )
                continue
            known.cells.append(row.key)
            known.samples += divergence.samples
            known.calls += [name for name in called(divergence.program) if name not in known.calls]
            known.groups = collections.Counter(known.groups) + divergence.groups
            if divergence.program is not None and (known.program is None or divergence.size < known.size):
                known.message, known.sample = divergence.message, f"{row.key}, {divergence.sample}"
                known.size, known.program = divergence.size, divergence.program
    ordered = sorted(found.values(), key=lambda item: (item.operator, CHECKS.index(item.check), item.key))
    for number, finding in enumerate(ordered):
        finding.number = number
    return ordered


def called(program: Program | None) -> list[str]:
    """Return the distinct names that `program` calls, in order."""
    made = program.calls if program is not None else ()
    return list(dict.fromkeys(call.target for call in made if call.kind != "tensor" and call.target))


#: Check -> the symptoms in a ledger that it corresponds to.
_SYMPTOMS: Final[Mapping[str, frozenset[str]]] = {
    "value": frozenset(("value", "nondeterminism", SPECIAL)),
    "nonfinite": frozenset(("value", SPECIAL)),
    "dtype": frozenset(("dtype", "device")),
    "shape": frozenset(("shape", "structure")),
    "gradient": frozenset(("gradient", "requires_grad", "exception", "shape", "dtype", SPECIAL)),
    "double gradient": frozenset(("gradient", "requires_grad", "exception", "shape", "dtype")),
    "signature": frozenset(("exception",)),
    "exists": frozenset(("exception",)),
    "errors": frozenset(("exception", "accepted", "out of memory")),
    "survives": frozenset(("crash", "hang", "out of memory")),
    "repeat": frozenset(("nondeterminism",)),
    "alias": frozenset(("value", "alias")),
    "strides": frozenset(("strides",)),
}


def symptoms_of(check: str) -> frozenset[str]:
    """Return the symptoms in a ledger that a failed `check` corresponds to."""
    return _SYMPTOMS.get(check, frozenset())


def known(
    found: Sequence[SweepFinding], entries: Sequence[LedgerEntry], sides: tuple[str, str], versions: Mapping[str, str]
) -> None:
    """Set `known` of each finding to the reason of the ledger entry that expects it, or to "".

    Only entries that name an operator and apply to these sides in their versions count. The test of an entry is
    ignored.

    Args:
        found: the findings, which are changed in place.
        entries: the ledger entries.
        sides: the names of the reference and the candidate.
        versions: the version of each side, by its name.
    """
    reference, candidate = sides
    of_each = (lambda: versions.get(candidate, "")), (lambda: versions.get(reference, ""))
    about = [entry for entry in entries if entry.operator and entry.is_about(candidate, *of_each)]
    for finding in found:
        finding.known = next((entry.reason for entry in about if _expects(entry, finding)), "")


def _expects(entry: LedgerEntry, finding: SweepFinding) -> bool:
    """Whether `entry` expects `finding`: by its first mismatch, as for a test's finding, or else by its cells."""
    whole = finding.finding
    if whole is not None and entry.covers(whole.first, whole.operator):
        return True
    names = {plain_name(finding.operator), *(plain_name(key.name) for key in finding.cells)}
    fits = plain_name(entry.operator) in names and entry.symptom in symptoms_of(finding.check)
    return fits and re.search(entry.match, finding.message) is not None
