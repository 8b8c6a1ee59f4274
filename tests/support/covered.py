"""What the trials of a test body have drawn for each operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autotest import autotest
from autotest.results.coverage import Coverage, merged
from autotest.running.run_hooks import run_hook
from autotest.running.tally import Tally


def coverage_of(test: Callable[[], object]) -> Coverage:
    """Run `test`, and return what its trials have drawn."""
    tallies: list[Tally] = []
    with run_hook(lambda test, context, tally: tallies.append(tally)):
        test()
    return merged(part for tally in tallies for part in tally.coverage)


def covered(body: Callable[[], Any], **settings: Any) -> Coverage:
    """Return what the trials of `body` have drawn, with these settings of its test."""
    return coverage_of(autotest(**settings)(body))
