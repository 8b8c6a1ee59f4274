"""The books of a suite, kept in worker processes: a test that kills its process is named, and costs no other test."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import signal
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autotest.campaigns.gradient_account import keep_books
from autotest.processes import breadcrumb
from autotest.processes.endings import describe
from autotest.results.gradient_account import Books
from autotest.sources import collection
from autotest.sources.collection import Collected

#: Seconds that the trials of one test may take, with the import of the frameworks by its worker.
DEADLINE = 180.0


def keep_books_apart(tests: Sequence[Collected], trials: int, jobs: int, deadline: float = DEADLINE) -> Books:
    """Run at most `trials` trials of each of `tests` in `jobs` worker processes; raises `FrameworkMissing`."""
    from pebble import ProcessPool

    books = Books()
    with tempfile.TemporaryDirectory(prefix="autotest-") as folder:
        pool = ProcessPool(
            max_workers=jobs, context=multiprocessing.get_context("spawn"), initializer=_quiet, initargs=(os.getpid(),)
        )
        try:
            crumbs = [Path(folder) / f"{number}.crumb" for number in range(len(tests))]
            futures = [
                pool.schedule(_book, args=(item.file, item.id, trials, crumb), timeout=deadline)
                for item, crumb in zip(tests, crumbs, strict=True)
            ]
            for item, crumb, future in zip(tests, crumbs, futures, strict=True):
                _enter(books, item.id, future, crumb, deadline)
        finally:
            pool.stop()
            pool.join()
    return books


def _enter(books: Books, test: str, future: Any, crumb: Path, deadline: float) -> None:
    """Add to `books` what became of `test`."""
    from pebble import ProcessExpired

    try:
        books.take(future.result())
        return
    except concurrent.futures.TimeoutError:
        how = f"no answer in {deadline:g} s"
    except ProcessExpired as error:
        how = f"its process died ({describe(error.exitcode)})"
    position = breadcrumb.read(crumb)
    if position is not None and position.index >= 0:
        how += f" in trial {position.index}, at {position.operator} ({position.stage})"
    books.died[test] = how


# -- in the worker ------------------------------------------------------------------------------------------


def _quiet(parent: int) -> None:
    """What a framework prints while it dies is no part of the table."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.getppid() != parent:
        os._exit(0)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _book(file: Path, test: str, trials: int, crumb: Path) -> Books:
    trail = breadcrumb.Breadcrumb(crumb)
    try:
        return keep_books([collection.find(file, test)], trials, trail)
    finally:
        trail.close()


__all__ = ["keep_books_apart"]
