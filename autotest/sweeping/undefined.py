"""Marks the slots of a program whose contents nobody specifies: random numbers and uninitialised memory."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from autotest.frameworks import Framework
from autotest.program import Call, Program, Ref, leaves, refs
from autotest.program.randomness import KnownContents, contents_of
from autotest.program.semantics import asked_in_place, in_place, is_module_call

#: name -> position of its argument `sorted`, which is true by default.
_SORTED: Final = {"topk": 4, "unique": 1}
#: Calls that put an input into its place, and draw nothing.
_ARRANGING: Final = frozenset("clone permute expand as_strided getitem view_as".split())


class Draws:
    """Watches, call by call, whether a program takes random numbers, but for a state that it replaces afterwards."""

    def __init__(self, program: Program, framework: Framework) -> None:
        self._framework = framework
        self._replaced = {call.args[0].slot for call in program.calls if call.kind == "load_state"}
        self._state = framework.random_state()
        self._seen = False
        #: What a replay of the program calls between calls; None where looking once at the end tells the same.
        self.look = self._look if self._replaced else None

    def _look(self, count: int, values: list[Any]) -> None:
        """Take note of what the last of the `count` calls so far took."""
        state = self._framework.random_state()
        self._seen |= state != self._state and count - 1 not in self._replaced
        self._state = state

    @property
    def any(self) -> bool:
        """Whether there were some, also in a call that was refused."""
        return self._seen or self._framework.random_state() != self._state


def marked(program: Program, *, drawn: bool) -> Program:
    """`program` with what is undefined in it; `drawn` says whether running it took random numbers."""
    undefined = set(program.undefined)
    for call in program.calls:
        if call.kind == "tensor":
            continue
        unspecified = contents_of(call.target, call.args, call.kwargs) is not KnownContents.DEFINED or _in_any_order(
            call
        )
        draws = drawn and call.target not in _ARRANGING
        if unspecified or draws or any(ref.slot in undefined for ref in refs(call)):
            undefined.add(call.slot)
            if in_place(call) or asked_in_place(call):
                undefined.update(slot for operand in call.args[:1] for slot in _written(program, operand))
            elif _works_in_place(program, call):
                undefined.update(_written(program, call.args[1]))
            undefined.update(item.slot for item in leaves(call.kwargs.get("out")) if type(item) is Ref)
    return program if undefined == program.undefined else dataclasses.replace(program, undefined=frozenset(undefined))


def _in_any_order(call: Call) -> bool:
    """Whether it was asked for results in whatever order they come."""
    place = _SORTED.get(call.target)
    if place is None:
        return False
    return call.kwargs.get("sorted", call.args[place] if len(call.args) > place else True) is False


def _works_in_place(program: Program, call: Call) -> bool:
    """Whether `call` is that of a module which was made to write into its input."""
    return is_module_call(call) and len(call.args) > 1 and bool(program.calls[call.args[0].slot].kwargs.get("inplace"))


def _written(program: Program, operand: Any) -> set[int]:
    """The slots whose contents a call writes into: `operand`, and what it is a view of."""
    found: set[int] = set()
    while type(operand) is Ref:
        found.add(operand.slot)
        call = program.calls[operand.slot]
        operand = call.args[0] if call.kind != "tensor" and call.target in _ARRANGING and call.args else None
    return found


def flat(value: Any) -> tuple[Any, ...]:
    """`value` as a tuple, whether it is one or a single item."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)
