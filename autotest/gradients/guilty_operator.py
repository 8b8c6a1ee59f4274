"""Finds the operator that makes the gradient of a leaf another one than the derivative."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from autotest.frameworks import Framework
from autotest.gradients.program_function import NotNumeric
from autotest.gradients.programs import check_program
from autotest.program import COTANGENT, LAYOUT, Call, Program, Ref, operator_of
from autotest.program.influence import contributing
from autotest.program.semantics import OPERATIONS, describes, differentiated_slots, pushes_gradients

#: Maximum number of calls that are looked at. Each is checked with all calls before it.
MOST = 100


def guilty_operators(
    program: Program, framework: Framework, inputs: Collection[str], *, order: int, forward: bool
) -> dict[str, str]:
    """Return, for each of `inputs`, the first operator whose result has another derivative by it than autograd says.

    The results before it have the right one, so that this operator is wrong. An input has no entry if no result before
    the program's first backward pass has a wrong derivative by it, or if the program has more than `MOST` calls.

    Args:
        program: a recorded program with a backward pass.
        framework: the framework to run it on.
        inputs: names of the inputs whose rows of `check_program` failed.
        order: 2 to also check gradients of gradients.
        forward: whether to also check forward mode.
    """
    found: dict[str, str] = {}
    calls, last = list(_computing(program)), _root(program)
    for call in calls if len(calls) <= MOST else ():
        wrong = {*inputs} if call.slot == last else _wrong(program, call, framework, order, forward)
        found.update(dict.fromkeys((wrong & {*inputs}) - found.keys(), operator_of(program.calls, call.slot)))
        if len(found) == len(inputs):
            break
    return found


def _computing(program: Program) -> Iterator[Call]:
    """Yield the calls that may compute a tensor for the first backward pass of `program`."""
    push = next(call for call in program.calls if pushes_gradients(call))
    needed = contributing(program, differentiated_slots(push))
    for call in program.calls[: push.slot]:
        if call.slot in needed and call.kind in OPERATIONS and call.note != LAYOUT and not describes(call):
            yield call


def _root(program: Program) -> int | None:
    """Return the call from whose result alone the first backward pass starts; None if anything happens in between.

    The program has been checked, and its check is that of this call: `inputs` are wrong there.
    """
    push = next(call for call in program.calls if pushes_gradients(call))
    roots = {*differentiated_slots(push)}
    between = program.calls[max(roots, default=push.slot) + 1 : push.slot]
    return roots.pop() if len(roots) == 1 and all(call.note in (COTANGENT, LAYOUT) for call in between) else None


def _wrong(program: Program, call: Call, framework: Framework, order: int, forward: bool) -> set[str]:
    """Return the inputs by which the result of `call` has a wrong derivative; none if it has no gradient."""
    backward = Call("function", "autograd.backward", (Ref(call.slot), None), {}, call.slot + 1)
    alone = Program((*program.calls[: call.slot + 1], backward), program.arrays, program.undefined)
    try:
        found = check_program(alone, framework, order=order, forward=forward)[0]
    except NotNumeric:
        return set()
    return {row.input for row in found.rows if not row.passed}
