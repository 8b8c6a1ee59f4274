"""Detects whether Hypothesis is calling a test with an example; Hypothesis shrinks failing examples itself."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import generators
from autotest.base.library_folder import PACKAGE
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
    earlier failures are retried, no divergence is expected to happen, and only the last example is verified, shrunk and
    stored.
    """
    if example is Example.NONE:
        return options
    alone = dataclasses.replace(options, replays_failures=False, exploring=True, first_trial=_chosen_trial())
    if example is Example.REPORTED:
        return alone
    return dataclasses.replace(alone, verify=False, shrink=0.0, keeps_failures=False)


@contextlib.contextmanager
def tracing_tests_only() -> Iterator[None]:
    """Let Hypothesis trace the lines of tests, and not those of libraries, while one of its examples runs.

    After a failure it traces all lines, to name those that only failing examples run. In this library and in the
    frameworks that takes most of the time, and their lines explain nothing.
    """
    tracer = sys.gettrace()
    if type(getattr(tracer, "__self__", None)).__module__ != "hypothesis.internal.scrutineer":
        yield  # it does not trace now, or by other means (Python 3.12); or a debugger traces
        return

    def traced(frame: FrameType, event: Any, argument: Any) -> Any:
        return tracer(frame, event, argument) if tracer and _is_of_a_test(frame.f_code.co_filename) else None

    entered: FrameType | None = sys._getframe()
    while entered is not None:  # the frames that it traces already
        if not _is_of_a_test(entered.f_code.co_filename):
            entered.f_trace = None
        entered = entered.f_back
    sys.settrace(traced)
    try:
        yield
    finally:
        sys.settrace(tracer)


#: Folders of libraries: this one, and Python's own. Others are installed in folders with these names.
_LIBRARIES = (PACKAGE, Path(generators.__file__).parent, Path(sysconfig.get_path("stdlib")))
_INSTALLED = frozenset(("site-packages", "dist-packages"))


@functools.cache
def _is_of_a_test(file: str) -> bool:
    path = Path(file)
    return _INSTALLED.isdisjoint(path.parts) and not any(map(path.is_relative_to, _LIBRARIES))


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
