"""Which public names and module classes of both sides have accepted samples, and why the others have none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from autotest.results.sweep import SweepMap, SweepRow

#: The database name of modules.
_MODULES = "modules"


class NameCoverage(NamedTuple):
    """How many names there are, and which of them have no accepted sample."""

    names: int
    #: Name -> reason why it has no accepted sample.
    without: Mapping[str, str]

    @property
    def covered(self) -> int:
        return self.names - len(self.without)

    def __str__(self) -> str:
        share = f" ({self.covered / self.names:.1%})" if self.names else ""
        return f"{self.covered} of {self.names}{share}"

    def as_data(self) -> dict[str, Any]:
        """Return the same as values that `json.dumps` accepts."""
        return {"names": self.names, "covered": self.covered, "without": dict(self.without)}


def of_names(swept: SweepMap) -> NameCoverage:
    """Return the coverage of functions and tensor methods."""
    called = {name for row in swept.rows.values() for name in row.cell.called}
    by_name: dict[str, list[SweepRow]] = {}
    for row in swept.rows.values():
        by_name.setdefault(row.key.name.removeprefix("Tensor."), []).append(row)
    without = {
        name: _reason(by_name.get(name.removeprefix("Tensor."), [])) for name in swept.shared if name not in called
    }
    return NameCoverage(len(swept.shared), without)


def of_modules(swept: SweepMap) -> NameCoverage:
    """Return the coverage of module classes."""
    rows: dict[str, list[SweepRow]] = {}
    for row in swept.rows.values():
        if row.database == _MODULES:
            rows.setdefault(row.key.operator, []).append(row)
    accepted = {name for name, found in rows.items() if any(row.cell.accepted for row in found)}
    # A candidate that lacks a class has samples in none of its cells. Some may also be absent for want of a dtype.
    shared = {
        name: found
        for name, found in rows.items()
        if name in accepted or not any(row.cell.status == "absent" for row in found)
    }
    return NameCoverage(len(shared), {name: _reason(shared[name]) for name in shared if name not in accepted})


def _reason(rows: list[SweepRow]) -> str:
    """Return why these cells have no accepted sample: why samples were left out, or that they were rejected."""
    if not rows:
        return "no source has inputs for it"
    reasons = [reason for row in rows for reason, _ in row.cell.left_out.most_common(1)]
    if reasons:
        return reasons[0]
    refused = any(row.cell.refused for row in rows)
    return "the reference refuses all of its samples" if refused else "its samples call it by another name"
