"""Calls that the reference rejects, and how to distinguish a rejection from a mistake in the test body."""

from __future__ import annotations

import collections
import re
from collections.abc import Collection
from typing import Final, NamedTuple

from autotest.base.errors import UsageError
from autotest.base.plural import several

#: Type of a rejection not raised by the reference: the candidate does not have the function that the call names.
ABSENT: Final = "Absent"
#: Type of a rejection not raised by the reference: the drawn sizes are large, and the result would be far larger.
TOO_LARGE: Final = "TooLarge"
#: Type of a rejection not raised by the reference: the shape of a result depends on random numbers that each side drew
#: for itself, so that nothing that is computed from the result can be compared.
RANDOM_SHAPE: Final = "RandomShape"
#: Type of a rejection not raised by the reference: its result changed when the call was repeated, so neither result is
#: evidence.
NOT_REPEATABLE: Final = "NotRepeatable"


class Rejection(NamedTuple):
    """A call that ends its trial without a verdict: the reference rejected it, or it cannot be compared.

    `type` is the name of the exception's class, or one of the constants of this module.
    """

    target: str
    type: str
    text: str
    #: The line of the test that made the call, as ``test_x.py:12 (`y = x.item()`)``; empty if the trial made it.
    place: str = ""

    @property
    def reason(self) -> str:
        """One line that is the same for rejections that differ only in their numbers."""
        first = next((line.strip() for line in self.text.splitlines() if line.strip()), "")
        shown = _NAME_OR_NUMBER.sub(lambda found: found[1] or "N", first)
        return f"{self.target}: {self.type}: {shown[:160]}"


#: A name, whose digits belong to it as in ``conv2d``, or a number. ``2x3`` has two numbers.
_NAME_OR_NUMBER = re.compile(r"\b([A-Za-z_]\w*)|[-+]?[0-9][0-9.e+-]*")


def absences(rejections: collections.Counter[str]) -> collections.Counter[str]:
    """Return what the candidate lacks, and in how many trials, by the trials of each `Rejection.reason`."""
    found: collections.Counter[str] = collections.Counter()
    for reason, times in rejections.items():
        if is_absence(reason):
            found[reason.split(": ", 2)[2]] += times
    return found


def what_is_lacking(accepted: int, rejections: collections.Counter[str]) -> str:
    """Return what the candidate lacks, with numbers of trials, if none was accepted and some need it; else empty.

    Such a test counts as skipped.
    """
    absent = absences(rejections)
    if accepted or not absent:
        return ""
    ((what, times),) = absent.most_common(1)
    return f"{what} ({times} of {several(rejections.total(), 'trial')})"


def is_absence(reason: str) -> bool:
    """Whether a `Rejection.reason` says that the candidate lacks something, and not that the reference refused."""
    return reason.split(": ", 2)[1:2] == [ABSENT]


def is_mistake(error: Exception, optional: Collection[str] = ()) -> bool:
    """Whether the reference's exception means that the call is wrong in every trial, whatever values are drawn.

    Examples are a missing file, and a keyword that the function does not have. The test then fails at once.

    Args:
        error: the reference's exception.
        optional: keywords that the test leaves out in some trials; an unknown one of these is no mistake.
    """
    if isinstance(error, (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError)):
        return True
    if isinstance(error, (AttributeError, NameError, ImportError, SyntaxError, UsageError)):
        return True
    if not isinstance(error, TypeError):
        return False
    return not {*unknown_keywords(str(error))} <= {*optional}


def unknown_keywords(text: str) -> list[str]:
    """Return the unknown keywords that a message of Python, or torch's list of signatures, names."""
    named = re.search(r"unexpected keyword argument '(\w+)'", text)
    if named is not None:
        return [named[1]]
    got, _, accepted = text.partition("but expected")
    if "invalid combination of arguments" not in got or not accepted:
        return []
    accepted = "\n".join(line for line in accepted.splitlines() if "didn't match because" not in line)
    return [name for name in re.findall(r"(?<=[(,\s])(\w+)=", got) if not re.search(rf"\b{name}\b", accepted)]


_DEVICE = re.compile(
    r"no NVIDIA driver|not compiled with CUDA|no CUDA GPUs|no CUDA-capable|not linked with support", re.I
)


def is_missing_device(error: Exception) -> bool:
    """Whether the message of `error` says that this machine, or this build of a framework, lacks a device."""
    return _DEVICE.search(str(error)) is not None


_MEMORY = re.compile(r"out of memory|not enough memory|can.?t allocate|cannot allocate|bad_alloc", re.IGNORECASE)


def is_out_of_memory(error: Exception) -> bool:
    """Whether `error` is a `MemoryError` or a framework's message that there is not enough memory."""
    return isinstance(error, MemoryError) or _MEMORY.search(str(error)) is not None


def first_line(error: BaseException) -> str:
    """Return the line of an exception's text that says what is wrong, at most 300 characters, without ANSI colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    # MindSpore's messages begin with a ruled heading ("------").
    lines = [line.strip() for line in text.splitlines() if any(map(str.isalnum, line))]
    # Numba's begin with the step of its compiler; the next two lines say what has no implementation, and for what.
    if lines and lines[0].startswith("Failed in nopython mode"):
        lines = [" ".join(lines[1:3]) or lines[0]]
    # OneFlow's messages begin with source locations ("File ..., line 12, in ..."); the last line says what is wrong.
    telling = [line for line in lines if not line.startswith(("File ", "at "))]
    return (telling or lines or [text.strip()])[-1 if lines and lines[0].startswith("File ") else 0][:300]
