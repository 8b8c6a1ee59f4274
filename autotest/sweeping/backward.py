"""Appends a backward call, with cotangents, to a program that has run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autotest.frameworks.recorded_calls import run_call
from autotest.program import COTANGENT, VIEW, Array, Call, Operand, Program, Ref, refs
from autotest.program.paths import tensors_with_indices
from autotest.program.rewriting import tensor_call
from autotest.program.semantics import is_backward, written
from autotest.replaying.module_alone import cotangent
from autotest.replaying.replay import Replayed, replay


def with_backward(program: Program, expected: Replayed, *, gaps: bool = False) -> Program:
    """Return `program` with a backward call from all of its results that carry a gradient on the reference.

    With `gaps`, the cotangents are not contiguous. `expected` is the reference's replay of `program`; the values of
    the appended calls are added to it. If the reference implements no derivative, `program` stays unchanged, and is
    replayed again.
    """
    framework = expected.framework
    calls, arrays = list(program.calls), list(program.arrays)
    outputs, tensors = differentiable(program, expected, calls)
    if not outputs:
        return program
    cotangents = [_pushed(calls, arrays, cotangent(framework, tensor), gaps=gaps) for tensor in tensors]
    if len(outputs) == 1:
        calls.append(Call("method", "backward", (outputs[0], cotangents[0]), {}, len(calls)))
    else:
        calls.append(Call("function", "autograd.backward", (outputs, cotangents), {}, len(calls)))
    return extended(program, expected, calls, arrays)


def extended(program: Program, expected: Replayed, calls: Sequence[Call], arrays: Sequence[Array]) -> Program:
    """Return `program` with the new `calls`, after running them on the reference; unchanged if it refuses them.

    `expected` is then another replay of `program`: the calls may have accumulated some gradients before one failed.
    """
    values = list(expected.values)
    try:
        for call in calls[len(values) :]:
            values.append(run_call(call, expected.framework, values, arrays))
    except Exception:  # noqa: BLE001 - torch itself raises if it has no derivative
        expected.values = replay(program, expected.framework).values
        return program
    expected.values = values
    return Program(tuple(calls), tuple(arrays), program.undefined)


def differentiable(program: Program, expected: Replayed, calls: list[Call]) -> tuple[list[Operand], list[Any]]:
    """Return the results that carry a gradient, as operands and as tensors; append the calls that the operands need."""
    outputs: list[Operand] = []
    tensors: list[Any] = []
    for slot, path, tensor in results(program, expected):
        if not expected.framework.can_backpropagate(tensor) or slot in program.undefined:
            continue
        if any(tensor is other for other in tensors):
            continue
        at = _written_by(program.calls[slot], tensor, expected) if path == () else slot
        for index in path:
            calls.append(Call("operator", "getitem", (Ref(at), index), {}, len(calls)))
            at = len(calls) - 1
        outputs.append(Ref(at))
        tensors.append(tensor)
    return outputs, tensors


def _written_by(call: Call, tensor: Any, expected: Replayed) -> int:
    """Return the slot of the operand that `call` writes into and returns as `tensor`; its own slot if there is none.

    The operand's slot contains the written values whatever the call returns.
    """
    for ref in written(call):
        if expected.framework.same(tensor, expected.values[ref.slot]):
            return ref.slot
    return call.slot


def _pushed(calls: list[Call], arrays: list[Array], pushed: Array, *, gaps: bool) -> Operand:
    """Append the calls that make a cotangent of `pushed`, and return the operand that refers to it."""
    if gaps and pushed.data.ndim:
        pushed = Array(np.repeat(pushed.data, 2, axis=-1), pushed.dtype)
    arrays.append(pushed)
    calls.append(tensor_call(len(calls), len(arrays) - 1, pushed, requires_grad=False, note=COTANGENT))
    if gaps and pushed.data.ndim:
        every_second = (Ellipsis, slice(None, None, 2))
        calls.append(Call("operator", "getitem", (Ref(len(calls) - 1), every_second), {}, len(calls), VIEW))
    return Ref(len(calls) - 1)


def results(program: Program, ran: Replayed) -> Iterator[tuple[int, tuple[int, ...], Any]]:
    """Yield the tensors that a program returns and does not use itself: slot, path within the value, and tensor."""
    read = {ref.slot for call in program.calls if not is_backward(call) for ref in refs(call)}
    types = ran.framework.tensor_types
    for call, value in zip(program.calls, ran.values, strict=False):
        if call.kind != "tensor" and call.slot not in read and not is_backward(call):
            for path, item in tensors_with_indices(ran.framework.known(value), types):
                if ran.framework.is_tensor(item):  # in another process, it may be the module that `train` returned
                    yield call.slot, path, item
