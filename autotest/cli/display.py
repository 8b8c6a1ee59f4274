"""The output of a running campaign: a live display on a terminal, otherwise lines of a log."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from autotest.base.plural import several, thousands
from autotest.campaigns.campaign import Plan
from autotest.campaigns.executor import Observer
from autotest.cli.pacing import Pacing
from autotest.frameworks import Pair
from autotest.report import campaign as report
from autotest.report.colours import LineRole, pieces
from autotest.report.session import against_itself, without_gradients
from autotest.report.trial_counts import lacking
from autotest.results.progress import CampaignProgress
from autotest.results.tasks import FindingRecord
from autotest.sources.collection import Collection


class Log:
    """An observer that prints a progress line every `LOG_EVERY` seconds, and a line for every finding."""

    def __init__(self) -> None:
        self._pacing = Pacing()

    def changed(self, progress: CampaignProgress) -> None:
        if self._pacing.is_due():
            print(report.progress_line(progress), flush=True)

    def found(self, found: FindingRecord) -> None:
        print(report.announcement(found), flush=True)

    def renamed(self, key: str, other: str) -> None:
        print(report.renaming(key, other), flush=True)


class Live:
    """An observer with one progress line that is updated in place, below the findings."""

    def __init__(self, progress: Any, task: Any, plan: Plan) -> None:
        self._progress, self._task, self._plan = progress, task, plan

    def changed(self, progress: CampaignProgress) -> None:
        if self._plan.seconds is not None:
            completed = progress.seconds
        else:
            completed = float(sum(test.tried for test in progress.tests))
            if self._plan.trials is not None:
                total = self._plan.trials * len(progress.tests) * max(1, len(progress.groups))
                self._progress.update(self._task, total=total)
        rate = progress.trials / progress.seconds if progress.seconds else 0.0
        self._progress.update(
            self._task,
            completed=completed,
            trials=f"{thousands(progress.trials, 'trial')} ({rate:,.0f}/s), {progress.rejected:,} rejected"
            f"{lacking(progress.absent)}, {several(progress.workers, 'worker')}",
            findings=several(len(progress.found), "finding"),
        )

    def found(self, found: FindingRecord) -> None:
        self._progress.console.print(report.announcement(found), markup=False, highlight=False)

    def renamed(self, key: str, other: str) -> None:
        self._progress.console.print(report.renaming(key, other), markup=False, highlight=False)


@contextlib.contextmanager
def display(plan: Plan, collected: Collection, pair: Pair) -> Iterator[Observer]:
    """Yield the observer that suits the output: `Live` on a terminal if `rich` is installed, otherwise `Log`.

    Args:
        plan: the limits of the campaign.
        collected: the tests.
        pair: the two frameworks.
    """
    limits = [f"{plan.seconds:g} s"] if plan.seconds is not None else []
    limits += [f"{several(plan.trials, 'trial')} each"] if plan.trials is not None else []
    aim = " or ".join(limits)
    tests = f"{several(len(collected.tests), 'test')} of {plan.candidate}"
    tests += against_itself([plan.candidate], pair.reference.name)
    print(f"autotest fuzz: {tests}, {aim}, base seed {plan.base_seed}", flush=True)
    if not pair.candidate.has_gradients:
        print(without_gradients([pair.candidate.name]), flush=True)
    for line in collected.renamed:
        print(line, flush=True)
    bars: Any = None
    with contextlib.suppress(ImportError):
        import rich.progress as bars
    if bars is None or not sys.stdout.isatty():
        yield Log()
        return
    columns = (
        bars.SpinnerColumn(),
        bars.BarColumn(bar_width=24),
        bars.TextColumn("{task.fields[trials]}"),
        bars.TextColumn("[bold]{task.fields[findings]}"),
        bars.TimeElapsedColumn(),
    )
    trials = 0 if plan.trials is None else plan.trials * len(collected.tests)
    with bars.Progress(*columns, transient=True) as progress:
        task = progress.add_task("", total=plan.seconds or trials, trials="starting", findings="")
        yield Live(progress, task, plan)


#: The styles of `rich` for the roles of a report's parts.
_STYLES: Mapping[LineRole, str] = MappingProxyType(
    {
        "": "",
        "headline": "bold red",
        "verdict": "bold",
        "divergent": "red",
        "expected": "green",
        "actual": "red",
    }
)


def show_report(report: str) -> None:
    """Print a report; in colours if it goes to a terminal, `rich` is installed and NO_COLOR is not set."""
    rich: Any = None
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        with contextlib.suppress(ImportError):
            import rich.console
            import rich.text
    if rich is None:
        print(report, end="")
        return
    marked = rich.text.Text()
    for text, role in pieces(report):
        marked.append(text, _STYLES[role])
    rich.console.Console(highlight=False, soft_wrap=True).print(marked, end="")
