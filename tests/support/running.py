"""Runs one trial of a body, or its loop of trials, without the decorator and without environment variables."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.frameworks import Framework, Pair
from autotest.frameworks.torch import TorchFramework
from autotest.results.ledger import Ledger
from autotest.running.runner import run_test
from autotest.running.tally import Tally
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test
from autotest.trials.outcome import Outcome
from autotest.trials.trial import run_trial


@dataclasses.dataclass
class Ended:
    """The exit status and the output of one command line."""

    status: int
    output: str
    errors: str


def pair_with(candidate: Framework | None = None, reference: Framework | None = None) -> Pair:
    """Return a pair of the given frameworks; the default for either side is torch."""
    return Pair(reference or TorchFramework(), candidate or TorchFramework())


def trial(
    body: Callable[[], Any],
    candidate: Framework | None = None,
    *,
    reference: Framework | None = None,
    seed: int = 0,
    **settings: Any,
) -> Outcome:
    """Run one trial of `body`."""
    return run_trial(body, seed, Settings(**settings), pair_with(candidate, reference))


def trials(
    body: Callable[[], Any],
    folder: Path,
    candidate: Framework | None = None,
    *,
    test: str = "test_it.py::test_it",
    ledger: Ledger | None = None,
    options: dict[str, Any] | None = None,
    **settings: Any,
) -> Tally:
    """Run the loop of trials of `body`; findings are stored in `folder`."""
    chosen = Options(**{"directory": folder, "verify": False, "shrink": 0.0, **(options or {})})
    return run_test(
        Test(test, body, Settings(**settings)), RunContext(pair_with(candidate), chosen, ledger or Ledger())
    )


def agrees(outcome: Outcome) -> bool:
    """Return whether a trial compared anything; raise `AssertionError` if it was rejected or found a mismatch."""
    assert outcome.rejection is None, outcome.rejection
    assert outcome.mismatches == [], [mismatch.message for mismatch in outcome.mismatches]
    return outcome.compared > 0


def targets(outcome: Outcome) -> list[str]:
    """Return the names of the called functions, in order."""
    return [call.target for call in outcome.recorder.calls]
