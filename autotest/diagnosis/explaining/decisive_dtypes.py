"""Finds the dtype that a failure needs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from autotest.diagnosis.explaining.outcomes import Numbers, ProgramOutcome, holdable, together
from autotest.diagnosis.explaining.paired_numbers import OnInputs
from autotest.program.inputs import Input

#: A function that returns the reference's results with other inputs.
ResultsOn: TypeAlias = Callable[[Iterable[Input]], Sequence[Numbers]]

FLOATING = ("float32", "float64", "float16", "bfloat16")
#: What floats are multiplied by for numbers near them.
_NEARBY = (0.9, 0.75, 0.5)
_WHOLE = ("int64", "int32", "int16", "int8", "uint8")


def dtype_clauses(
    inputs: Sequence[Input], run: OnInputs, results: ResultsOn, named: Collection[str] = ()
) -> Iterator[str]:
    """Yield clauses on the dtypes of `inputs`.

    Args:
        inputs: the inputs.
        run: runs the program with other inputs.
        results: returns the reference's results with other inputs.
        named: what the program names. To inputs of a dtype that it names, a conversion to that dtype does nothing, so
            that they tell nothing of their own dtype.
    """
    for kinds, beyond, kind_name in ((FLOATING, _WHOLE, "floating dtypes"), (_WHOLE, FLOATING, "integers")):
        found = {item.array.dtype for item in inputs if item.array.dtype in kinds}
        if len(found) != 1:
            continue
        own = found.pop()
        others = [kind for kind in kinds[: len(kinds) if kinds is _WHOLE else 2] if kind not in (own, *named)]
        endings = [_ending_as(inputs, own, kind, run, results) for kind in others]
        if together(endings) != "passes" or any(_fails_as(inputs, own, kind, run) for kind in kinds):
            continue
        alone = not any(_fails_as(inputs, own, kind, run) for kind in beyond)
        yield f"only in {own}" if alone else f"only in {own} among {kind_name}"


def kind_clauses(inputs: Sequence[Input], run: OnInputs) -> Iterator[str]:
    """Yield a clause if the failure needs truth values, or integers of any size: with floats, the sides agree.

    Args:
        inputs: the inputs.
        run: runs the program with other inputs.
    """
    found = {item.array.dtype for item in inputs}
    if found == {"bool"}:
        others, text = ("int64", "float32"), "only with truth values"
    elif len(found & {*_WHOLE}) == 1 and found <= {*_WHOLE, *FLOATING}:
        others, text = ("float32", "float64"), "only with integers"
    else:
        return
    taken = [item for item in inputs if item.array.dtype not in FLOATING]

    def ending(change: Callable[[Numbers], Numbers], other: str) -> ProgramOutcome:
        return run([item.with_data(change(item.array.data.astype(np.float64)).astype(other), other) for item in taken])

    # Of truth values, both, as one of them may be what passes.
    changes: list[Callable[[Numbers], Numbers]] = [lambda data: data, lambda data: 1 - data]
    if text != "only with truth values":
        changes += [lambda data: 3 * data + 1, lambda data: data + 0.5, lambda data: -2.5 * data]
    if together([ending(change, other) for other in others for change in changes]) == "passes":
        yield text


def _ending_as(inputs: Sequence[Input], own: str, other: str, run: OnInputs, results: ResultsOn) -> ProgramOutcome:
    """Return how the program ends with the inputs of dtype `own` converted to `other`.

    That it passes tells something of dtypes only if the numbers, and the results, have survived the conversion. Others
    are tried that are in the range of `other` what these are in the range of their own: they may fail there.
    """
    taken = [item for item in inputs if item.array.dtype == own]
    carrier = np.dtype("float32" if other == "bfloat16" else other)
    converted = [data for item in taken for data in _converted(item.array.data, carrier)]
    if len(converted) != len(taken):
        return "neither"
    changed = [item.with_data(data, other) for item, data in zip(taken, converted, strict=True)]
    ending = run(changed)
    if ending != "passes":
        return ending
    for data_in_range in zip(*(_in_the_range_of(carrier, item.array.data) for item in taken), strict=True):
        if run([item.with_data(data, other) for item, data in zip(taken, data_in_range, strict=True)]) == "fails":
            return "fails"
    return "passes" if _alike(results(()), results(changed)) else "neither"


@np.errstate(all="ignore")
def _fails_as(inputs: Sequence[Input], own: str, other: str, run: OnInputs) -> bool:
    """Return whether the program fails with the inputs of dtype `own` converted to `other`, rounded if need be.

    This tells only that the dtype is not needed: that it passes may be due to the rounding.
    """
    if other == own:
        return False
    carrier = np.dtype("float32" if other == "bfloat16" else other)
    changed = []
    for item in inputs:
        if item.array.dtype == own:
            data = np.rint(np.nan_to_num(item.array.data)) if carrier.kind in "iu" else item.array.data
            converted = item.with_data(data.astype(carrier), other)
            changed.append(dataclasses.replace(converted, requires_grad=item.requires_grad and other in FLOATING))
    return run(changed) == "fails"


@np.errstate(all="ignore")
def _converted(data: Numbers, carrier: np.dtype[Any]) -> list[Numbers]:
    """Return `data` in the dtype `carrier`; nothing if that cannot hold its numbers."""
    if carrier.kind in "iu":
        return [data.astype(carrier)] if len(holdable([*data.reshape(-1)], carrier)) == data.size else []
    changed = data.astype(carrier)
    kept = (np.isfinite(changed) == np.isfinite(data)) & ((changed == 0) == (data == 0))
    return [changed] if kept.all() else []


@np.errstate(all="ignore")
def _in_the_range_of(carrier: np.dtype[Any], data: Numbers) -> list[Numbers]:
    """Return numbers that are in the range of `carrier` what `data` are in the range of their own dtype.

    These are powers, for where the failure needs their products to overflow or to be lost; multiples, for where it
    needs that of their exponentials; and fractions, for where the difference is greater nearer to zero: the tolerance
    of another precision may hide it at one number alone.
    """
    if carrier.kind in "iu":
        own, other = np.iinfo(data.dtype), np.iinfo(carrier)
        least = (data == own.min) & (data != 0)
        return [np.where(data == own.max, other.max, np.where(least, other.min, data)).astype(carrier)]
    range_of_own, range_of_other = np.finfo(data.dtype), np.finfo(carrier)
    ratio = math.log(range_of_other.max) / math.log(range_of_own.max)
    size = np.abs(data.astype(np.float64))
    far = (size > math.sqrt(range_of_own.max)) | (size < math.sqrt(range_of_own.tiny))
    least_number = float(range_of_other.tiny * range_of_other.eps)
    powers = np.clip(size**ratio, least_number, float(range_of_other.max))
    powers = np.where(far & np.isfinite(size) & (size != 0), np.copysign(powers, data), data)
    nearby = [(data * factor).astype(carrier) for factor in _NEARBY]
    return [powers.astype(carrier), (data.astype(np.float64) * ratio).astype(carrier), *nearby]


def _alike(own: Sequence[Numbers], other: Sequence[Numbers]) -> bool:
    """Whether the same results are finite."""
    return len(own) == len(other) and all(
        one.shape == two.shape and bool((np.isfinite(one) == np.isfinite(two)).all())
        for one, two in zip(own, other, strict=True)
        if one.dtype.kind in "fc" and two.dtype.kind in "fc"
    )
