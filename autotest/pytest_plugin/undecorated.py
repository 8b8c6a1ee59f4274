"""Fails a test that returns dual tensors but lacks ``@autotest``, so that nothing compares them."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import pytest


def fail_if_dual_returned(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` wrapped so that it fails if it returns a dual object, or a tuple or list with one in it."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        returned = function(*args, **kwargs)
        dual = getattr(sys.modules.get("autotest.recording.dual"), "DualObject", ())
        parts = returned if type(returned) in (tuple, list) else (returned,)
        if any(isinstance(part, dual) for part in parts):
            from autotest.sources.source_locations import source_location

            said = f"{function.__name__} returned a dual object, but nothing compares it: decorate it with @autotest()"
            pytest.fail(f"{source_location(function)}: {said}", pytrace=False)
        return returned

    return function if inspect.iscoroutinefunction(function) else run
