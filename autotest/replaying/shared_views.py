"""Finds the call whose result shares memory with its operand on one side only.

A write into one of them then changes the other on that side alone. The write is right, and should not be blamed.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from autotest.comparison.elementwise import same_array
from autotest.frameworks import Framework, Pair
from autotest.program import Array, Call, Program, Ref, refs
from autotest.program.randomness import KnownContents, contents_of_result
from autotest.program.rewriting import needed, upto
from autotest.program.semantics import OPERATIONS, is_step, writes, written
from autotest.replaying.replay import replay


def sharing_otherwise(program: Program, slot: int, writer: int, pair: Pair) -> int | None:
    """Return the call between the value in `slot` and what `writer` wrote into whose memory one side alone shares.

    `writer` is the call after which the value differs. Made again after the write, a call that shares memory gives
    what its first result holds then, and a call that copies does not. A write that reaches beyond its operand changes
    nothing about that. Return None if both sides share memory alike. If the value was written directly, the write may
    have read what it wrote into, so that this is asked of its other operands.
    """
    for target in _targets(program, program.calls[writer]):
        # A value computed after the write shows what it was computed from: the last of these values counts.
        shown = {one for one in needed(program, [slot]) if one < writer} if slot >= writer else {slot}
        if target.slot in shown:
            read = {ref.slot for ref in refs(program.calls[writer])} - {target.slot}
            between = _between(program, read, target.slot)
            expected, actual = (_reached(program, between, writer, target.slot, side) for side in pair.frameworks)
        else:
            between = _between(program, shown, target.slot)
            expected, actual = (_share(program, between, writer, side) for side in pair.frameworks)
        for call in between:
            if call.slot in expected and call.slot in actual and expected[call.slot] != actual[call.slot]:
                return None if _reach_alike(program, shown - {target.slot}, writer, target.slot, pair) else call.slot
    return None


def _reach_alike(program: Program, shown: Iterable[int], writer: int, target: int, pair: Pair) -> bool:
    """Whether other numbers in `target`, before the call `writer`, reach the same ones of the values `shown`.

    Then the sides share memory alike until that call, which may have given the tensor other memory instead of writing.
    """
    values = [program.calls[slot] for slot in shown]
    expected, actual = (_reached(program, values, writer, target, side) for side in pair.frameworks)
    return bool(expected) and expected == actual


def _targets(program: Program, writer: Call) -> Iterator[Ref]:
    """Yield what `writer` writes into: for a step, the tensors that the optimizer was made with."""
    if is_step(writer) and type(writer.args[0]) is Ref:
        yield from refs(program.calls[writer.args[0].slot])
    yield from written(writer)


def _between(program: Program, others: Iterable[int], target: int) -> list[Call]:
    """Return the calls by which the tensor in `target` is made of the last possible one of `others`, or that of it."""
    for other in sorted(others, reverse=True):
        first, last = sorted((other, target))
        used = needed(upto(program, last + 1), [last])
        made = {first}
        for call in program.calls[first + 1 : last + 1]:
            if call.slot in used and any(ref.slot in made for ref in refs(call)):
                made.add(call.slot)
        if last in made:
            return [call for call in program.calls[first + 1 : last + 1] if call.slot in made and _is_repeatable(call)]
    return []


def _is_repeatable(call: Call) -> bool:
    known = contents_of_result(call) is KnownContents.DEFINED
    return known and call.kind in (*OPERATIONS, "getattr") and not writes(call)


def _share(program: Program, between: list[Call], writer: int, framework: Framework) -> dict[int, list[bool]]:
    """Return for each call of `between` whether, made again after the call `writer`, it gives what its result holds.

    Of a call that returns several tensors, this is told of each one.
    """
    before = upto(program, writer + 1)
    first = len(before.calls)
    if not between:
        return {}
    again = tuple(call._replace(slot=first + at) for at, call in enumerate(between))
    found: dict[int, list[bool]] = {}

    def between_calls(done: int, values: list[Any]) -> None:
        if done < first + len(again):
            return
        for call, made in zip(between, again, strict=True):
            held, repeated = (_tensors(values[one.slot], framework) for one in (call, made))
            if held and len(held) == len(repeated):
                pairs = zip(framework.values(held), framework.values(repeated), strict=True)
                found[call.slot] = [same_array(one.data, other.data) for one, other in pairs]

    replay(dataclasses.replace(before, calls=(*before.calls, *again)), framework, between_calls=between_calls)
    return found


def _reached(
    program: Program, between: list[Call], writer: int, target: int, framework: Framework
) -> dict[int, list[bool]]:
    """Return for each call of `between` whether other numbers in `target`, before the call `writer`, reach its result.

    Of a call that returns several tensors, this is told of each one.
    """
    if not between:
        return {}
    values = replay(program, framework, upto=writer).values
    if len(values) < writer or not isinstance(values[target], framework.tensor_types):
        return {}
    results = {call.slot: _tensors(values[call.slot], framework) for call in between}
    before = {at: [one.copied() for one in framework.values(held)] for at, held in results.items() if held}
    (own,) = framework.values([values[target]])
    with contextlib.suppress(Exception):  # an expanded tensor cannot be written into
        other = np.where(own.data == 1, 0, 1).astype(own.data.dtype)
        framework.overwrite(values[target], Array(other, own.dtype))
        now = {at: framework.values(results[at]) for at in before}
        return {
            at: [not same_array(one.data, later.data) for one, later in zip(before[at], now[at], strict=True)]
            for at in before
        }
    return {}


def _tensors(value: Any, framework: Framework) -> list[Any]:
    items = [*value.values()] if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else [value]
    return [item for item in items if isinstance(item, framework.tensor_types)]
