"""Every exception that this library raises on purpose."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from typing import Any


class AutotestError(Exception):
    """Base class of what this library raises on purpose."""

    #: Says that the library is not broken, so that the reader needs none of its frames.
    of_the_test = True


class UsageError(AutotestError, ValueError):
    """An argument of the public interface is wrong; the message names it and says what is allowed."""


class NotDual(UsageError):
    """A test returned something that is not dual; the message says what, and at which place of what it returned."""


class FrameworkMissing(AutotestError, ImportError):
    """A framework cannot be imported; the message is one sentence saying what to install or choose."""


class AdapterWrong(UsageError):
    """An adapter gives something else than what it is to give, which is no fault of its framework."""


class NotReplayable(AutotestError):
    """A recorded program holds something that cannot be run again without the test body."""


class TrialsFailed(AutotestError, AssertionError):
    """What is wrong with the trials of a test, other than that the frameworks differ.

    Attributes:
        test: the test's id, with which the text begins.
        said: the rest of the text.
    """

    def __init__(self, test: str, said: str) -> None:
        super().__init__(test, said)
        self.test, self.said = test, said

    def __str__(self) -> str:
        return f"{self.test}: {self.said}"


class NothingCompared(TrialsFailed):
    """A trial ended without one comparison, so that its passing would mean nothing."""


class GradientNotCompared(TrialsFailed):
    """A trial could have compared a gradient and did not, or its operators are wrongly listed as having none."""


class GradcheckError(AutotestError, RuntimeError, AssertionError):
    """A gradient is not the derivative of its function; the text holds the table. torch's is a `RuntimeError` too."""


class OverlappingMemory(UsageError, RuntimeError):
    """Elements of an input of `gradcheck` share memory, so that none can be varied alone. A `RuntimeError` in torch."""


class TooFewAccepted(TrialsFailed):
    """The reference refused so many trials that the rest prove little; the reasons are in the text."""


class StaleLedgerEntry(TrialsFailed):
    """A divergence that the ledger expects did not happen any more."""


class SkipsItself(AutotestError):
    """A test says while it runs, or is set up, that it is not to be run; the message is its reason."""


class TrialEnd(BaseException):
    """Leaves the test body when a trial cannot go on; caught by the trial and never seen outside.

    A `BaseException`, so that an `except Exception` in a test body does not swallow it. Why the trial
    ended stands in the trial's own state, so that even a bare `except:` changes nothing.
    """


class StoreUnwritable(AutotestError, OSError):
    """The folder of failures cannot be written; the message says why, and where else they could go."""


class StoreDamaged(AutotestError):
    """A stored failure cannot be read; the message names it and what is wrong with it."""


class InTrial(AutotestError):
    """Says which trial an exception of a test body comes from, where the exception itself cannot be given a note."""


def of_the_test(raised: Any) -> bool:
    """For ``__tracebackhide__``: whether what pytest shows, an ``ExceptionInfo``, is no fault of this library."""
    return bool(getattr(getattr(raised, "value", None), "of_the_test", False))


def made_by_the_test(error: Exception) -> Exception:
    """`error`, which a mistake of the test brought about in a framework, marked as such."""
    error.of_the_test = True  # type: ignore[attr-defined]
    return error


def nearest(name: str, known: Iterable[str]) -> str:
    """``. Did you mean 'softmax'?``, when something known is spelled nearly like `name`; empty if nothing is."""
    close = difflib.get_close_matches(name, [one for one in known if not one.startswith("_")], 1, 0.65)
    return f". Did you mean {close[0]!r}?" if close else ""


def annotate(error: Exception, note: str) -> None:
    """Add `note` to what is printed of `error`, on Pythons before 3.11 too, whose exceptions have no notes."""
    if sys.version_info >= (3, 11):
        error.add_note(note)
        return
    before = error.args
    if len(before) <= 1 and not isinstance(error, (KeyError, OSError, SyntaxError, UnicodeError)):
        error.args = ("\n".join([*map(str, before), note]),)
        if str(error).endswith(note):
            return
        error.args = before  # this exception makes its text of something else
    if error.__cause__ is None:
        error.__cause__ = InTrial(note)
