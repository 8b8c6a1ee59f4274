"""Finds the operator to which a result or a gradient of a program belongs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from autotest.program.calls import KEPT, LAYOUT, PROPERTY, Call, Ref, leaves, refs
from autotest.program.numpy_scalars import is_whole
from autotest.program.semantics import backward_arguments, describes, makes_input, pushes_gradients, written

#: Kinds of calls that change or read their first operand, and for which a finding names the operator behind it.
_ABOUT_THEIR_OWNER = frozenset(("load_state", "overwrite", "enter", "exit", "setattr", "getattr"))
#: Functions that differentiate their first operand; a finding names the operator behind that.
_DIFFERENTIATING = frozenset(("autograd.grad", "autograd.backward"))


def operator_of(calls: Sequence[Call], slot: int, *, gradient: bool = False, preferred: Collection[int] = ()) -> str:
    """Return the name of the operator that a finding about the value in `slot`, or about its gradient, should have.

    - A module's call and an optimizer's step have the name of their class.
    - An input, a view that gives it its memory layout, and the gradient of a leaf made by a function have the name of
      the first call that computes with it.
    - A copy of a tensor that the next call overwrites has the name of the tensor.
    - A property of a random result has the name of the call that drew it, if that is in the program.
    - An attribute of an input has the name of the attribute.
    - A list of the items of a value has the name of this value.
    - The assignment of an attribute of any other value has the name ``setattr``: it changes a module, for example.
    - The result of `autograd.grad`, or of a backward pass through it, has the name of the differentiated operator.
    - Any other value has the name of its own call.

    Args:
        calls: the calls of the program.
        slot: the slot of the value.
        gradient: whether the finding is about the gradient of the value.
        preferred: slots of calls that are preferred to others that compute with the value.
    """
    if slot >= len(calls):
        return ""
    call = calls[slot]
    if makes_input(call) or (gradient and _makes_leaf(call)):
        own = "tensor" if call.kind == "tensor" else call.target
        pushed = _pushed_through(calls, slot)
        readers = [*_readers(calls, slot)] if pushed is None else [pushed]
        known_by = next((one for one in readers if one in preferred), next(iter(readers), None))
        return own if known_by is None else operator_of(calls, known_by)
    if call.note == KEPT and type(call.args[0]) is Ref:
        return operator_of(calls, call.args[0].slot)
    if call.note == PROPERTY and type(call.args[0]) is Ref:
        owner = calls[call.args[0].slot]
        # An input is named after its first reader, which may be this very call.
        is_first = makes_input(owner) and next(_readers(calls, owner.slot), None) == slot
        return call.target if is_first else operator_of(calls, owner.slot)
    if call.kind == "method" and call.target in ("__call__", "step") and type(call.args[0]) is Ref:
        return operator_of(calls, call.args[0].slot)
    if call.kind == "function" and call.target in _DIFFERENTIATING:
        return next((operator_of(calls, made) for made in _differentiated(calls, call)), call.target)
    if call.target == "getitem" and type(call.args[0]) is Ref and calls[call.args[0].slot].target in _DIFFERENTIATING:
        return operator_of(calls, call.args[0].slot)
    if (call.kind, call.target) == ("builtin", "list") and type(call.args[0]) is Ref:
        listed = calls[call.args[0].slot]
        # A leaf is named after its first reader, which may be this very call.
        return call.target if makes_input(listed) or _makes_leaf(listed) else operator_of(calls, listed.slot)
    if call.kind in _ABOUT_THEIR_OWNER and type(call.args[0]) is Ref:
        owner = calls[call.args[0].slot]
        # An input is named after a later call, which may be this one; therefore use this call's own name.
        if owner.kind == "tensor":
            return call.target or call.kind
        return "setattr" if call.kind == "setattr" else operator_of(calls, owner.slot)
    return call.target


def first_use(calls: Sequence[Call], slot: int) -> tuple[int, str] | None:
    """Return the first call that computes with the leaf in `slot`, and the operand that is the leaf.

    The operand is ``"1"`` for the second argument, ``"0[1]"`` for the second item of a list that is the first argument,
    ``"weight"`` for a keyword argument. Return None if `slot` has no leaf, or if no call computes with it.
    """
    if slot >= len(calls) or not (makes_input(calls[slot]) or _makes_leaf(calls[slot])):
        return None
    reader = next(_readers(calls, slot), None)
    if reader is None:
        return None
    call = calls[reader]
    if call.note == LAYOUT:
        return first_use(calls, reader)
    called = call.args[1:] if call.kind == "method" and call.target == "__call__" else call.args
    named = [*((str(at), item) for at, item in enumerate(called)), *call.kwargs.items()]
    parts = [
        *named,
        *((f"{at}[{own}]", part) for at, item in named if type(item) in (tuple, list) for own, part in enumerate(item)),
    ]
    names = {
        Ref(slot),
        *(Ref(one.slot) for one in calls if one.target == "requires_grad_" and one.args[0] == Ref(slot)),
    }
    return next(((reader, at) for at, item in parts if type(item) is Ref and item in names), None)


def _pushed_through(calls: Sequence[Call], slot: int) -> int | None:
    """Return the slot of the call through which the cotangent in `slot` is propagated back; None if there is none.

    This is the call that made or last changed the differentiated value.
    """
    push = next((call for call in calls[slot + 1 :] if pushes_gradients(call) and Ref(slot) in set(refs(call))), None)
    if push is None:
        return None
    for output, cotangent in zip(*map(list, map(leaves, backward_arguments(push))), strict=False):
        if cotangent == Ref(slot) and type(output) is Ref:
            made = calls[output.slot]
            changing = (call.slot for call in reversed(calls[made.slot + 1 : push.slot]) if output in written(call))
            return None if made.kind == "tensor" else next(changing, made.slot)
    return None


def _differentiated(calls: Sequence[Call], call: Call) -> Iterator[int]:
    """Yield the slots of the calls whose results `call` differentiates.

    For an item of a tuple of results, this is the call that returned the tuple.
    """
    for output in leaves(call.args[:1]):
        made = calls[output.slot] if type(output) is Ref else call
        if made.target == "getitem" and type(made.args[0]) is Ref and is_whole(made.args[1]):
            made = calls[made.args[0].slot]
        if made.kind != "tensor" and made is not call:
            yield made.slot


def _makes_leaf(call: Call) -> bool:
    """Whether the result of `call` may be a leaf: a factory function such as ``torch.ones(2)``, or a parameter."""
    made_of_nothing = call.target.rpartition(".")[2][:1].islower() and not [*refs(call)]
    return call.kind == "function" and (made_of_nothing or call.target == "nn.Parameter")


def _readers(calls: Sequence[Call], slot: int) -> Iterator[int]:
    """Yield the slots of the calls that read the value in `slot`, also after `requires_grad_` returned it.

    Calls that only describe it, such as ``x.numel()``, come last.
    """
    names, describing = [Ref(slot)], []
    for later in calls[slot + 1 :]:
        if later.target == "requires_grad_" and later.args[0] in names:
            names.append(Ref(later.slot))
        elif later.target != "backward" and any(_computes_of(later, name) for name in names):
            if describes(later):
                describing.append(later.slot)
            else:
                yield later.slot
    yield from describing


def _computes_of(call: Call, operand: Ref) -> bool:
    if call.kind in _ABOUT_THEIR_OWNER and call.args[0] == operand:
        return False
    if call.kind == "function" and call.target in _DIFFERENTIATING:  # a leaf among what is differentiated is only read
        return operand in set(refs(call._replace(args=call.args[1:])))
    return operand in set(refs(call))
