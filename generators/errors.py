"""What the generators raise on purpose.

Enters nothing, leaves classes. Stands alone so that every file of the package can raise them; must not
import from this package. All are `ValueError`s: a generator was asked for something that it cannot give.
"""

from __future__ import annotations


class GeneratorError(ValueError):
    """A generator was built or used wrongly; the message says what was expected and where it was written."""


class BadBounds(GeneratorError):
    """The bounds of a draw leave nothing to draw: ``random(5, 1)``."""


class Unsatisfiable(GeneratorError):
    """A filter refused every value that it was offered; the message names its line and the last value."""


class NotAValue(GeneratorError, TypeError):
    """A generator stands where a drawn value is needed, such as in an ``if``: ``.value()`` is missing."""
