"""Detects whether Hypothesis is calling a test with an example; Hypothesis shrinks failing examples itself."""

from __future__ import annotations

import dataclasses
import enum
import sys

from autotest.base.options import Options


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
    """Return `options` for one example: no earlier failures are retried; only the last is verified and shrunk."""
    if example is Example.NONE:
        return options
    alone = dataclasses.replace(options, replays_failures=False)
    return alone if example is Example.REPORTED else dataclasses.replace(alone, verify=False, shrink=0.0)


__all__ = ["Example", "example_now", "options_for"]
