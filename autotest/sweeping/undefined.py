"""Marks the slots of a program with unspecified contents: random numbers and uninitialized memory."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from autotest.frameworks import Framework
from autotest.program import Call, Program, Ref, leaves, refs
from autotest.program.randomness import KnownContents, contents_of
from autotest.program.semantics import in_place, in_place_by_argument, is_module_call

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
        unspecified = contents_of(call.target, call.args, call.kwargs) is not KnownContents.DEFINED or _in_any_order(
            call
        )
        draws = drawn and call.target not in _ARRANGING
        if unspecified or draws or any(ref.slot in undefined for ref in refs(call)):
            undefined.add(call.slot)
            if in_place(call) or in_place_by_argument(call):
                undefined.update(slot for operand in call.args[:1] for slot in _written(program, operand))
            elif _works_in_place(program, call):
                undefined.update(_written(program, call.args[1]))
            undefined.update(item.slot for item in leaves(call.kwargs.get("out")) if type(item) is Ref)
    return program if undefined == program.undefined else dataclasses.replace(program, undefined=frozenset(undefined))


def _in_any_order(call: Call) -> bool:
    """Whether `call` has ``sorted=False``, so that the order of its results is unspecified."""
    place = _SORTED.get(call.target)
    if place is None:
        return False
    return call.kwargs.get("sorted", call.args[place] if len(call.args) > place else True) is False


def _works_in_place(program: Program, call: Call) -> bool:
    """Whether `call` calls a module that was constructed with ``inplace=True``."""
    return is_module_call(call) and len(call.args) > 1 and bool(program.calls[call.args[0].slot].kwargs.get("inplace"))


def _written(program: Program, operand: Any) -> set[int]:
    """Return the slots whose contents change if a call writes into `operand`: its own, and those it is a view of."""
    found: set[int] = set()
    while type(operand) is Ref:
        found.add(operand.slot)
        call = program.calls[operand.slot]
        operand = call.args[0] if call.kind != "tensor" and call.target in _ARRANGING and call.args else None
    return found


def flat(value: Any) -> tuple[Any, ...]:
    """Return `value` as a tuple, whether it is a sequence or a single item."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)
