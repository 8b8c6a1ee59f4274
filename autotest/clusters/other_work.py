"""Sweeps and books of gradients on a cluster: their units and tests are dealt out as the tasks of a campaign are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from autotest.clusters.cluster import Cluster
from autotest.clusters.messages import Book
from autotest.frameworks.samples import SampleDatabase
from autotest.results.gradient_account import Books
from autotest.results.tasks import Where
from autotest.sources.collection import Collected
from autotest.sweeping.engine import Engine, Report
from autotest.sweeping.units import Unit

T = TypeVar("T")


def dealt(cluster: Cluster, tasks: Iterable[T], stop: Callable[[], bool] = lambda: False) -> Iterator[tuple[T, Any]]:
    """Carry out `tasks`, as many at a time as there is room for; `stop` is asked before another one is begun."""
    waiting = iter(tasks)
    under_way, more = 0, True
    while under_way or more:
        while more and under_way < cluster.slots + cluster.looking:
            task = None if stop() else next(waiting, None)
            if task is None:
                more = False
            else:
                cluster.start(task)
                under_way += 1
        for done, result in cluster.wait(0.5) if under_way else ():
            under_way -= 1
            yield done, result


class SweepOnCluster(Engine):
    """Judges units on a cluster. What there is to sweep is listed here, and findings are looked into here."""

    def __init__(
        self,
        cluster: Cluster,
        jobs: int,
        deadline: float,
        memory: int | None,
        databases: Sequence[SampleDatabase] = (),
        *,
        own: bool = True,
    ) -> None:
        super().__init__(jobs, deadline, memory, databases, own=own)
        self._cluster = cluster

    def __enter__(self) -> SweepOnCluster:
        try:
            self._cluster.prepare()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *details: object) -> None:
        self._cluster.close()
        super().__exit__(*details)

    def run(self, units: Iterable[Unit], report: Report, stop: Callable[[], bool] = lambda: False) -> None:
        for unit, parts in dealt(self._cluster, units, stop):
            for cell, done in parts:
                report(unit, cell, done)


def keep_books_on(cluster: Cluster, tests: Sequence[Collected], trials: int) -> Books:
    """Run at most `trials` trials of each of `tests` on a cluster, which is let go of afterwards."""
    books = Books()
    try:
        cluster.prepare()
        for _, result in dealt(cluster, [Book(Where(Path(test.file), test.id, 0), trials) for test in tests]):
            books.take(result)
    finally:
        cluster.close()
    return books
