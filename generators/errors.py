"""What the generators raise on purpose."""

from __future__ import annotations

from typing import Any


class GeneratorError(ValueError):
    """A generator was built or used wrongly; the message says what was expected and where it was written."""

    #: Says that the test is wrong and not the library, so that the reader needs none of its frames.
    of_the_test = True


def of_the_test(raised: Any) -> bool:
    """For ``__tracebackhide__``: whether what pytest shows, an ``ExceptionInfo``, is a mistake of the test."""
    return bool(getattr(getattr(raised, "value", None), "of_the_test", False))


class BadBounds(GeneratorError):
    """The bounds of a draw leave nothing to draw: ``random(5, 1)``."""


class Unsatisfiable(GeneratorError):
    """A filter refused every value that it was offered; the message names its line and the last value."""


class NotAValue(GeneratorError, TypeError):
    """A generator stands where a drawn value is needed, such as in an ``if``: ``.value()`` is missing."""
