"""Lets exceptions leave the subtests of a test body, in which unittest and pytest catch what a block raises."""

from __future__ import annotations

import contextlib
import unittest
from collections.abc import Iterator, Mapping
from typing import Any, Final

#: The modules of the class of pytest's fixture ``subtests``: that of pytest 9, and that of pytest-subtests before it.
_OF_PYTEST: Final = ("_pytest.subtests", "pytest_subtests.plugin")


def plain_subtests(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> contextlib.AbstractContextManager[None]:
    """Return a context in which exceptions leave the subtests of a test that is called with these arguments.

    Otherwise the block would be recorded as a failed subtest, and the body would continue, although a rejected trial
    is no failure.
    """
    case = args[0] if args and isinstance(args[0], unittest.TestCase) else None
    outcome = getattr(case, "_outcome", None)
    if outcome is not None:
        return _without_outcome(case, outcome)
    for value in kwargs.values():
        if type(value).__module__ in _OF_PYTEST:
            return _without_subtests(value)
    return contextlib.nullcontext()


@contextlib.contextmanager
def _without_outcome(case: Any, outcome: Any) -> Iterator[None]:
    case._outcome = None
    try:
        yield
    finally:
        case._outcome = outcome


@contextlib.contextmanager
def _without_subtests(fixture: Any) -> Iterator[None]:
    before = vars(fixture).get("test")  # of the test that calls this one
    fixture.test = lambda *_, **__: contextlib.nullcontext()
    try:
        yield
    finally:
        if before is None:
            del fixture.test
        else:
            fixture.test = before
