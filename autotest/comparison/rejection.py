"""What the reference refused, and how to tell a refusal from a mistake in the test body."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, NamedTuple

from autotest.base.errors import UsageError

#: The type of a rejection that is no refusal: the candidate has no name for what the call asks.
ABSENT: Final = "Absent"
#: The type of another one: the plan had drawn large sizes, of which the call makes a result that is larger by far.
TOO_LARGE: Final = "TooLarge"
#: The type of a third: the reference gave one result, and another when it ran again, so that neither is evidence.
NOT_REPEATABLE: Final = "NotRepeatable"


class Rejection(NamedTuple):
    """A call that the reference refused, or that the candidate has no name for: the trial ends without a verdict."""

    target: str
    type: str
    text: str
    #: The line of the test that made the call, as ``test_x.py:12 (`y = x.item()`)``; empty where the trial made it.
    place: str = ""

    @property
    def reason(self) -> str:
        """One line that is the same for refusals that differ only in their numbers."""
        first = next((line.strip() for line in self.text.splitlines() if line.strip()), "")
        return f"{self.target}: {self.type}: {re.sub(r'[-+]?[0-9][0-9.e+-]*', 'N', first)[:160]}"


def is_mistake(error: Exception, optional: Collection[str] = ()) -> bool:
    """Whether the reference's exception means that the call was written wrongly, whatever was drawn.

    A keyword that the function does not have stays wrong in every trial, so the test is told at once; unless it is
    one of the `optional` ones, which the test leaves out in some trials. So does a file that is not there.
    """
    if isinstance(error, (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError)):
        return True
    if isinstance(error, (AttributeError, NameError, ImportError, SyntaxError, UsageError)):
        return True
    if not isinstance(error, TypeError):
        return False
    return not {*unknown_keywords(str(error))} <= {*optional}


def unknown_keywords(text: str) -> list[str]:
    """The keywords that a function got and does not have, as Python says it, or torch's list of signatures."""
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
    """Whether an exception says that this machine, or this build of a framework, lacks a device."""
    return _DEVICE.search(str(error)) is not None


_MEMORY = re.compile(r"out of memory|not enough memory|can.?t allocate|cannot allocate|bad_alloc", re.IGNORECASE)


def is_out_of_memory(error: Exception) -> bool:
    """Whether an exception says that there was not enough memory, in Python's way or a framework's."""
    return isinstance(error, MemoryError) or _MEMORY.search(str(error)) is not None


def first_line(error: BaseException) -> str:
    """The line of an exception's text that says what is wrong, without the colours of a terminal."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # OneFlow opens with source locations ("File ..., line 12, in ..."); what it means stands last.
    telling = [line for line in lines if not line.startswith(("File ", "at "))]
    return (telling or lines or [""])[-1 if lines and lines[0].startswith("File ") else 0][:300]
