"""Whether a test is being called with an example of Hypothesis, which makes failing ones smaller itself."""

from __future__ import annotations

import dataclasses
import enum
import sys

from autotest.base.options import Options


class Example(enum.Enum):
    """What Hypothesis calls a test for."""

    NONE = "it does not call it"
    TRIED = "to see whether it fails"
    TOLD = "to tell of the smallest one that fails"


def example_now() -> Example:
    """What Hypothesis calls a test for now. It is not imported for this: whoever uses it has imported it."""
    control = sys.modules.get("hypothesis.control")
    if control is None or not control.currently_in_test_context():
        return Example.NONE
    final = getattr(control.current_build_context(), "is_final", False)
    return Example.TOLD if final else Example.TRIED


def options_for(example: Example, options: Options) -> Options:
    """`options` for the trials of one example: what another one left must not count, nor is each looked into."""
    if example is Example.NONE:
        return options
    alone = dataclasses.replace(options, remembers=False)
    return alone if example is Example.TOLD else dataclasses.replace(alone, verify=False, shrink=0.0)


__all__ = ["Example", "example_now", "options_for"]
