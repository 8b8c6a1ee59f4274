"""Writes each distinct call once, and counts how often it is made."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import torch

from .calls_file import CallsFile
from .defaults import without_defaults
from .description import TooLong, Writer

#: Maximum numbers of distinct calls that are kept per name, and of calls that differ in floating-point arguments only.
LIMIT, FLOATS = 100, 3

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class WrittenCall(NamedTuple):
    """A call as it is written to the file."""

    name: str
    form: str
    args: Sequence[Any]
    kwargs: Mapping[str, Any] | None
    #: The public module whose forward makes it; "" if none does.
    within: str
    #: Further facts by name. A function is given a `Writer` and returns the fact.
    more: Mapping[str, Any] = _NOTHING


class _SeenCall:
    """One distinct call."""

    __slots__ = ("floats", "number", "times")

    def __init__(self, number: int) -> None:
        #: The number of the call in the file; 0 if it was not kept.
        self.number = number
        self.times = 0
        self.floats: set[tuple[float, ...]] = set()


class DistinctCalls:
    """The calls seen so far, by their keys; a key starts with the called function, whose defaults are not written."""

    def __init__(self, file: CallsFile, limit: int) -> None:
        self._file = file
        self._limit = limit
        self._seen: dict[Any, _SeenCall] = {}
        #: `_kept`: name -> number of its distinct calls; "" -> number of calls in the file. `_left_out`: name -> number
        #: of calls that were not written.
        self._kept: dict[str, int] = {}
        self._left_out: dict[str, int] = {}
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        # Each process writes its own counts, and readers add them up.
        self._lock, self._left_out = threading.Lock(), {}
        for seen in self._seen.values():
            seen.times = 0

    def is_new(self, key: Any, floats: Sequence[float]) -> bool:
        """Whether a call is to be written; count it if it is not. `floats` are its floating-point arguments."""
        seen = self._seen.get(key)
        if seen is None:
            return True
        if floats and seen.number > 0 and len(seen.floats) < FLOATS and tuple(floats) not in seen.floats:
            return True
        seen.times += 1
        return False

    def write(self, key: Any, floats: Sequence[float], call: WrittenCall) -> None:
        """Write a call that `is_new` to the file, unless the limit for its name is reached."""
        if torch.jit.is_tracing() or _is_transformed():
            return
        number = self._counted(key, floats, call.name)
        if not number:
            self.leave_out(call.name)
            return
        writer = Writer()
        line: dict[str, Any] = {"call": number, "process": os.getpid(), "name": call.name, "form": call.form}
        try:
            with torch.no_grad():
                line.update({what: value(writer) if callable(value) else value for what, value in call.more.items()})
                line["args"] = [writer.tree(item) for item in call.args]
                written = without_defaults(key[0], dict(call.kwargs or {}))
                line["kwargs"] = {word: writer.tree(item) for word, item in written.items()}
        except TooLong:
            self.leave_out(call.name)
            return
        line["gradients"] = torch.is_grad_enabled()
        line["within"] = call.within
        self._file.write(line)

    def _counted(self, key: Any, floats: Sequence[float], name: str) -> int:
        """Count a new call; return its number in the file, 0 if it is not to be written."""
        with self._lock:
            seen = self._seen.get(key)
            if seen is None:
                kept = self._kept.get(name, 0)
                number = 0 if kept >= self._limit else self._next_number()
                seen = self._seen[key] = _SeenCall(number)
                self._kept[name] = kept + 1
            else:
                number = self._next_number()
            seen.times += 1
            seen.floats.add(tuple(floats))
        return number

    def _next_number(self) -> int:
        self._kept[""] = self._kept.get("", 0) + 1
        return self._kept[""]

    def leave_out(self, name: str) -> None:
        """Count a call that is not written."""
        self._left_out[name] = self._left_out.get(name, 0) + 1

    def summarise(self) -> None:
        """Write how often each call of this process was made, and how many calls of each name were left out."""
        times = {str(seen.number): seen.times for seen in self._seen.values() if seen.number and seen.times}
        self._file.write({"process": os.getpid(), "times": times, "left_out": self._left_out})


def _is_transformed() -> bool:
    """Return whether a transformation such as `torch.func.vmap` is active: its tensors have no values of their own."""
    functorch = getattr(torch._C, "_functorch", None)
    peek: Callable[[], Any] | None = getattr(functorch, "peek_interpreter_stack", None)
    return peek is not None and peek() is not None
