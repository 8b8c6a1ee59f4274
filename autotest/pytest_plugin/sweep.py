"""``pytest --autotest-sweep``: each operator of a sweep is an item, and fails as a test of it would."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, Final

import pytest

from autotest.base import options
from autotest.base.errors import AutotestError
from autotest.report import sweep_finding
from autotest.report.session import TestSummary, empty_summary
from autotest.results import ledger
from autotest.results.divergence import Divergence
from autotest.results.sweep import CHECKS, worst
from autotest.results.sweep_findings import known
from autotest.sweeping.operators import OperatorResult, Operators
from autotest.sweeping.session import SweepPlan

#: Name of the node that contains all operators.
NAME: Final = "autotest-sweep"


class SweepItems:
    """Plugin that adds the operators of a sweep to the items that pytest collects."""

    def __init__(self, expression: str) -> None:
        self._expression = expression

    @pytest.hookimpl(tryfirst=True)  # before -k and -m select items
    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        try:
            sweep = Sweep.from_parent(session, name=NAME, nodeid=NAME, expression=self._expression)
            operators = sweep.collect()
        except AutotestError as error:
            raise pytest.UsageError(str(error)) from None
        items += operators
        # Without this report, pytest does not count them as collected.
        session.ihook.pytest_collectreport(report=pytest.CollectReport(NAME, "passed", None, [*operators]))


class Sweep(pytest.Collector):
    """The collector of the operators of a sweep."""

    def __init__(self, expression: str, **arguments: Any) -> None:
        super().__init__(**arguments)
        asked = options.from_environment()
        plan = SweepPlan(expression, seed=asked.seed, option="--autotest-sweep=")
        plan.cell_filter()
        self.ledger = () if asked.ledger is None else ledger.read(asked.ledger)
        self.operators = Operators(
            plan, asked.directory, verify=asked.verify, deadline=asked.deadline, memory=asked.memory
        )
        self.config.add_cleanup(self.operators.close)

    def collect(self) -> list[pytest.Item]:
        return [Operator.from_parent(self, name=name) for name in self.operators.names()]


class Operator(pytest.Item):
    """One operator, in all requested forms and dtypes."""

    #: Its results, for the summary of the session.
    summary: TestSummary | None = None

    def runtest(self) -> None:
        sweep = self.parent
        assert isinstance(sweep, Sweep)
        swept = sweep.operators.swept(self.name)
        known(swept.findings, sweep.ledger, swept.map.sides, swept.map.versions)
        new = [finding for finding in swept.findings if not finding.known]
        status = worst(row.cell.status for row in swept.map.rows.values())
        if new:
            self.summary = _summary(self.name, swept)
            # Findings with a script come first.
            new.sort(key=lambda finding: (not finding.script, CHECKS.index(finding.check)))
            asked = sweep.operators.plan.expression
            fitting = f"{self.name} and ({asked})" if asked else self.name
            text = sweep_finding.failure(new, swept.map.sides, f"autotest sweep -k {shlex.quote(fitting)}")
            raise Divergence(text, new[0].finding, new[0].place)
        if swept.findings:
            pytest.xfail(swept.findings[0].known)
        if status != "agrees":
            pytest.skip(_why(swept, status))
        self.summary = _summary(self.name, swept)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.config.rootpath, None, self.name


def _summary(name: str, swept: OperatorResult) -> TestSummary:
    cells = [row.cell for row in swept.map.rows.values()]
    refused = sum(cell.refused for cell in cells)
    return {
        **empty_summary(name, swept.map.seed, swept.map.versions),
        "accepted": sum(cell.accepted for cell in cells),
        "rejections": {"refused by the reference": refused} if refused else {},
        "expected": {finding.known: finding.samples for finding in swept.findings if finding.known},
        "cleared": sum(cell.rounded for cell in cells),
    }


def _why(swept: OperatorResult, status: str) -> str:
    """Return the reason why an operator could not be judged."""
    for row in swept.map.rows.values():
        if row.cell.absent:
            return row.cell.absent
        for reason in row.cell.left_out:
            return f"{status}: {reason}"
    return status
