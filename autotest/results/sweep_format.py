"""Writes the map of a sweep as JSON, and reads those parts of it that later runs are compared with."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

from autotest.base.errors import UsageError
from autotest.results.groups import of_sweep
from autotest.results.sweep import CHECKS, STATUSES, CellKey, SweepMap
from autotest.results.sweep_coverage import of_modules, of_names
from autotest.results.sweep_findings import SweepFinding

FORMAT: Final = "autotest map"
#: Version of the format; increased by each change that older readers would misunderstand.
VERSION: Final = 1


def as_data(swept: SweepMap, findings: Sequence[SweepFinding]) -> dict[str, Any]:
    """Return a map and its findings as values that `json.dumps` accepts.

    ``cells`` has an object for each cell: operator, form, dtype, family, database, status, numbers of samples
    (accepted, rejected by the reference, vacuous, failed, cleared by the referee), checks by name with passed and
    total, samples left out by reason, why it is absent, the numbers of its findings, and ``accuracy``: for each side
    the greatest and the 99th-percentile error against double precision, in units in the last place. ``coverage`` counts
    the public names and the module classes of both sides, and lists those without an accepted sample.

    Args:
        swept: the map.
        findings: the findings of the map.
    """
    numbers: dict[CellKey, list[int]] = {}
    for finding in findings:
        for key in finding.cells:
            numbers.setdefault(key, []).append(finding.number)
    return {
        "format": FORMAT,
        "version": VERSION,
        "sides": list(swept.sides),
        "versions": dict(swept.versions),
        "seed": swept.seed,
        "command": swept.command,
        "date": swept.date,
        "seconds": round(swept.seconds, 1),
        "incomplete": swept.incomplete,
        "notes": list(swept.notes),
        "groups": [group.as_data() for group in of_sweep(swept, findings)],
        "coverage": {"names": of_names(swept).as_data(), "modules": of_modules(swept).as_data()},
        "checks": list(CHECKS),
        "statuses": list(STATUSES),
        "cells": [
            {
                "operator": row.key.operator,
                "form": row.key.form,
                "dtype": row.key.dtype,
                "family": row.family,
                "database": row.database,
                "status": row.cell.status,
                "accepted": row.cell.accepted,
                "refused": row.cell.refused,
                "vacuous": row.cell.vacuous,
                "failed": row.cell.failed,
                "rounded": row.cell.rounded,
                "checks": {name: row.cell.checks[name] for name in CHECKS if name in row.cell.checks},
                "left_out": dict(row.cell.left_out),
                "absent": row.cell.absent,
                **({} if row.cell.accuracy is None else {"accuracy": row.cell.accuracy.as_data()}),
                "findings": sorted(numbers.get(row.key, ())),
            }
            for row in swept.rows.values()
        ],
        "findings": [_finding(finding) for finding in findings],
    }


def _finding(finding: SweepFinding) -> dict[str, Any]:
    return {
        "number": finding.number,
        "operator": finding.operator,
        "check": finding.check,
        "calls": finding.calls,
        "message": finding.message,
        "sample": finding.sample,
        "cells": [str(key) for key in finding.cells],
        "samples": finding.samples,
        "verdict": list(finding.verdict),
        "blame": finding.blame,
        "program": finding.text,
        "script": finding.script,
        "place": finding.place,
        "verified": str(finding.verified) if finding.script else "",
        "known": finding.known,
        "groups": dict(finding.groups),
    }


@dataclasses.dataclass(frozen=True, slots=True)
class Baseline:
    """An earlier map, as far as later runs are compared with it; cells are the keys of its mappings."""

    statuses: Mapping[CellKey, str]
    checks: Mapping[CellKey, Mapping[str, Sequence[int]]]
    left_out: Mapping[CellKey, Mapping[str, int]]
    sides: tuple[str, str]
    versions: Mapping[str, str]
    seed: int = 0
    #: The command line that made it.
    command: str = ""
    #: Why it does not contain all cells that were to be run; empty if it does.
    incomplete: str = ""


def baseline(document: Any, place: str) -> Baseline:
    """Return the baseline for a map that `as_data` returned.

    Args:
        document: the map, as read from JSON.
        place: the name of its file, for messages.

    Raises:
        UsageError: `document` is no map, is damaged, or has another format version.
    """
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise UsageError(f"{place} is not a map written by `autotest sweep --json`")
    if document.get("version") != VERSION:
        raise UsageError(
            f"{place} has format version {document.get('version')!r}, but this autotest reads version {VERSION}; "
            "write it again with `autotest sweep --bless`"
        )
    try:
        cells = {CellKey(cell["operator"], cell["form"], cell["dtype"]): cell for cell in document["cells"]}
        return Baseline(
            {key: str(cell["status"]) for key, cell in cells.items()},
            {key: dict(cell["checks"]) for key, cell in cells.items()},
            {key: dict(cell["left_out"]) for key, cell in cells.items()},
            tuple(document["sides"]),
            dict(document["versions"]),
            int(document.get("seed", 0)),
            str(document.get("command", "")),
            str(document.get("incomplete", "")),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{place} is a damaged map: {type(error).__name__}: {error}") from error
