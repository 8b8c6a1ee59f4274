"""One trial of a body, or one call of the loop of trials, without a decorator or an environment."""

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
from autotest.trials.trial import Outcome, Test, run_trial


@dataclasses.dataclass
class Ended:
    """How one command line ended."""

    status: int
    output: str
    errors: str


def pair_with(candidate: Framework | None = None, reference: Framework | None = None) -> Pair:
    """A pair of torch with torch, or with what is given."""
    return Pair(reference or TorchFramework(), candidate or TorchFramework())


def trial(
    body: Callable[[], Any],
    candidate: Framework | None = None,
    *,
    reference: Framework | None = None,
    seed: int = 0,
    **settings: Any,
) -> Outcome:
    """One trial of `body`."""
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
    """The loop of trials of `body`; findings are kept in `folder`."""
    chosen = Options(**{"directory": folder, "verify": False, "shrink": 0.0, **(options or {})})
    return run_test(
        Test(test, body, Settings(**settings)), RunContext(pair_with(candidate), chosen, ledger or Ledger())
    )


def agrees(outcome: Outcome) -> bool:
    """Whether a trial was accepted, compared something and found nothing."""
    assert outcome.rejection is None, outcome.rejection
    assert outcome.mismatches == [], [mismatch.message for mismatch in outcome.mismatches]
    return outcome.compared > 0


def targets(outcome: Outcome) -> list[str]:
    """What was called, in order."""
    return [call.target for call in outcome.recorder.calls]
