"""Perturbs the operands of calls in the middle of a program, as rounding errors before these calls would."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from autotest.comparison import TensorValue
from autotest.diagnosis.rounding.perturbation import perturbed
from autotest.frameworks import Framework
from autotest.program import LAYOUT, Array, Program, Ref, refs
from autotest.program.rewriting import with_scaled_operands
from autotest.program.semantics import pushed_pairs, pushes_gradients
from autotest.replaying.agreement import results
from autotest.replaying.replay import Place

#: The factor of each operand, by the slots of the call and of the operand.
Factors: TypeAlias = Mapping[tuple[int, int], Array]
#: The relative change of a result from which on it is not the layout of the operands that changes it.
_CHANGED = 1e-4


def factors(program: Program, calls: Iterable[int], values: Mapping[Place, Any], roundoff: float, run: int) -> Factors:
    """Return factors next to one for the operands of `calls` that are in double precision, and expanded cotangents.

    The elements of an expanded cotangent are rounded one by one as those of any other, but share one input.

    Args:
        program: the program.
        calls: the slots of the calls.
        values: the results of the program.
        roundoff: how far the factors may be from one.
        run: the seed of the factors.
    """
    shapes = {
        (slot, ref.slot): value.data.shape
        for slot in calls
        for ref in refs(program.calls[slot])
        if type(value := _value(program, values, ref.slot)) is TensorValue and value.dtype == "float64"
    }
    shapes |= _expanded_cotangents(program)
    # All at once, as arrays that are perturbed one by one are perturbed in the same way.
    moved = perturbed([Array(np.ones(shape), "float64") for shape in shapes.values()], roundoff, run)
    return dict(zip(shapes, moved, strict=True))


def results_of_scaled(
    program: Program, framework: Framework, scaled: Factors, slots: Collection[int]
) -> dict[Place, Any]:
    """Return the results in `slots` of `program` after each operand of `scaled` was multiplied by its factor."""
    old = {slot: slot for slot in slots}
    for slot in sorted({slot for slot, _ in scaled}, reverse=True):  # earlier calls keep their slots
        of_call = {operand: factor for (at, operand), factor in scaled.items() if at == slot}
        program, places = with_scaled_operands(program, slot, of_call)
        old = {places[at]: first for at, first in old.items()}
    found = results(program, framework, slots=old)
    return {(old[at], path): value for (at, path), value in found.items()}


def can_be_scaled(program: Program, framework: Framework, ones: Factors, values: Mapping[Place, Any]) -> bool:
    """Return whether the program computes the same if its operands are multiplied by the factors `ones`.

    A product is a copy. If an operand shares its memory with the result of the call, as a view does, a later write into
    the result does not reach it any more.

    Args:
        program: the program.
        framework: the reference.
        ones: factors of one for the operands.
        values: the results of the program.
    """
    found = results_of_scaled(program, framework, ones, {slot for slot, _ in values})
    return all(_is_like(value, found.get(place)) for place, value in values.items())


def _expanded_cotangents(program: Program) -> dict[tuple[int, int], tuple[int, ...]]:
    """Return the shape of each cotangent that was drawn as an expanded tensor, by its reader's slot and its own."""
    cotangents = [
        (call.slot, program.calls[cotangent.slot])
        for call in program.calls
        if pushes_gradients(call)
        for _, cotangent in pushed_pairs(call)
        if type(cotangent) is Ref
    ]
    return {
        (slot, made.slot): made.args[1]
        for slot, made in cotangents
        if made[:2] == ("method", "expand") and made.note == LAYOUT
    }


def _is_like(one: Any, other: Any) -> bool:
    if type(one) is not TensorValue or one.dtype != "float64":
        return True
    if type(other) is not TensorValue or other.data.shape != one.data.shape:
        return False
    size = np.abs(one.data[np.isfinite(one.data)]).max(initial=0.0)
    return np.allclose(one.data, other.data, rtol=_CHANGED, atol=_CHANGED * float(size), equal_nan=True)


def _value(program: Program, values: Mapping[Place, Any], slot: int) -> Any:
    # The result of `requires_grad_`, as an expanded input has it, is its operand.
    while (slot, "") not in values and program.calls[slot].target == "requires_grad_":
        slot = program.calls[slot].args[0].slot
    return values.get((slot, ""))
