"""Runs a sweep one operator at a time, for callers that turn each operator into a test."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from autotest.frameworks.samples import DatabaseEntry
from autotest.results.sweep import SweepMap
from autotest.results.sweep_findings import SweepFinding, findings
from autotest.sources.stored_failures import StoredFailures
from autotest.sweeping import verifying
from autotest.sweeping.engine import SweepEngine
from autotest.sweeping.session import SweepPlan, SweepSession
from autotest.sweeping.worker import Databases, SweepListing

#: Seconds for diagnosing the findings of one operator, and for running their scripts.
_EXPLAIN, _VERIFY = 20.0, 60.0


@dataclasses.dataclass(frozen=True, slots=True)
class OperatorResult:
    """The outcome of one operator."""

    map: SweepMap
    findings: list[SweepFinding]


class Operators:
    """The operators of a sweep, each judged on request. Call `close` at the end.

    Args:
        plan: which cells to sweep, and how.
        directory: folder in which findings are kept.
        verify: whether to run the scripts of findings in fresh processes.
        deadline: seconds after which a sample counts as a hang.
        memory: bytes that a worker may allocate; None for no limit.
    """

    def __init__(self, plan: SweepPlan, directory: Path, *, verify: bool, deadline: float, memory: int | None) -> None:
        self.plan = plan
        self._directory = directory
        self._verify = verify
        self._engine = SweepEngine(1, deadline, memory, Databases(others=(StoredFailures(directory),)))
        self._listed: SweepListing | None = None

    def close(self) -> None:
        """End its processes."""
        self._engine.__exit__()

    def names(self) -> list[str]:
        """Return the operators that have a chosen cell.

        Raises:
            UsageError: No cell is chosen.
        """
        session = SweepSession(self.plan, self._all())
        return sorted({unit.key.name for unit in session.units})

    def _all(self) -> SweepListing:
        if self._listed is None:
            self._listed = self._engine.listed()
        return self._listed

    def _entries(self) -> Mapping[str, list[DatabaseEntry]]:
        found: dict[str, list[DatabaseEntry]] = {}
        for entry in self._all().entries:
            found.setdefault(entry.name, []).append(entry)
        return found

    def swept(self, name: str) -> OperatorResult:
        """Judge all variants of one operator, diagnose the findings, and keep them."""
        listed = dataclasses.replace(self._all(), entries=self._entries()[name])
        session = SweepSession(self.plan, listed)
        session.run(self._engine)
        found = findings(session.map)
        self._engine.diagnose_findings(found, _EXPLAIN, _VERIFY if self._verify else 0.0)
        verifying.kept(found, self._directory, self.plan.seed)
        return OperatorResult(session.map, found)
