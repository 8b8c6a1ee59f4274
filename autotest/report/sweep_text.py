"""Formats the summary of a sweep as plain text."""

from __future__ import annotations

from collections.abc import Sequence

from autotest.base.plural import several, thousands, were
from autotest.report import groups as by_group
from autotest.results.accuracy import WORSE
from autotest.results.groups import of_sweep
from autotest.results.sweep import SweepMap, less_accurate
from autotest.results.sweep_coverage import of_modules, of_names
from autotest.results.sweep_findings import SweepFinding
from autotest.results.sweep_gate import Change, Changes

#: Maximum number of operators and of changes that are listed.
LISTED = 20
#: Maximum number of listed reasons why samples were left out.
_REASONS = 5


def summary(swept: SweepMap, findings: Sequence[SweepFinding]) -> str:
    """Return the numbers of cells, checks, samples and findings."""
    reference, candidate = swept.sides
    rate = f", {(swept.samples - swept.earlier) / swept.seconds:,.0f} a second" if swept.seconds else ""
    earlier = f", {swept.earlier:,} of them before it was resumed" if swept.earlier else ""
    lines = [
        (
            f"{candidate} against {reference}: {thousands(swept.samples, 'sample')} of "
            f"{thousands(len(swept.rows), 'cell')} (operator/form/dtype) of "
            f"{thousands(len(swept.operators()), 'operator')} in {swept.seconds:.0f} s{rate}, "
            f"seed {swept.seed}{earlier}"
        )
    ]
    if swept.incomplete:
        lines.append(f"Not complete: {swept.incomplete}.")
    lines += [f"Note: {note}" for note in swept.notes]
    lines += ["", "cells:"]
    lines += [f"  {count:7,} {status}" for status, count in swept.counts().items() if count]
    lines += ["", "checks, by samples that pass:"]
    lines += [
        f"  {name:16} {passed:9,} of {total:9,}  {_percent(passed, total)}"
        for name, (passed, total) in swept.checked().items()
    ]
    lines += _left_out(swept)
    names, modules = of_names(swept), of_modules(swept)
    if names.names:
        lines += ["", f"accepted samples: {names} shared public names, {modules} shared classes of modules"]
    worse = less_accurate(swept)
    if worse:
        shown = ", ".join(str(row.key) for row in worse[:LISTED])
        lines += [
            "",
            f"{several(len(worse), 'cell')} within tolerance, but more than {WORSE:g} times less accurate: {shown}",
        ]
    groups = of_sweep(swept, findings)
    if groups:
        lines += ["", by_group.text(groups, by_group.of_sweep_findings(groups, findings), "samples")]
    if findings:
        operators = {finding.operator for finding in findings}
        head = f"{several(len(findings), 'distinct finding')} about {several(len(operators), 'operator')}"
        lines += ["", f"{head}:", *_by_operator(findings)]
    return "\n".join(lines)


def _by_operator(findings: Sequence[SweepFinding]) -> list[str]:
    """Return a line for each operator that has findings, with its checks; those that no ledger lists come first."""
    checks: dict[str, list[str]] = {}
    for finding in sorted(findings, key=lambda one: bool(one.known)):
        shown = f"{finding.check} (known)" if finding.known else finding.check
        checks.setdefault(finding.operator, []).append(shown)
    rows = [f"  {operator}: {', '.join(dict.fromkeys(names))}" for operator, names in checks.items()]
    more = f"  and {several(len(rows) - LISTED, 'more operator')}; --markdown, --json and --html list all"
    stored = (
        ["`autotest list` and `autotest show KEY` print their reports"] if any(one.place for one in findings) else []
    )
    return [*rows[:LISTED], *([more] if len(rows) > LISTED else []), *stored]


def _left_out(swept: SweepMap) -> list[str]:
    """Return the most frequent reasons why samples were not judged."""
    reasons = swept.left_out()
    if not reasons:
        return []
    lines = [f"  {count:7,} {' '.join(reason.split())}" for reason, count in reasons.most_common(_REASONS)]
    more = [f"  and {len(reasons) - _REASONS} more reasons; --markdown and --json list all"]
    return ["", "samples left out:", *lines, *(more if len(reasons) > _REASONS else [])]


def _percent(passed: int, total: int) -> str:
    return f"{100 * passed / total:5.1f}%" if total else ""


def changed(found: Changes, flaky: Sequence[Change]) -> str:
    """Return the changes since the earlier map, as text."""
    parts: list[str] = list(found.notes)
    for title, listed in (
        ("got worse", found.worse),
        ("got better", found.better),
        ("flaky: another run agrees with the earlier map", flaky),
        ("new that do not agree", found.added),
    ):
        if listed:
            more = [f"  and {len(listed) - LISTED} more"] if len(listed) > LISTED else []
            parts.append(
                "\n".join(
                    [f"{several(len(listed), 'cell')} {title}:", *(f"  {item}" for item in listed[:LISTED]), *more]
                )
            )
    if found.unfinished:
        parts.append(
            f"{several(found.unfinished, 'cell')} {were(found.unfinished)} not tested completely: only their "
            "failures were compared, so they may have other regressions"
        )
    if len(parts) == len(found.notes):
        parts.append("nothing changed")
    return "\n\n".join([f"compared with the earlier map in {several(found.shared, 'cell')} that both have", *parts])
