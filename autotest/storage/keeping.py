"""Puts a finding where it outlives the process, and says where that is."""

from __future__ import annotations

import contextlib
from pathlib import Path

from autotest.report import text
from autotest.results.finding import Finding
from autotest.results.tasks import Found, Where
from autotest.storage.store import Store, StoreUnwritable


def keep(finding: Finding, where: Where, directory: Path) -> Found:
    """Put a finding into the store below `directory`, or where it can be written."""
    trouble = ""

    def report(folder: Path) -> str:
        return text.divergence(finding, shortened(folder), trouble)

    try:
        place = Store(directory).save(finding, report)
    except StoreUnwritable as error:
        trouble = str(error)
        place = Store.temporary().save(finding, report)
    return Found(
        key=place.name,
        identity=finding.identity,
        where=where,
        index=finding.index,
        place=shortened(place),
        verified=finding.verified,
        verdict=finding.verdict[0] if finding.verdict else "",
        message=finding.first.message,
        report=report(place),
        happens=", ".join(finding.happens),
    )


def shortened(place: Path) -> str:
    """The path from here, which is what people will type, where there is one."""
    with contextlib.suppress(ValueError):
        return str(place.relative_to(Path.cwd()))
    return str(place)
