"""Fails a test that computes dual tensors but lacks ``@autotest``, so that nothing compares them."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest


def fail_if_dual_returned(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` wrapped so that it fails if it returns a dual object, or a tuple or list with one in it.

    A test under Hypothesis' ``@given`` may return nothing. It fails if no example returns or compares what it computes.
    """
    if getattr(function, "is_hypothesis_test", False):
        return _failing_if_nothing_is_compared(function)
    return function if inspect.iscoroutinefunction(function) else _failing(function, "decorate it with @autotest()")


def _failing(function: Callable[..., Any], remedy: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        returned = function(*args, **kwargs)
        dual = getattr(sys.modules.get("autotest.recording.dual"), "DualObject", ())
        parts = returned if type(returned) in (tuple, list) else (returned,)
        if any(isinstance(part, dual) for part in parts):
            _fail(function, f"returned a dual object, but nothing compares it: {remedy}")
        return returned

    return run


def _failing_if_nothing_is_compared(function: Any) -> Callable[..., Any]:
    remedy = "write @autotest(n=1) below @given(...)"

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        from autotest.recording.unread import watching

        with _replaced(function.hypothesis, remedy) as inner, watching() as watched:
            returned = function(*args, **kwargs)
        if watched.nothing_compared:
            _fail(inner, f"computes with dual objects, but nothing compares the results: {remedy}, and return them")
        return returned

    return run


@contextlib.contextmanager
def _replaced(test: Any, remedy: str) -> Iterator[Any]:
    """Let Hypothesis call the function below ``@given`` as `_failing` wraps it."""
    inner = test.inner_test
    test.inner_test = _failing(inner, remedy)
    try:
        yield inner
    finally:
        test.inner_test = inner


def _fail(function: Any, said: str) -> None:
    from autotest.sources.source_locations import source_location

    pytest.fail(f"{source_location(function)}: {function.__name__} {said}", pytrace=False)
