"""Shrinks the choices of a failing trial: runs its test body on plainer ones while it fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from autotest.diagnosis.shrinking.failure_signature import FailureSignature
from autotest.frameworks import Pair
from autotest.replaying.agreement import Agreement
from autotest.trials.decorated import Test
from autotest.trials.outcome import Outcome
from autotest.trials.trial import run_trial
from generators import Choice, simplest
from generators.source import Primitive

#: The largest number of runs of the test body before its program is shrunk.
EXECUTIONS = 80


def shrink_choices(
    test: Test, outcome: Outcome, pair: Pair, failure: FailureSignature, seconds: float
) -> tuple[Outcome, int]:
    """Return the trial with the plainest choices that fails in the same way, and the number of runs.

    The test body runs again because, for example, the sizes it draws for a module must fit together, and only the test
    itself knows how.

    Args:
        test: the test.
        outcome: the failing trial.
        pair: the reference and the candidate.
        failure: the signature that a plainer trial must show.
        seconds: the time limit.
    """
    deadline = time.monotonic() + seconds
    best, executions = outcome, 0
    seen: set[str] = set()
    improved = True
    while improved:
        improved = False
        for forced in _plainer(best.choices):
            if executions >= EXECUTIONS or time.monotonic() > deadline:
                return best, executions
            if repr(forced) in seen or _cost(forced) >= _cost(best.choices):
                continue
            seen.add(repr(forced))
            executions += 1
            tried = _forced(test, outcome.seed, pair, forced)
            if tried is None or _cost(tried.choices) >= _cost(best.choices):
                continue
            if _shows(tried, failure):
                best, improved = tried, True
                break
    return best, executions


def _forced(test: Test, seed: int, pair: Pair, forced: Sequence[Choice]) -> Outcome | None:
    try:
        return run_trial(test.body, seed, test.settings, pair, forced=forced)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 - a body may raise, or skip its test, for values that it never draws by itself
        return None


def _shows(outcome: Outcome, failure: FailureSignature) -> bool:
    if not outcome.mismatches:
        return False
    return failure.shown_by(Agreement(outcome.shown, outcome.recorder, outcome.mismatches))


def _cost(choices: Sequence[Choice]) -> tuple[float, ...]:
    """Return the cost that shrinking reduces: the number of choices, then their distance from the plainest values."""
    distances = [abs(choice.value - _plainest(choice)) for choice in choices if choice.kind != "bits"]
    return len(choices), sum(1 for distance in distances if distance), sum(min(distance, 1e6) for distance in distances)


def _plainer(made: Sequence[Choice]) -> Iterator[list[Choice]]:
    """Yield plainer choices: all of them plain, then blocks of them, then each one partly."""
    plain = [_with_value(choice, _plainest(choice)) for choice in made]
    block = len(made)
    while block:
        for start in range(0, len(made), block):
            yield [*made[:start], *plain[start : start + block], *made[start + block :]]
        block //= 2
    for at, choice in enumerate(made):
        if choice.kind in ("integer", "index"):
            goal, value = _plainest(choice), choice.value
            for new in dict.fromkeys((goal + 1, goal + (value - goal) // 2, value - 1)):
                if goal < new < value:
                    yield [*made[:at], _with_value(choice, new), *made[at + 1 :]]


def _plainest(choice: Choice) -> Primitive:
    return simplest(choice.kind, choice.low, choice.high)


def _with_value(choice: Choice, value: Primitive) -> Choice:
    # An array is one choice of 64 bits. Its contents are shrunk later, in the program.
    return choice if choice.kind == "bits" else choice._replace(value=type(choice.value)(value))
