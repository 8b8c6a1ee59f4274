"""Formats a sweep as JUnit XML: a test case for each operator, with a failure for each finding."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from autotest.report.junit import begun, clean, closed
from autotest.report.sweep_finding import whole
from autotest.results.groups import of_sweep
from autotest.results.sweep import SweepMap, worst
from autotest.results.sweep_findings import SweepFinding


def as_xml(swept: SweepMap, findings: Sequence[SweepFinding]) -> str:
    """Return the report. Divergences in the ledger are not failures; operators without a judgement are skipped."""
    operators = swept.operators()
    failed = {finding.operator for finding in findings if not finding.known}
    unsaid = {
        name: status
        for name, rows in operators.items()
        if (status := worst(row.cell.status for row in rows)) not in ("agrees", "dies", "differs", "refuses")
    }
    suites = ET.Element("testsuites")
    suite = begun(
        suites,
        "autotest sweep",
        swept.seconds,
        {
            "tests": len(operators),
            "failures": len(failed),
            "errors": 0,
            "skipped": len(unsaid.keys() - failed),
        },
        {
            "seed": swept.seed,
            "samples": swept.samples,
            "incomplete": swept.incomplete,
            **{f"samples on {group.name}": group.trials for group in of_sweep(swept, findings)},
        },
    )
    for name, rows in operators.items():
        case = ET.SubElement(suite, "testcase", classname=clean(rows[0].family), name=clean(name))
        for finding in findings:
            if finding.operator == name and not finding.known:
                message = clean(f"{finding.operator}: {finding.check}")
                failure = ET.SubElement(case, "failure", message=message, type=finding.check)
                seen = "".join(f"\nSeen {times}x on {name}" for name, times in finding.groups.items())
                failure.text = clean(whole(finding, swept.sides) + seen)
        if name in unsaid and name not in failed:
            why = next((row.cell.absent for row in rows if row.cell.absent), unsaid[name])
            ET.SubElement(case, "skipped", message=clean(why))
    return closed(suites)
