"""Collects the decorated tests that a command line names, and explains why if there are none."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from autotest.base.errors import UsageError
from autotest.base.plural import several
from autotest.frameworks.registry import takes_own
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

    Worker processes have one candidate. A command line or variable that chooses it overrides that of a test.
    """
    collected = tests_in(paths, k)
    kept, left_out = [], [*collected.left_out]
    for test in collected.tests:
        own = test.settings.candidate
        if own != candidate and takes_own(own):
            why = f"it is a test of {own}, its own candidate: --candidate {own} runs it"
            left_out.append(LeftOut(test.id, why))
        else:
            kept.append(test)
    return _not_empty(dataclasses.replace(collected, tests=kept, left_out=left_out), paths)


def _not_empty(collected: Collection, paths: Sequence[Path]) -> Collection:
    if not collected.tests:
        places = ", ".join(str(path) for path in paths)
        why = [f"{name}: {reason}" for name, reason in (*collected.broken, *collected.left_out)][:5]
        if not why:
            why = ["decorate a function whose name begins with test_, or let `autotest init` write a first test file"]
        raise UsageError("\n  ".join([f"found no explorable test decorated with @autotest(...) in {places}", *why]))
    return collected
