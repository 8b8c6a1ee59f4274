"""Marks the slots of a program with unspecified contents: random numbers and uninitialized memory."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from autotest.frameworks import Framework
from autotest.program import Call, Program, Ref, refs
from autotest.program.randomness import KnownContents, contents_of_result
from autotest.program.semantics import (
    argument,
    first_operand,
    is_module_call,
    may_share_memory,
    writes_first_operand,
    written,
)

#: Operator -> position of its argument `sorted`, which is True by default.
_SORTED: Final = {"topk": 4, "unique": 1}
#: Calls that copy or view an input, and draw no random numbers.
_ARRANGING: Final = frozenset("clone permute expand as_strided getitem view_as".split())


class Draws:
    """Detects whether a program draws random numbers, except for a state that it replaces afterwards."""

    def __init__(self, program: Program, framework: Framework) -> None:
        self._framework = framework
        self._replaced = {call.args[0].slot for call in program.calls if call.kind == "load_state"}
        self._state = framework.random_state()
        self._seen = False
        #: Callback for a replay, called between calls; None if one look at the end is enough.
        self.between_calls = self._between_calls if self._replaced else None

    def _between_calls(self, count: int, values: list[Any]) -> None:
        """Record whether the last of the `count` calls so far drew random numbers."""
        state = self._framework.random_state()
        self._seen |= state != self._state and count - 1 not in self._replaced
        self._state = state

    @property
    def any(self) -> bool:
        """Whether any call drew random numbers, even one that was refused."""
        return self._seen or self._framework.random_state() != self._state


def marked(program: Program, *, drawn: bool) -> Program:
    """Return `program` with its undefined slots marked; `drawn` is whether running it drew random numbers."""
    undefined = set(program.undefined)
    for call in program.calls:
        if call.kind == "tensor":
            continue
        unspecified = contents_of_result(call) is not KnownContents.DEFINED or _in_any_order(call)
        draws = drawn and call.target not in _ARRANGING
        if unspecified or draws or any(ref.slot in undefined for ref in refs(call)):
            undefined.add(call.slot)
            undefined |= slots_written(program, call)
    return program if undefined == program.undefined else dataclasses.replace(program, undefined=frozenset(undefined))


def _in_any_order(call: Call) -> bool:
    """Whether `call` has ``sorted=False``, so that the order of its results is unspecified."""
    place = _SORTED.get(call.target)
    return place is not None and argument(call, place, "sorted") is False


def _works_in_place(program: Program, call: Call) -> bool:
    """Whether `call` calls a module that was constructed with ``inplace=True``."""
    return is_module_call(call) and len(call.args) > 1 and bool(program.calls[call.args[0].slot].kwargs.get("inplace"))


def slots_written(program: Program, call: Call) -> set[int]:
    """Return the slots of the earlier values that `call` changes: those it writes into, and those they are views of."""
    found: set[int] = set()
    waiting = [*written(call), *(call.args[1:2] if _works_in_place(program, call) else ())]
    while waiting:
        operand = waiting.pop()
        if type(operand) is Ref:
            found.add(operand.slot)
            made = program.calls[operand.slot]
            if may_share_memory(made) or writes_first_operand(made):
                owner = first_operand(made)
                waiting += [] if owner is None else [owner]
    return found
