"""Divergences of a sweep, one for each distinct one, with all cells that show it."""

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
    #: What is known once it has been looked into; empty before.
    verdict: Sequence[str] = ()
    blame: str = ""
    text: str = ""
    script: str = ""
    #: Why the ledger expects it; empty where it does not.
    known: str = ""
    #: All of it, as what tests find, where there is a script; where it is kept, and whether
    #: its script was seen to show it.
    finding: Finding | None = None
    place: str = ""
    report: str = ""
    verified: Verification = dataclasses.field(default_factory=Verification)
    #: What the programs of its cells call, which for a method or an operator is called otherwise than its cell.
    calls: list[str] = dataclasses.field(default_factory=list)
    #: Whether the candidate, where it did not survive, gave no answer.
    hangs: bool = False
    #: In how many samples each group of machines saw it, where the sweep ran on several.
    groups: Mapping[str, int] = dataclasses.field(default_factory=dict)


def findings(swept: SweepMap) -> list[SweepFinding]:
    """The distinct findings of a map, by operator and check."""
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
    """The names that `program` calls, in their order."""
    made = program.calls if program is not None else ()
    return list(dict.fromkeys(call.target for call in made if call.kind != "tensor" and call.target))


#: Check -> the symptoms of a ledger that it corresponds to.
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
    """The symptoms of a ledger that a failed `check` corresponds to."""
    return _SYMPTOMS.get(check, frozenset())


def known(
    found: Sequence[SweepFinding], entries: Sequence[LedgerEntry], sides: tuple[str, str], versions: Mapping[str, str]
) -> None:
    """Note at each finding the reason of the ledger's entry that expects it, if any.

    An entry counts if it is about the candidate of `sides` in its version, beside the reference in its own, and names
    the operator; its test does not matter here.
    """
    reference, candidate = sides
    of_each = (lambda: versions.get(candidate, "")), (lambda: versions.get(reference, ""))
    about = [entry for entry in entries if entry.operator and entry.is_about(candidate, *of_each)]
    for finding in found:
        finding.known = next((entry.reason for entry in about if _expects(entry, finding)), "")


def _expects(entry: LedgerEntry, finding: SweepFinding) -> bool:
    """Whether `entry` is about `finding`: as a test would say, or else by the cell that shows it."""
    whole = finding.finding
    if whole is not None and entry.covers(whole.first, whole.operator):
        return True
    names = {plain_name(finding.operator), *(plain_name(key.name) for key in finding.cells)}
    fits = plain_name(entry.operator) in names and entry.symptom in symptoms_of(finding.check)
    return fits and re.search(entry.match, finding.message) is not None
