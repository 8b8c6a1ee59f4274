"""What is kept of a call that draws random numbers inside its computation, such as dropout."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from autotest.comparison import TensorValue
from autotest.frameworks import Framework
from autotest.program import Call, Ref, refs
from autotest.program.randomness import is_uninitialised


@dataclasses.dataclass(frozen=True, slots=True)
class Mask:
    """The factors by which a call multiplied `operand`, its only tensor operand: zeros, and one other number."""

    operand: Ref
    factors: TensorValue
    #: Whether the call wrote its result into the operand.
    in_place: bool


#: What is kept: a mask if the call is known to have applied one, else the reference's result as it was when the call
#: returned, a `TensorValue`, or a tuple or list of these and None. None if it is unknown or must not be used.
DrawnResult: TypeAlias = Mask | TensorValue | tuple[Any, ...] | list[Any] | None


def drawn_by(call: Call, results: Sequence[Any], reference: Framework) -> DrawnResult:
    """Return what `call` drew.

    None if its result is uninitialised memory, if it wrote into an operand in an unknown way, or if it returned other
    than tensors.

    Args:
        call: the call.
        results: the reference's results of all calls up to this one.
        reference: the reference.
    """
    result, types = results[call.slot], reference.tensor_types
    if is_uninitialised(call.target):
        return None
    if not isinstance(result, types):
        kept: DrawnResult = _frozen(result, reference) if _is_of_tensors(result, types) else None
        return kept
    operands = [ref for ref in refs(call) if isinstance(results[ref.slot], types)]
    after = reference.values([result])[0]
    in_place = any(result is earlier for earlier in results[: call.slot])
    if len(operands) == 1:
        before = results[operands[0].slot]
        # An operand that was overwritten has no old values: any mask with the same zeros serves.
        factors = _factors(after.data if before is result else reference.values([before])[0].data, after.data)
        if factors is not None:
            return Mask(operands[0], TensorValue(factors, after.dtype, after.device, False), in_place)
    return None if in_place else after.copied()


def _is_of_tensors(result: Any, types: Any) -> bool:
    if type(result) in (tuple, list):
        return all(_is_of_tensors(item, types) for item in result)
    return result is None or isinstance(result, types)


def _frozen(result: Any, reference: Framework) -> Any:
    if type(result) in (tuple, list):
        return type(result)(_frozen(item, reference) for item in result)
    return None if result is None else reference.values([result])[0].copied()


def _factors(before: np.ndarray[Any, Any], after: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Return the array of zeros and of one factor by which `before` was multiplied, or None if it was not."""
    if before.shape != after.shape or before.dtype != after.dtype or before.dtype.kind != "f":
        return None
    kept = np.isfinite(before) & np.isfinite(after) & (before != 0) & (after != 0)
    with np.errstate(all="ignore"):
        ratios = after[kept].astype("float64") / before[kept].astype("float64")
    factor = np.median(ratios) if ratios.size else 1.0
    # Half precision has 11 significant bits; smaller numbers than these are subnormal in it.
    exact = np.abs(before[kept]) > 1e-4
    if not np.allclose(ratios[exact], factor, rtol=2**-7, atol=0):
        return None
    return np.where(after == 0, 0, factor).astype(after.dtype)
