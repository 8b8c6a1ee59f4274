"""Detects whether Hypothesis is calling a test with an example; Hypothesis shrinks failing examples itself."""

from __future__ import annotations

import dataclasses
import enum
import sys

from autotest.base.options import Options
from generators.plan import DIFFERENT_TRIALS


class Example(enum.Enum):
    """The reason why Hypothesis calls a test."""

    NONE = "it does not call it"
    TRIED = "to see whether it fails"
    REPORTED = "to tell of the smallest one that fails"


def example_now() -> Example:
    """Return why Hypothesis calls a test now. Hypothesis is not imported for this: if it is in use, it is imported."""
    control = sys.modules.get("hypothesis.control")
    if control is None or not control.currently_in_test_context():
        return Example.NONE
    final = getattr(control.current_build_context(), "is_final", False)
    return Example.REPORTED if final else Example.TRIED


def options_for(example: Example, options: Options) -> Options:
    """Return `options` for one example.

    Hypothesis chooses the first trial, because each example would have the same tensors if it were always trial 0. No
    earlier failures are retried, no divergence is expected to happen, and only the last example is verified and shrunk.
    """
    if example is Example.NONE:
        return options
    alone = dataclasses.replace(options, replays_failures=False, exploring=True, first_trial=_chosen_trial())
    return alone if example is Example.REPORTED else dataclasses.replace(alone, verify=False, shrink=0.0)


def _chosen_trial() -> int:
    """Return the index of a trial that Hypothesis chooses, so that it can repeat and shrink the choice."""
    hypothesis = sys.modules["hypothesis"]
    data = sys.modules["hypothesis.control"].current_build_context().data
    if 0 in (getattr(data, "max_choices", None), data.max_length):  # an `@example`, which has no choices
        return 0
    return int(data.draw(hypothesis.strategies.integers(0, DIFFERENT_TRIALS - 1)))


def refused(example: Example) -> None:
    """Let Hypothesis try another example instead of one that the reference refuses.

    Returns if Hypothesis did not generate the example: a test without examples, or a written one (`@example`), fails.
    """
    if example is Example.TRIED:
        hypothesis = sys.modules["hypothesis"]
        hypothesis.event("refused by the reference")  # counted by --hypothesis-show-statistics
        hypothesis.reject()


__all__ = ["Example", "example_now", "options_for", "refused"]
