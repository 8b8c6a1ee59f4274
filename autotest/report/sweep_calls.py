"""Reports as plain text whether the operators of one program would work on the candidate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from autotest.base.plural import several
from autotest.report.commands import reproduce
from autotest.results.sweep import Status, SweepMap, SweepRow
from autotest.results.sweep_findings import SweepFinding

#: The meaning of each status for the program, in the order of the report.
_MEANS: Final[Mapping[Status, str]] = {
    "agrees": "working",
    "vacuous": "working (contents not specified)",
    "dies": "crashing or hanging",
    "refuses": "refused",
    "absent": "absent",
    "differs": "different",
    "left out": "not tried",
    "refused by the reference": "refused by the reference, too",
    "not run": "not run",
}
#: Maximum number of findings listed for one operator.
_SHOWN: Final = 3


def answer(swept: SweepMap, findings: Sequence[SweepFinding], inside: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a line of counts by state, then each operator that does not simply work, with the reason and evidence.

    Args:
        swept: the map of the program's calls.
        findings: the findings of the sweep.
        inside: cell -> the modules of torch that call it, if nothing else does.
    """
    candidate = swept.sides[1]
    counts = {status: count for status, count in swept.counts().items() if count}
    summary = ", ".join(f"{counts[status]} {means}" for status, means in _MEANS.items() if status in counts)
    lines = [f"On {candidate}, of {several(len(swept.rows), 'operator')} (by form and dtype): {summary}."]
    by_row: dict[str, list[SweepFinding]] = {}
    for finding in findings:
        for key in finding.cells:
            by_row.setdefault(str(key), []).append(finding)
    order = list(_MEANS)
    rows = sorted(swept.rows.values(), key=lambda row: (order.index(row.cell.status), str(row.key)))
    for row in rows:
        found = by_row.get(str(row.key), [])
        if row.cell.status not in ("agrees", "vacuous") or found or row.cell.left_out:
            lines += ["", *_lines_about(row, found, swept, inside.get(str(row.key), ""))]
    return "\n".join(lines)


def _lines_about(row: SweepRow, found: Sequence[SweepFinding], swept: SweepMap, inside: str) -> Iterator[str]:
    cell = row.cell
    tried = f" ({cell.accepted} of {several(cell.samples, 'call')} tried)" if cell.samples else ""
    yield f"{row.key}: {cell.status}{tried}" + (f", called by {inside} only" if inside else "")
    if cell.absent:
        yield f"  {cell.absent}"
        reference, candidate = swept.sides
        if candidate.isidentifier() and cell.lacks:
            yield f'    reproduce: python -c "import {reference}, {candidate}; {candidate}.{cell.lacks}"'
    for finding in found[:_SHOWN]:
        yield f"  {finding.check}: {finding.message.splitlines()[0]}"
        if finding.verdict:
            yield f"    {finding.verdict[0]}"
        if finding.known:
            yield f"    known: {finding.known}"
        if finding.place:
            yield f"    reproduce: {reproduce(finding.place)} ({finding.verified})"
    if len(found) > _SHOWN:
        yield f"  and {len(found) - _SHOWN} more findings"
    for reason, times in sorted(cell.left_out.items()):
        yield f"  {several(times, 'call')} left out: {reason}"
