"""Finds the operators and tensors of a trial that carry gradients, from the trial's record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from autotest.gradients.gate import GradientUse
from autotest.gradients.nondifferentiable import NoGradient, are_zero, listed
from autotest.program import Call, Ref, operator_of, refs
from autotest.program.influence import written_later
from autotest.program.semantics import (
    OPERATIONS,
    base_name,
    first_operand,
    is_step,
    pushes_gradients,
    reads_gradient,
    returns_gradients,
    targets,
)
from autotest.recording.overwritten import is_kept_copy
from autotest.recording.record import Record

#: Calls that return or set up a tensor and compute nothing that has a derivative.
_NO_OPERATION = frozenset(
    "requires_grad_ retain_grad backward grad zero_grad step parameters named_parameters state_dict children modules "
    "train eval register_hook".split()
)
_DISCARDS = frozenset(("zero_grad", "zero_"))


def surely_compared(record: Record) -> bool:
    """Return whether the number of compared gradients is all that `examine` could find out, as in most trials.

    That is so if the last call is a backward pass, and no operator is listed as having no gradient.
    """
    return pushes_gradients(record.calls[-1]) and not any(map(listed, targets(record.calls)))


def examine(record: Record, compared: int) -> GradientUse:
    """Return how the trial used gradients; `compared` is the number of gradients that were compared."""
    operators: list[Call] = []
    pushes: list[Call] = []
    stepped = False
    for call in record.calls:
        if call.kind not in OPERATIONS:
            continue
        if pushes_gradients(call):
            pushes.append(call)
        elif is_step(call):
            stepped = True
        else:
            operators.append(call)
    known = [(call, entry) for call in operators if (entry := listed(call.target)) is not None]
    wrongly = tuple(dict.fromkeys(_wrongly_listed(record, known))) if known else ()
    discarded = _discarded(record, pushes[-1].slot) if pushes else ""
    if compared and not discarded and not (known and _only_listed(operators)):
        return GradientUse(compared=compared, pushed=bool(pushes), wrongly_listed=wrongly)
    differentiable = tuple(operator_of(record.calls, call.slot) for call in differentiable_calls(record))
    return GradientUse(
        differentiable=differentiable,
        compared=compared,
        pushed=bool(pushes),
        stepped=bool(pushes) and stepped,
        discarded=discarded,
        wrongly_listed=wrongly,
        nonzero=bool(compared) and _nonzero(record),
        undefined=bool(pushes) and not compared and _is_undefined(record, pushes),
    )


def differentiable_calls(record: Record) -> Iterator[Call]:
    """Yield the calls whose result, on the reference, depends on a tensor that requires grad."""
    reference = record.pair.reference
    for call in record.calls:
        if call.kind not in OPERATIONS or base_name(call) in _NO_OPERATION or is_kept_copy(call):
            continue
        if any(
            reference.can_backpropagate(tensor) and not reference.holds_gradient(tensor)
            for tensor in tensors_in(record, call.slot)
        ):
            yield call


def tensors_in(record: Record, slot: int) -> list[Any]:
    """Return the reference's tensors in the result of call `slot`."""
    found: list[Any] = []
    waiting = [record.expected[slot]]
    while waiting:
        value = waiting.pop()
        if isinstance(value, record.pair.reference.tensor_types):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            waiting.extend(value)
    return found


def _wrongly_listed(record: Record, known: Iterable[tuple[Call, NoGradient]]) -> Iterator[str]:
    reference, changed = record.pair.reference, written_later(record.calls)
    for call, entry in known:
        if entry.kind != "none" or call.slot in changed:
            continue
        # An in-place form returns its operand, which may belong to a graph from before.
        operands = {id(record.expected[ref.slot]) for ref in refs(call)}
        for tensor in tensors_in(record, call.slot):
            if (
                id(tensor) not in operands
                and reference.can_backpropagate(tensor)
                and not reference.holds_gradient(tensor)
            ):
                yield operator_of(record.calls, call.slot)


def _only_listed(operators: Iterable[Call]) -> bool:
    """Return whether all operators are listed as having zero gradients, so that a nonzero one contradicts the list."""
    return are_zero(listed(call.target) for call in operators if base_name(call) not in _NO_OPERATION)


def _nonzero(record: Record) -> bool:
    reference = record.pair.reference
    gradients = [
        reference.gradient(tensor)
        for call in record.calls
        if call.kind == "tensor"
        for tensor in tensors_in(record, call.slot)
        if reference.holds_gradient(tensor)
    ]
    present = [gradient for gradient in gradients if gradient is not None]
    return any(bool(np.any(value.data)) for value in reference.values(present))


def _is_undefined(record: Record, pushes: Iterable[Call]) -> bool:
    """Return whether the reference's backward reached an input and gave it no gradient, as torch's `norm` with ``p=0``.

    Whether both sides give one has been compared.
    """
    reference = record.pair.reference
    waiting = [ref.slot for call in pushes for ref in refs(call._replace(args=call.args[:1], kwargs={}))]
    seen: set[int] = set()
    while waiting:
        slot = waiting.pop()
        if slot in seen:
            continue
        seen.add(slot)
        for tensor in tensors_in(record, slot):
            if not reference.can_backpropagate(tensor):
                continue
            if not reference.holds_gradient(tensor):
                waiting += [ref.slot for ref in refs(record.calls[slot])]
            elif reference.gradient(tensor) is None:
                return True
    return False


def _discarded(record: Record, last: int) -> str:
    """Return the call that discarded the gradients of the backward pass in slot `last` before any use; else ""."""
    if returns_gradients(record.calls[last]):
        return ""
    for call in record.calls[last + 1 :]:
        name = base_name(call)
        if name == "step" or (call.kind == "getattr" and name == "grad" and not _only_wiped(record, call.slot)):
            return ""
        if name == "zero_grad":
            return f"{operator_of(record.calls, call.args[0].slot)}.zero_grad()"
        if call.kind == "setattr" and name == "grad" and call.args[1] is None:
            return ".grad = None"
        if name in _DISCARDS and _is_gradient(record, call):
            return f".grad.{name}()"
    return ""


def _is_gradient(record: Record, call: Call) -> bool:
    owner = first_operand(call)
    return owner is not None and reads_gradient(record.calls[owner.slot])


def _only_wiped(record: Record, slot: int) -> bool:
    """Return whether the gradient in `slot` was read only to be zeroed."""
    readers = [later for later in record.calls if Ref(slot) in set(refs(later))]
    return bool(readers) and all(base_name(later) in _DISCARDS for later in readers)
