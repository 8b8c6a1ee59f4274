"""A campaign as JUnit XML, which CI systems show: one test case a test, failed by each of its findings."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.tasks import Found

#: What XML 1.0 cannot hold at all, not even escaped.
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_xml(progress: CampaignProgress) -> str:
    """The report; findings stand at the test that showed them first."""
    found: dict[object, list[Found]] = {}
    for item in progress.found.values():
        found.setdefault(item.where, []).append(item)
    ran = [test for test in progress.tests if test.tried]
    suites = ET.Element("testsuites")
    suite = ET.SubElement(
        suites,
        "testsuite",
        name="autotest fuzz",
        tests=str(len(ran)),
        failures=str(sum(test.where in found for test in ran)),
        errors=str(len(progress.broken) + sum(len(test.forgotten) for test in progress.tests)),
        skipped="0",
        time=f"{progress.seconds:.3f}",
    )
    properties = ET.SubElement(suite, "properties")
    for name in ("base_seed", "trials", "accepted", "rejected", "workers_lost"):
        ET.SubElement(properties, "property", name=f"autotest.{name}", value=str(getattr(progress, name)))
    for test in ran:
        _case(suite, test, found.get(test.where, []))
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ET.Element, test: TestProgress, found: list[Found]) -> None:
    file, _, name = test.where.test.partition("::")
    case = ET.SubElement(
        suite, "testcase", classname=clean(file.removesuffix(".py")), name=clean(name), time=f"{test.seconds:.3f}"
    )
    if test.broken:
        ET.SubElement(case, "error", message="the test is itself at fault").text = clean(test.broken)
    for complaint in test.forgotten:
        ET.SubElement(case, "error", message="the test forgets its gradients").text = clean(complaint)
    for item in found:
        identity = item.identity
        message = f"{identity.operator}: {identity.symptom} ({identity.stage})"
        ET.SubElement(case, "failure", message=clean(message), type=identity.symptom).text = clean(item.report)


def clean(text: str) -> str:
    """`text` without what XML cannot hold."""
    return _UNWRITABLE.sub("?", text)
