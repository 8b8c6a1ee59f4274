"""Collects the decorated tests that a command line names, and explains why if there are none."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from autotest.base.errors import FrameworkMissing, UsageError
from autotest.base.plural import several
from autotest.frameworks.registry import must_be_known_candidates, takes_own
from autotest.results.tasks import LeftOut
from autotest.sources.collection import Collection, collect
from autotest.sources.selection import selection


def tests_in(paths: Sequence[Path], k: str) -> Collection:
    """Return the decorated tests in `paths` whose names match `k`. Raises `UsageError` if there are none."""
    collected = collect(paths)
    if k:
        chosen = selection(k)
        fitting = [test for test in collected.tests if chosen(test.id)]
        if collected.tests and not fitting:
            shown = [f"  {test.id}" for test in collected.tests[:5]]
            more = len(collected.tests) - len(shown)
            raise UsageError(
                "\n".join(
                    [
                        f"-k {k!r} matches none of {several(len(collected.tests), 'test')}:",
                        *shown,
                        *([f"  and {more} more"] if more else []),
                    ]
                )
            )
        collected = dataclasses.replace(collected, tests=fitting)
    return _not_empty(collected, paths)


def tests_against(candidate: str, paths: Sequence[Path], k: str) -> Collection:
    """Return the tests as `tests_in` does, without those that name another candidate than `candidate` for themselves.

    Worker processes have one candidate. A command line or variable that chooses it overrides that of a test. A test
    that names a candidate that does not exist is among the mistaken ones.
    """
    collected = tests_in(paths, k)
    kept, left_out, mistaken = [], [*collected.left_out], []
    for test in collected.tests:
        own = test.settings.candidate
        if own == candidate or not takes_own(own):
            kept.append(test)
        elif why := _unknown(own):
            mistaken.append((test, why))
        else:
            why = f"it is a test of {own}, its own candidate: --candidate {own} runs it"
            left_out.append(LeftOut(test.id, why))
    return _not_empty(dataclasses.replace(collected, tests=kept, left_out=left_out, mistaken=mistaken), paths)


def _unknown(candidates: str) -> str:
    """Return why the `candidates` of a test cannot be right, such as a misspelt name; empty if they can."""
    try:
        must_be_known_candidates(candidates)
    except FrameworkMissing:  # the name is right: the test can run where there is such an interpreter
        return ""
    except UsageError as error:
        return str(error)
    return ""


def _not_empty(collected: Collection, paths: Sequence[Path]) -> Collection:
    if not collected.tests:
        places = ", ".join(str(path) for path in paths)
        mistaken = ((test.id, reason) for test, reason in collected.mistaken)
        why = [f"{name}: {reason}" for name, reason in (*collected.broken, *mistaken, *collected.left_out)][:5]
        if not why:
            why = ["decorate a function whose name begins with test_, or let `autotest init` write a first test file"]
        raise UsageError("\n  ".join([f"found no explorable test decorated with @autotest(...) in {places}", *why]))
    return collected
