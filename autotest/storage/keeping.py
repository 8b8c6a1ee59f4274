"""Puts a finding where it outlives the process, and says where that is."""

from __future__ import annotations

import contextlib
from pathlib import Path

from autotest.report import text
from autotest.results.finding import Finding
from autotest.results.tasks import Found, Identity, Where
from autotest.storage.store import Store, StoreUnwritable, key_from


def keep(finding: Finding, identity: Identity, where: Where, directory: Path) -> Found:
    """Put a finding into the store below `directory`, or where it can be written."""
    trouble = ""
    key = key_of_identity(identity)

    def report(folder: Path) -> str:
        return text.divergence(finding, shortened(folder), trouble)

    try:
        place = Store(directory).save(finding, report, key)
    except StoreUnwritable as error:
        trouble = str(error)
        place = Store.temporary().save(finding, report, key)
    return Found(
        key=place.name,
        identity=identity,
        where=where,
        index=finding.index,
        place=shortened(place),
        verified=finding.verified,
        verdict=finding.verdict[0] if finding.verdict else "",
        message=finding.first.message,
        report=report(place),
    )


def key_of_identity(identity: Identity) -> str:
    """The name of the folder of a campaign's finding."""
    return key_from(identity.operator, identity.symptom, identity)


def shortened(place: Path) -> str:
    """The path from here, which is what people will type, where there is one."""
    with contextlib.suppress(ValueError):
        return str(place.relative_to(Path.cwd()))
    return str(place)
