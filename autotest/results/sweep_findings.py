"""Divergences of a sweep, one for each distinct one, with all cells that show it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from autotest.program import Program
from autotest.results.sweep import CHECKS, CellKey, Check, SweepMap


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


def findings(swept: SweepMap) -> list[SweepFinding]:
    """The distinct findings of a map, by operator and check."""
    found: dict[tuple[str, str, str], SweepFinding] = {}
    for row in swept.rows.values():
        for divergence in row.cell.divergences.values():
            operator = row.key.operator.partition(":")[0]
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
                )
                continue
            known.cells.append(row.key)
            known.samples += divergence.samples
            if divergence.program is not None and (known.program is None or divergence.size < known.size):
                known.message, known.sample = divergence.message, f"{row.key}, {divergence.sample}"
                known.size, known.program = divergence.size, divergence.program
    ordered = sorted(found.values(), key=lambda item: (item.operator, CHECKS.index(item.check), item.key))
    for number, finding in enumerate(ordered):
        finding.number = number
    return ordered
