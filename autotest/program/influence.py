"""Finds the values that may contribute to a value: through operands, shared memory, and an optimizer's steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from autotest.program.calls import Call, Program, Ref, refs
from autotest.program.rewriting import needed
from autotest.program.semantics import (
    base_name,
    clips_gradients,
    first_operand,
    is_class,
    is_module_call,
    is_setting,
    is_step,
    may_share_memory,
    out_operands,
    pushes_gradients,
    reads_gradient,
    reparametrizes,
    writes_first_operand,
    written,
)

#: Methods of a module or an optimizer that give it other members.
_JOINING = frozenset(
    "add_module register_module register_parameter register_buffer append extend insert update add_param_group".split()
)
#: Methods of a module that return its tensors or other modules.
_MEMBERS = frozenset("parameters named_parameters buffers named_buffers state_dict modules children".split())


def contributing(program: Program, slots: Iterable[int]) -> frozenset[int]:
    """Return the slots of all values that may contribute to those in `slots`, or share memory with one that does.

    A call of a module may write into the module's buffers, as batch normalisation does.
    """
    memory = shared_memory(program.calls)
    pushes = [call.slot for call in program.calls if pushes_gradients(call)]
    found = set(slots)
    while True:
        found = needed(program, found)
        touched = {memory[one] for one in found}
        grown = {
            call.slot for call in program.calls if any(memory[ref.slot] in touched for ref in _changed(call))
        } | found
        if any(_uses_gradients(program.calls[one]) for one in grown):
            grown.update(pushes)
        if grown == found:
            return frozenset(call.slot for call in program.calls if memory[call.slot] in touched)
        found = grown


def shared_memory(calls: Sequence[Call]) -> list[int]:
    """Return, by slot, the first slot of those that may share memory with it."""
    earlier = list(range(len(calls)))

    def first(slot: int) -> int:
        while earlier[slot] != slot:
            slot = earlier[slot]
        return slot

    for call in calls:
        for ref in _shared(call):
            one, other = sorted((first(call.slot), first(ref.slot)))
            earlier[other] = one
    return [first(slot) for slot in range(len(earlier))]


def written_later(calls: Sequence[Call]) -> frozenset[int]:
    """Return the slots of the values that a later call may write into, directly or through shared memory."""
    memory = shared_memory(calls)
    last_write = {memory[ref.slot]: call.slot for call in calls for ref in written(call)}
    return frozenset(slot for slot, shared in enumerate(memory) if slot < last_write.get(shared, slot))


def _shared(call: Call) -> Iterator[Ref]:
    """Yield the operands whose memory the result of `call` may share; an object shares that of its members."""
    yield from out_operands(call)
    if is_class(call) or call.kind == "setattr" or _joins(call):
        yield from refs(call)
    elif may_share_memory(call) or writes_first_operand(call) or is_member(call):
        owner = first_operand(call)
        if owner is not None:
            yield owner


def _joins(call: Call) -> bool:
    """Whether `call` gives an object other members, or makes a list of the items of its operand."""
    return call.target in _JOINING if call.kind == "method" else (call.kind, call.target) == ("builtin", "list")


def is_member(call: Call) -> bool:
    """Whether `call` reads a member of its first operand: an attribute, or the parameters of a module."""
    return call.kind == "getattr" or (call.kind == "method" and base_name(call) in _MEMBERS)


def _changed(call: Call) -> Iterator[Ref]:
    yield from written(call)
    if is_step(call) or is_setting(call) or reparametrizes(call) or is_module_call(call):
        yield from (item for item in call.args[:1] if type(item) is Ref)


def _uses_gradients(call: Call) -> bool:
    return is_step(call) or clips_gradients(call) or reads_gradient(call)
