"""A sweep that is run one operator at a time, for whoever wants each of them to be a test."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from autotest.frameworks.samples import DatabaseEntry
from autotest.results.sweep import SweepMap
from autotest.results.sweep_findings import SweepFinding, findings
from autotest.sources.found_before import FoundBefore
from autotest.sweeping import verifying
from autotest.sweeping.engine import SweepEngine
from autotest.sweeping.session import SweepPlan, SweepSession
from autotest.sweeping.worker import SweepListing

#: Seconds that looking into the findings of one operator may take, and running their scripts.
_EXPLAIN, _VERIFY = 20.0, 60.0


@dataclasses.dataclass(frozen=True, slots=True)
class Swept:
    """What one operator came to."""

    map: SweepMap
    findings: list[SweepFinding]


class Operators:
    """The operators of a sweep, which are judged when they are asked for. Close it in the end.

    Args:
        plan: what is asked for.
        directory: where findings are kept.
        verify: whether scripts are run in fresh processes.
        deadline: seconds after which a sample is a hang.
        memory: bytes that a worker may take.
    """

    def __init__(self, plan: SweepPlan, directory: Path, *, verify: bool, deadline: float, memory: int | None) -> None:
        self.plan = plan
        self._directory = directory
        self._verify = verify
        self._engine = SweepEngine(1, deadline, memory, [FoundBefore(directory)])
        self._listed: SweepListing | None = None

    def close(self) -> None:
        """End its processes."""
        self._engine.__exit__()

    def names(self) -> list[str]:
        """The operators that have a cell which is asked for; raises `UsageError` where there is none."""
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

    def swept(self, name: str) -> Swept:
        """Judge one operator, all of its variants, and look into what is found."""
        listed = dataclasses.replace(self._all(), entries=self._entries()[name])
        session = SweepSession(self.plan, listed)
        session.run(self._engine)
        found = findings(session.map)
        self._engine.look_into(found, _EXPLAIN, _VERIFY if self._verify else 0.0)
        verifying.kept(found, self._directory, self.plan.seed)
        return Swept(session.map, found)
