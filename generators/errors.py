"""Exceptions that generators raise for mistakes in a test."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class GeneratorError(ValueError):
    """A generator was built or used wrongly; the message names the expected value and the line that built it."""

    #: Marks the error as a mistake in the test, not in the library: tracebacks then omit the library's frames.
    is_test_mistake = True


def is_test_mistake(raised: Any) -> bool:
    """Return whether `raised`, pytest's ``ExceptionInfo``, is a mistake in the test; for ``__tracebackhide__``."""
    return bool(getattr(getattr(raised, "value", None), "is_test_mistake", False))


def nearest(name: object, known: Iterable[str]) -> str:
    """Return ``. Did you mean 'zeros'?`` with the name of `known` most similar to `name`; empty if none is."""
    close = difflib.get_close_matches(name, list(known), 1, 0.65) if isinstance(name, str) else []
    return f". Did you mean {close[0]!r}?" if close else ""


class BadBounds(GeneratorError):
    """The bounds of a draw leave nothing to draw: ``random(5, 1)``."""


class Unsatisfiable(GeneratorError):
    """A filter refused every value that was drawn for it; the message names its line and the last value."""


class NotAValue(GeneratorError, TypeError):
    """A generator is used where a drawn value is needed, such as in an ``if``: ``.value()`` is missing."""
