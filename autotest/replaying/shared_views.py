"""Finds the call whose result shares memory with its operand on one side only.

A write into the result then changes the operand on that side alone. The write is right, and should not be blamed.
"""

from __future__ import annotations

import dataclasses

from autotest.comparison.elementwise import same_array
from autotest.frameworks import Framework, Pair
from autotest.program import Call, Program, Ref
from autotest.program.randomness import KnownContents, contents_of_result
from autotest.program.rewriting import upto
from autotest.program.semantics import OPERATIONS, writes, written
from autotest.replaying.replay import replay


def sharing_otherwise(program: Program, slot: int, writer: int, pair: Pair) -> int | None:
    """Return the call between the tensor in `slot` and what `writer` wrote into whose memory one side alone shares.

    `writer` is the call after which the tensor differs. Made again after the write, a call that shares memory gives
    what its first result holds then, and a call that copies does not. A write that reaches beyond its operand changes
    nothing about that. Return None if both sides share memory alike, or if the tensor was written directly.
    """
    for target in written(program.calls[writer]):
        between = _between(program, slot, target.slot)
        if not between:
            continue
        expected, actual = (_share(program, between, writer, side) for side in pair.frameworks)
        parts: list[int] = []  # the call, after those that return several tensors of which it takes one
        for call in between:
            parts.append(call.slot)
            if call.slot in expected and call.slot in actual:
                if expected[call.slot] != actual[call.slot]:
                    return parts[0]
                parts.clear()
    return None


def _between(program: Program, slot: int, target: int) -> list[Call]:
    """Return the calls that make the tensor in `target` of the one in `slot`, in their order; none if others do."""
    found: list[Call] = []
    while target > slot:
        call = program.calls[target]
        owner = call.args[0] if call.args else None
        defined = contents_of_result(call) is KnownContents.DEFINED
        if call.kind not in OPERATIONS or writes(call) or not defined or type(owner) is not Ref:
            return []
        found.append(call)
        target = owner.slot
    return found[::-1] if target == slot else []


def _share(program: Program, between: list[Call], writer: int, framework: Framework) -> dict[int, bool]:
    """Return for each call of `between` whether, made again after the call `writer`, it gives what its result holds."""
    before = upto(program, writer + 1)
    first = len(before.calls)
    owners = [between[0].args[0], *[Ref(first + at) for at in range(len(between) - 1)]]
    again = tuple(
        call._replace(args=(owner, *call.args[1:]), slot=first + at)
        for at, (call, owner) in enumerate(zip(between, owners, strict=True))
    )
    found: dict[int, bool] = {}

    def between_calls(done: int, values: list[object]) -> None:
        if done < first + len(again):
            return
        for call, made in zip(between, again, strict=True):
            pair = [values[call.slot], values[made.slot]]
            if all(isinstance(one, framework.tensor_types) for one in pair):
                held, repeated = framework.values(pair)
                found[call.slot] = same_array(held.data, repeated.data)

    replay(dataclasses.replace(before, calls=(*before.calls, *again)), framework, between_calls=between_calls)
    return found
