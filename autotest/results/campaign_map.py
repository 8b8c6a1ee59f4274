"""Converts the progress of a campaign to a sweep map with one cell for each test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from autotest.comparison.rejection import absences
from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.sweep import Cell, CellKey, Check, SweepMap, SweepRow
from autotest.results.sweep_findings import SweepFinding
from autotest.results.tasks import FindingRecord

#: The `form` of all cells of a campaign's map.
FORM: Final = "test"
#: Symptom -> the check of a sweep map that it fails.
_CHECKS: Final[Mapping[str, Check]] = {
    "value": "value",
    "special values": "nonfinite",
    "gradient": "gradient",
    "requires_grad": "gradient",
    "shape": "shape",
    "structure": "shape",
    "dtype": "dtype",
    "device": "dtype",
    "exception": "errors",
    "accepted": "errors",
    "crash": "survives",
    "hang": "survives",
    "out of memory": "survives",
    "nondeterminism": "repeat",
    "strides": "strides",
    "alias": "alias",
}


def campaign_map(
    progress: CampaignProgress,
    sides: tuple[str, str],
    versions: Mapping[str, str],
    scripts: Mapping[str, str],
    command: str = "",
    date: str = "",
) -> tuple[SweepMap, list[SweepFinding]]:
    """Return the map of a campaign and its findings.

    Args:
        progress: the state of the campaign.
        sides: the names of the reference and the candidate.
        versions: the version of each side, by its name.
        scripts: the text of the script of each finding, by the finding's key.
        command: the command line of the campaign.
        date: the date of the campaign.
    """
    swept = SweepMap(sides, versions, progress.base_seed, command, seconds=progress.seconds, date=date)
    swept.incomplete = progress.stopped
    swept.notes = [f"{name}: {why}" for name, why in (*progress.files_broken, *progress.left_out)]
    swept.workers = {name: part.workers for name, part in progress.groups.items()}
    for test in progress.tests:
        cell = _cell(test)
        for name, part in progress.groups.items():
            cell.groups[name] = sum(
                one.accepted + one.rejections.total() for one in part.tests if one.where == test.where
            )
        key = CellKey(test.where.test, FORM, "")
        swept.rows[key] = SweepRow(key, test.where.file.name, "tests", cell)
    found: list[SweepFinding] = []
    for identity, one in progress.found.items():
        key = CellKey(one.where.test, FORM, "")
        times = max(1, progress.seen[identity])
        if key in swept.rows:
            cell = swept.rows[key].cell
            cell.check(_check(one), passed=False, times=times)
            cell.failed += times * (identity.symptom == "exception")
        found.append(_finding(len(found), one, key, times, scripts.get(one.key, "")))
        found[-1].groups = progress.seen_on(identity)
    return swept, found


def _cell(test: TestProgress) -> Cell:
    cell = Cell(accepted=test.accepted, refused=test.rejected, left_out=absences(test.rejections), absent=test.lacking)
    if test.accepted:
        cell.check("value", passed=True, times=test.accepted)
        cell.check("survives", passed=True, times=test.accepted)
    for why, times in (
        ("set aside", test.skipped),
        (f"skipped: {test.skips}", bool(test.skips)),
        (f"the test is broken: {''.join(test.broken.strip().splitlines()[-1:])}", bool(test.broken)),
        ("accepts zeros for all numbers", bool(test.passes_zeros)),
        ("compares nothing in graph mode", test.ungraphed),
        *((f"compares no gradients: {complaint}", count) for complaint, count in test.complaints.items()),
    ):
        if times:
            cell.left_out[why] += int(times)
    return cell


def _check(found: FindingRecord) -> Check:
    return _CHECKS.get(found.identity.symptom, "value")


def _finding(number: int, found: FindingRecord, key: CellKey, times: int, script: str) -> SweepFinding:
    sample = f"trial {found.index} of base seed {found.where.base_seed}"
    return SweepFinding(
        number, found.identity.operator, _check(found), found.identity.message, found.message, sample, [key], times, 0,
        None, verdict=(found.verdict,) if found.verdict else (), blame=found.blame, text=found.report, script=script,
        place=found.place, verified=found.verified,
    )  # fmt: skip
