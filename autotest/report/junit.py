"""Formats a campaign as JUnit XML for CI systems: a test case for each test, with a failure for each finding."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping

from autotest.report.campaign_troubles import refuses_every_trial, why_ungraphed
from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.tasks import FindingRecord

#: Characters that XML 1.0 cannot contain, not even escaped.
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: Attributes of a campaign that become properties.
_PROPERTIES = ("base_seed", "trials", "accepted", "rejected", "absent", "workers_lost")


def as_xml(progress: CampaignProgress) -> str:
    """Return the report, with a suite for each group of machines; a finding is listed at its first test."""
    suites = ET.Element("testsuites")
    for name, part in progress.groups.items() or [("", progress)]:
        _suite(suites, f"autotest fuzz on {name}" if name else "autotest fuzz", part)
    return closed(suites)


def _suite(suites: ET.Element, name: str, progress: CampaignProgress) -> None:
    found: dict[object, list[FindingRecord]] = {}
    for item in progress.found.values():
        found.setdefault(item.where, []).append(item)
    ran = [test for test in progress.tests if test.tried or test.skips or test.broken]
    suite = begun(
        suites,
        name,
        progress.seconds,
        {
            "tests": len(ran) + len(progress.files_broken),
            "failures": sum(test.where in found for test in ran),
            "errors": sum(len(_errors(test)) for test in ran) + len(progress.files_broken),
            "skipped": sum(bool(_skipped(test)) for test in ran),
        },
        {name: getattr(progress, name) for name in _PROPERTIES},
    )
    for test in ran:
        _case(suite, test, found.get(test.where, []))
    for file, why in progress.files_broken:  # as pytest reports a file that it cannot collect
        case = ET.SubElement(suite, "testcase", classname="", name=clean(file), time="0.000")
        ET.SubElement(case, "error", message="the file cannot be imported").text = clean(why)


def begun(
    suites: ET.Element, name: str, seconds: float, counts: Mapping[str, int], properties: Mapping[str, object]
) -> ET.Element:
    """Add a suite with counts and properties to a report, and return it."""
    counted = {key: str(count) for key, count in counts.items()}
    suite = ET.SubElement(suites, "testsuite", {"name": name, **counted, "time": f"{seconds:.3f}"})
    listed = ET.SubElement(suite, "properties")
    for key, value in properties.items():
        ET.SubElement(listed, "property", name=f"autotest.{key}", value=clean(str(value)))
    return suite


def closed(suites: ET.Element) -> str:
    """Return `suites` as the text of a JUnit file."""
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ET.Element, test: TestProgress, found: list[FindingRecord]) -> None:
    file, _, name = test.where.test.partition("::")
    case = ET.SubElement(
        suite, "testcase", classname=clean(file.removesuffix(".py")), name=clean(name), time=f"{test.seconds:.3f}"
    )
    if skipped := _skipped(test):
        ET.SubElement(case, "skipped", message=clean(skipped))
    for message, said in _errors(test):
        ET.SubElement(case, "error", message=message).text = clean(said)
    for item in found:
        identity = item.identity
        message = f"{identity.operator}: {identity.symptom} ({identity.stage})"
        ET.SubElement(case, "failure", message=clean(message), type=identity.symptom).text = clean(item.report)


def _skipped(test: TestProgress) -> str:
    """Return why the test is reported as skipped; empty if it is not."""
    return test.skips or ("" if test.broken else test.lacking)


def _errors(test: TestProgress) -> list[tuple[str, str]]:
    """Return what is wrong with the test itself: for each mistake a message and its details."""
    return [
        *([("the test is broken", test.broken)] if test.broken else []),
        *(("the test compares no gradients", complaint) for complaint in test.complaints),
        *([("the test accepts zeros for all numbers", test.passes_zeros)] if test.passes_zeros else []),
        *([("the test compares nothing in graph mode", why_ungraphed(test))] if test.ungraphed else []),
        *([(refuses_every_trial(test), "\n".join(test.rejections))] if test.refused else []),
    ]


def clean(text: str) -> str:
    """Return `text` with the characters that XML cannot contain replaced by ``?``."""
    return _UNWRITABLE.sub("?", text)
