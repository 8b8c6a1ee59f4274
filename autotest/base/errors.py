"""The exceptions that this library raises on purpose."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from typing import Any


class AutotestError(Exception):
    """Base class of the exceptions that this library raises on purpose."""

    #: Whether a mistake in the test caused the error, so that tracebacks need not show frames of this library.
    is_test_mistake = True


class UsageError(AutotestError, ValueError):
    """An argument of the public interface is wrong; the message names it and says what is allowed."""


class NotDual(UsageError):
    """A test returned a value that is not dual; the message names it and its position in the return value."""


class FrameworkMissing(AutotestError, ImportError):
    """A framework cannot be imported; the message is one sentence saying what to install or choose."""


class AdapterWrong(UsageError):
    """A framework adapter is wrong, such as one that returns a value of the wrong type; no test or framework is."""


class NotReplayable(AutotestError):
    """A recorded program contains something that cannot be run again without the test body."""


class TrialsFailed(AutotestError, AssertionError):
    """The trials of a test failed for another reason than a difference between the frameworks.

    Attributes:
        test: the test's id, with which the message begins.
        said: the rest of the message.
    """

    def __init__(self, test: str, said: str) -> None:
        super().__init__(test, said)
        self.test, self.said = test, said

    def __str__(self) -> str:
        return f"{self.test}: {self.said}"


class NothingCompared(TrialsFailed):
    """A trial ended without any comparison, or no comparison of a test could fail: a pass would mean nothing."""


class GradientNotCompared(TrialsFailed):
    """A trial could have compared a gradient but did not, or an operator is wrongly listed as having no gradient."""


class GradcheckError(AutotestError, RuntimeError, AssertionError):
    """A gradient is not the derivative of its function; the message contains the table of values.

    It is a `RuntimeError` because torch's `GradcheckError` is one.
    """


class OverlappingMemory(UsageError, RuntimeError):
    """Elements of an input of `gradcheck` share memory, so that no element can be varied alone.

    It is a `RuntimeError` because torch raises one in this case.
    """


class TooFewAccepted(TrialsFailed):
    """The reference rejected so many trials that the accepted ones prove little; the message contains the reasons."""


class StaleLedgerEntry(TrialsFailed):
    """A divergence that the ledger expects no longer happens."""


class SkipsItself(AutotestError):
    """A test skipped itself while it ran or was set up; the message is the reason it gave."""


class TrialEnd(BaseException):
    """Leaves the test body when a trial cannot continue; the trial catches it, and it is never raised outside.

    It is a `BaseException`, so that an `except Exception` in a test body does not swallow it. The reason why the trial
    ended is stored in the trial's own state, so even a bare `except:` in the body does not lose it.
    """


class StoreUnwritable(AutotestError, OSError):
    """The folder of stored failures cannot be written; the message gives the reason and an alternative folder."""


class StoreDamaged(AutotestError):
    """A stored failure cannot be read; the message names it and says what is wrong with it."""


class TrialNote(AutotestError):
    """Names the trial of an exception of a test body; used as its cause if the exception cannot have a note."""


def is_test_mistake(raised: Any) -> bool:
    """Whether the test, not this library, caused the exception of `raised`, pytest's ``ExceptionInfo``.

    Modules use this function as their ``__tracebackhide__``.
    """
    return bool(getattr(getattr(raised, "value", None), "is_test_mistake", False))


def as_test_mistake(error: Exception) -> Exception:
    """Mark `error`, which a framework raised because of a mistake in the test, as caused by the test; return it."""
    error.is_test_mistake = True  # type: ignore[attr-defined]
    return error


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``. Did you mean 'softmax'?`` with the public name of `known` most similar to `name`; empty if none is."""
    close = difflib.get_close_matches(name, [one for one in known if not one.startswith("_")], 1, 0.65)
    return f". Did you mean {close[0]!r}?" if close else ""


def annotate(error: Exception, note: str) -> None:
    """Add `note` to the printed text of `error`, also on Pythons before 3.11, whose exceptions have no notes."""
    if sys.version_info >= (3, 11):
        error.add_note(note)
        return
    before = error.args
    if len(before) <= 1 and not isinstance(error, (KeyError, OSError, SyntaxError, UnicodeError)):
        error.args = ("\n".join([*map(str, before), note]),)
        if str(error).endswith(note):
            return
        error.args = before  # this exception does not make its text from `args`
    if error.__cause__ is None:
        error.__cause__ = TrialNote(note)
