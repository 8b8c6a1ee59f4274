"""Runs a test body, and gives its errors the traceback of the test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autotest.frameworks import Pair
from autotest.trials.body_errors import explained, traceback_of_test

# pytest and unittest leave this module out of the traceback of a failed test.
__tracebackhide__ = True
__unittest = True

# Generators that are built here belong to the test: their errors name the line of the test.
__generators_hide__ = True


def run_body(body: Callable[[], Any], pair: Pair) -> Any:
    """Return the result of `body`. An error caused by wrong use of dual objects is explained in one sentence."""
    try:
        return body()
    except Exception as error:
        clear = explained(error, pair.packages)
        if clear is not None:
            raise clear from None
        if not getattr(error, "is_test_mistake", False):
            raise
        between = {*pair.packages, "copy"}  # packages whose frames are between lines of the body
        raise error.with_traceback(traceback_of_test(error.__traceback__, between))  # noqa: B904 - it is the same one
