"""Appends the gradients of gradients to a program that has run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from autotest.frameworks.recorded_calls import run_call
from autotest.program import COTANGENT, Array, Call, Operand, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.replaying.module_alone import cotangent
from autotest.replaying.replay import Replayed
from autotest.sweeping.backward import differentiable, extended

#: Dtypes with enough digits for a comparison of second derivatives.
_DTYPES: Final = frozenset(("float32", "float64"))


def with_double_gradient(program: Program, expected: Replayed, differentiated: Sequence[int]) -> Program | None:
    """Return `program` with its gradients, computed with ``create_graph=True``, and a backward from these.

    Return None if the reference has no second derivatives. `expected` is the reference's replay of `program`, which has
    no backward; the values of the appended calls are added to it. `differentiated` are the slots of the inputs that
    have a gradient.
    """
    framework = expected.framework
    calls, arrays = list(program.calls), list(program.arrays)
    leaves: list[Operand] = [Ref(slot) for slot in differentiated if program.calls[slot].target in _DTYPES]
    outputs, tensors = differentiable(program, expected, calls)
    if not leaves or not outputs:
        return None
    pushed: list[Operand] = []
    for tensor in tensors:
        arrays.append(cotangent(framework, tensor))
        calls.append(tensor_call(len(calls), len(arrays) - 1, arrays[-1], requires_grad=False, note=COTANGENT))
        pushed.append(Ref(len(calls) - 1))
    first = len(calls)
    calls.append(Call("function", "autograd.grad", (outputs, leaves, pushed), {"create_graph": True}, first))
    once = extended(program, expected, calls, arrays)
    if once is program:
        return None
    given = expected.values[first]
    roots: list[Operand] = []
    seconds: list[Operand] = []
    for index, gradient in enumerate(given):
        if not framework.can_backpropagate(gradient):
            continue
        made, given_arrays = list(calls), [*arrays, cotangent(framework, gradient)]
        made.append(Call("operator", "getitem", (Ref(first), index), {}, len(made)))
        made.append(tensor_call(len(made), len(arrays), given_arrays[-1], requires_grad=False, note=COTANGENT))
        if _depends(made, given_arrays, expected, leaves):
            calls, arrays = made, given_arrays
            roots.append(Ref(len(calls) - 2))
            seconds.append(Ref(len(calls) - 1))
    if not roots:
        return None
    calls.append(Call("function", "autograd.backward", (roots, seconds), {}, len(calls)))
    twice = extended(once, expected, calls, arrays)
    return None if twice is once else twice


def _depends(calls: Sequence[Call], arrays: Sequence[Array], expected: Replayed, leaves: Sequence[Operand]) -> bool:
    """Whether the gradient selected by the second-to-last of `calls` has a derivative other than zero.

    torch sets ``requires_grad`` on most gradients, even on that of a linear function.
    """
    values = list(expected.values)
    pushed: tuple[Operand, ...] = ([Ref(len(calls) - 2)], list(leaves), [Ref(len(calls) - 1)])
    again = Call("function", "autograd.grad", pushed, {"allow_unused": True, "retain_graph": True}, len(calls))
    try:
        for call in [*calls[len(values) :], again]:
            values.append(run_call(call, expected.framework, values, arrays))
    except Exception:  # noqa: BLE001 - torch itself raises if it has no derivative
        return False
    tensors = [value for value in values[-1] if isinstance(value, expected.framework.tensor_types)]
    return any(value.data.any() for value in expected.framework.values(tensors))
