"""Formats one operator's findings of a sweep as the text of a failed test."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from autotest.base.plural import several
from autotest.report.commands import reproduce
from autotest.results.sweep_findings import SweepFinding

#: Number of findings reported in full, and of those reported in one line each.
IN_FULL, SHOWN = 1, 8


def failure(found: Sequence[SweepFinding], sides: tuple[str, str], command: str) -> str:
    """Return the first finding as a test would report it, then the others in short."""
    lines = [whole(finding, sides) for finding in found[:IN_FULL]]
    others = found[IN_FULL:]
    if others:
        lines += ["", f"and {several(len(others), 'more finding')} about it:"]
        lines += [part for finding in others[:SHOWN] for part in _in_short(finding)]
    if len(others) > SHOWN:
        lines.append(f"  and {len(others) - SHOWN} more")
    return "\n".join([*lines, "", f"Only this:  {command}"])


def whole(finding: SweepFinding, sides: tuple[str, str]) -> str:
    """Return the report of one finding."""
    if finding.report:
        return finding.report
    reference, candidate = sides
    lines = [f"{candidate} diverges from {reference}: {finding.operator}, {finding.check}", ""]
    lines += [*([f"Verdict:    {finding.verdict[0]}", ""] if finding.verdict else [])]
    if finding.text:
        lines += ["Program:", textwrap.indent(finding.text, "    "), ""]
    lines += ["Mismatches:", f"  - {finding.message}", ""]
    lines += ["Reproducer: none; no script shows this check", f"Found by:   autotest sweep, {finding.sample}"]
    return "\n".join(lines)


def _in_short(finding: SweepFinding) -> list[str]:
    lines = [f"  {finding.check}: {finding.message.splitlines()[0]}"]
    if finding.place:
        lines.append(f"    {reproduce(finding.place)} ({finding.verified})")
    return lines
