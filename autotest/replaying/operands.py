"""Reads the operands and results of some calls of a program, in one run on one side."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

from autotest.frameworks import Framework
from autotest.frameworks.freezing import PLAIN_TYPES, frozen_copies
from autotest.program import Call, Program, refs
from autotest.program.isolation import ModuleState
from autotest.program.semantics import overwritten_operand
from autotest.replaying.module_alone import state_of
from autotest.replaying.replay import replay


@dataclasses.dataclass(frozen=True, slots=True)
class CallData:
    """The operands and the result of one call, as data."""

    #: The content of each operand before the call, by slot.
    operands: dict[int, Any]
    result: Any = None


def operands_at(program: Program, framework: Framework, slots: Collection[int]) -> dict[int, CallData]:
    """Return the operands and results of the calls in `slots` on `framework`; calls not reached are missing."""
    wanted = frozenset(slots)
    found: dict[int, CallData] = {}

    def between_calls(at: int, values: list[Any]) -> None:
        if at - 1 in found:
            found[at - 1] = dataclasses.replace(found[at - 1], result=_result(program.calls[at - 1], values, framework))
        if at in wanted:
            found[at] = CallData(_read(sorted({ref.slot for ref in refs(program.calls[at])}), values, framework))

    if wanted:
        replay(program, framework, between_calls=between_calls, upto=max(wanted) + 1)
    return found


def values_at(program: Program, framework: Framework, end: int, slots: Collection[int]) -> dict[int, Any]:
    """Return the content of `slots` on `framework` after the calls below slot `end` have run."""
    found: dict[int, Any] = {}

    def between_calls(at: int, values: list[Any]) -> None:
        if at == end:
            found.update(_read(sorted(slots), values, framework))

    replay(program, framework, between_calls=between_calls, upto=end)
    return found


def _read(slots: list[int], values: list[Any], framework: Framework) -> dict[int, Any]:
    """Return copies of the values in `slots`, as later calls may write into them.

    Values that are no data, such as an optimizer or a context, are missing.
    """
    tensors = [slot for slot in slots if isinstance(values[slot], framework.tensor_types)]
    copies = frozen_copies(framework, [values[slot] for slot in tensors])
    found: dict[int, Any] = dict(zip(tensors, copies, strict=True))
    for slot in slots:
        value = values[slot]
        if isinstance(value, PLAIN_TYPES):
            found[slot] = value
        elif isinstance(value, framework.module_types):
            found[slot] = ModuleState(state_of(framework, value), bool(framework.member(value, "training")))
    return found


def _result(call: Call, values: list[Any], framework: Framework) -> Any:
    result = values[call.slot]
    if result is None and (owner := overwritten_operand(call)) is not None:
        result = values[owner.slot]
    return frozen_copies(framework, [result])[0]
