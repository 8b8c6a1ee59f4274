"""Finds what the numbers of two inputs must be beside each other, and refutes claims on one that hold for that reason.

``y > x`` needs no number in `x`, but if `y` stays what it is, it looks like "x is negative".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from autotest.diagnosis.explaining.outcomes import NumberClaim, Numbers, ProgramOutcome, holdable
from autotest.program.inputs import Input

#: A function that runs the failing program with other inputs and returns how it ends.
OnInputs: TypeAlias = Callable[[Iterable[Input]], ProgramOutcome]

#: Numbers that other inputs are filled with, and one that is added to them.
_FILLED, _ADDED = (-3.0, 3.0, 2.5), 5.0
#: What is added to one of two inputs, so that no number is equal to one of the other any more.
_SHIFTS = (0.25, -0.375)
#: By which part of itself a number is moved, so that it is close to what it was equal to.
_NEXT = (1e-3, 1e-6)
#: What the numbers of other inputs are multiplied by: a failure may need the product, or the distance, of both.
_FACTORS = (0.5, 2.0, 10.0)
#: What no number of `_rising` is. Equal numbers, which others may be filled with, hide what an operator compares.
_OF_NO_RISING_NUMBER = frozenset(("zero", "negative", "zero or negative", "NaN", "infinite", "-0.0", "subnormal"))
#: The claims on numbers which those that are greater by a whole number are not.
_NOT_POSITIVE = frozenset(("zero", "negative", "zero or negative"))
#: The beginnings of claims that a number is great, which smaller numbers in all inputs are not.
_GREAT = ("above", "greater", "at least")
#: The beginning of claims that a number is small, and what is added to numbers that then are not.
_SMALL, _AWAY = "closer", (1, 2, 5)
#: The largest number of contents that are tried with each of the others.
_MOST = 5
#: The kinds of dtypes of two inputs whose numbers are tried in pairs.
_ALIKE = frozenset(("ff", "ii"))
#: The largest number of different numbers that are tried in pairs, and those that are not finite.
_MOST_NUMBERS = 12
_NOT_FINITE = (np.nan, np.inf, -np.inf)
#: Pairs of numbers in rising order.
_RISING = ((1.0, 2.0), (2.0, 40.0), (-7.0, -2.0), (-3.0, 3.0))


@np.errstate(all="ignore")  # of numbers that a dtype cannot hold
def whose(claim: NumberClaim, item: Input, others: Sequence[Input], run: OnInputs) -> Sequence[Input] | None:
    """Return the inputs in which an element must be as `claim` says for that of `item`; None if that proves wrong.

    Args:
        claim: a claim that holds as long as all other inputs stay what they are.
        item: the input whose numbers were varied.
        others: the other inputs.
        run: runs the program with other inputs.
    """
    if _fails_shorter(claim, item, others, run) or _fails_moved(claim, item, others, run):
        return None
    if holds_beside(claim, item, others, run) and not _fails_in_pairs(claim, item, others, run, everywhere=False):
        return [item]
    without = claim.without[:_MOST]
    instead = [*without, *(-one for one in without if claim.either_sign and one.dtype.kind == "f")]
    # No element of any input is now as the claim says.
    everywhere = [
        [item.with_data(data), *(_filled(other, more) for other in others)] for data in without for more in instead
    ]
    if claim.text in _OF_NO_RISING_NUMBER:
        everywhere += [
            [item.with_data(data), *(_rising(other, down=down) for other in others)]
            for data in without
            for down in (False, True)
        ]
    if claim.text.startswith(_GREAT):
        everywhere += [[item.with_data(data), *scaled(numeric(others), _FACTORS[0])] for data in without]
    if claim.text.startswith(_SMALL):
        moved = [[other.with_data(other.array.data + shift) for other in numeric(others)] for shift in _AWAY]
        everywhere += [[item.with_data(data), *more] for data in without for more in moved]
    refuted = _fails(everywhere, run) or _fails_in_pairs(claim, item, others, run, everywhere=True)
    return None if refuted else [item, *others]


def _fails_moved(claim: NumberClaim, item: Input, others: Sequence[Input], run: OnInputs) -> bool:
    """Whether a number that is zero or negative need not be: the failure may be about differences, or about an index.

    All inputs are moved by one whole number, and indices by one place of what they may be about.
    """
    own = item.array.data
    if claim.text not in _NOT_POSITIVE or not own.size or not np.isfinite(own).all():
        return False
    shift = 1 - int(np.floor(own.min()))
    inputs = [item, *numeric(others)]
    moved = [one.array.data.astype(np.float64) + shift for one in inputs]
    together = [
        one.with_data(data.astype(one.array.data.dtype))
        for one, data in zip(inputs, moved, strict=True)
        if len(holdable([float(data.min()), float(data.max())], one.array.data.dtype)) == 2
    ]
    if len(together) == len(inputs) > 1 and run(together) == "fails":
        return True
    if own.dtype.kind != "i":
        return False
    for size in {size for other in others for size in other.array.data.shape}:
        places = np.where(own < 0, own + size, own)
        grown = [other.with_size(size, size + 1) for other in others if size in other.array.data.shape]
        if places.min() >= 0 and run([item.with_data((places + 1).astype(own.dtype)), *grown]) == "fails":
            return True
    return False


def _fails_shorter(claim: NumberClaim, item: Input, others: Sequence[Input], run: OnInputs) -> bool:
    """Whether smaller indices show the failure, too, if the other inputs have fewer elements to be indexed.

    An index may have to be the last one, whatever number that is.
    """
    own = item.array.data
    if own.dtype.kind not in "iu" or not own.size:
        return False
    count = int(own.max()) + 1
    for data in claim.without[:_MOST]:
        fewer = int(data.max()) + 1
        cut = [other.with_size(count, fewer) for other in others if count in other.array.data.shape]
        if cut and 0 < fewer < count and run([item.with_data(data), *cut]) == "fails":
            return True
    return False


@np.errstate(all="ignore")  # of numbers that a dtype cannot hold
def _fails_in_pairs(
    claim: NumberClaim, item: Input, others: Sequence[Input], run: OnInputs, *, everywhere: bool
) -> bool:
    """Whether the failure shows on pairs of numbers of which the first is not what `claim` says.

    A relation such as ``x == 2 * y`` needs no number, but looks so while one of both stays what it is. All pairs are
    tried in one run, as elements of longer inputs, which many operators on single numbers and vectors take.

    Args:
        claim: the claim on a number of `item`.
        item: the input.
        others: the other inputs. Each is tried beside `item`, while further ones have one number everywhere.
        run: runs the program with other inputs.
        everywhere: whether the numbers of other inputs may not be what `claim` says, either.
    """
    own = item.array.data
    kinds = {own.dtype.kind + other.array.data.dtype.kind for other in others}
    alike = own.ndim <= 1 and own.size and all(other.array.data.shape == own.shape for other in others)
    if not claim.without or not alike or not kinds <= _ALIKE:
        return False
    given = np.unique(np.concatenate([np.ravel(one) for one in claim.without]))[:_MOST_NUMBERS]
    for other in others:
        shown = np.unique(np.concatenate([given, np.ravel(own), np.ravel(other.array.data)]).astype(np.float64))
        near = np.concatenate([shown, -shown, shown - 1, shown + 1, shown * 2, shown / 2])
        first, second = (_held(near, one) for one in (item, other))
        if not np.isfinite(own).all():
            second = np.concatenate([second, np.array(_NOT_FINITE, second.dtype)])
        first = np.concatenate([_held(given, item), claim.lacking(first)])
        second = np.concatenate([_held(given, other), claim.lacking(second)]) if everywhere else second
        mesh = [one.reshape(-1) for one in np.meshgrid(np.unique(first), np.unique(second))]
        changed = [item.with_data(mesh[0]), other.with_data(mesh[1])]
        for further in (one for one in others if one is not other):
            number = _held(given, further)[:1] if everywhere else np.ravel(further.array.data)[:1]
            changed.append(further.with_data(np.resize(number, mesh[0].shape)))
        if all(one.array.data.size == mesh[0].size for one in changed) and run(changed) == "fails":
            return True
    return False


def _held(numbers: Numbers, item: Input) -> Numbers:
    """Return the finite ones of `numbers` in the dtype of `item`, without those that it cannot hold."""
    dtype = item.array.data.dtype
    most = float(np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max)
    return numbers[np.abs(numbers.astype(np.float64)) < most].astype(dtype)


@np.errstate(all="ignore")  # of numbers that a dtype cannot hold
def holds_beside(claim: NumberClaim, item: Input, others: Sequence[Input], run: OnInputs) -> bool:
    """Whether `claim` on `item` also holds beside other numbers in `others`."""
    beside = [*_beside(item, others)]
    for data in claim.without[:_MOST]:
        alike = [[_filled(other, numbers) for other in others] for numbers in (data, -data)] if others else []
        if _fails([[item.with_data(data), *more] for more in (*beside, *alike)], run):
            return False
    return True


def needs_equal_inputs(one: Input, two: Input, run: OnInputs) -> bool:
    """Whether the failure needs equal numbers in both inputs, for any numbers."""
    if one.array.data.dtype.kind == "b" or two.array.data.dtype.kind == "b":
        return False
    if not np.isin(one.array.data, two.array.data, kind="sort").any():
        return False  # they only lie close to each other
    up = [item.with_data(item.array.data + 1) for item in (one, two)]
    if run(up) != "fails" or not run(up[:1]) == run(up[1:]) == "passes":
        return False
    floating = [item for item in (one, two) if item.array.data.dtype.kind == "f"]
    moved = [[item.with_data(item.array.data + shift)] for item in floating for shift in _SHIFTS]
    return not _fails([*moved, *([one] for item in floating for one in _beside_itself(item))], run)


def _beside_itself(item: Input) -> Iterator[Input]:
    """Yield `item` with each number moved by a small part of it, if its dtype can hold the difference."""
    data = item.array.data
    for part in _NEXT:
        near = (data + part * (np.abs(data) + part)).astype(data.dtype)
        if item.array.dtype != "bfloat16" and (near != data).all():
            yield item.with_data(near)


def order_needed(one: Input, two: Input, run: OnInputs) -> str:
    """Return how the numbers of `one` must lie to those of `two`, for any numbers: "less than"; "" if need not be."""
    first, second = one.array.data, two.array.data
    if first.shape != second.shape or not first.size or {first.dtype.kind, second.dtype.kind} - {*"fi"}:
        return ""
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return ""

    def all_end(ending: ProgramOutcome, pairs: Sequence[tuple[float, float]]) -> bool:
        filled = ([_full(item, value) for item, value in zip((one, two), pair, strict=True)] for pair in pairs)
        return all(run(changed) == ending for changed in filled)

    dtypes = (first.dtype, second.dtype)
    rising = [pair for pair in _RISING if all(_can_hold(dtype, value) for dtype in dtypes for value in pair)]
    falling, equal = [(high, low) for low, high in rising], [(low, low) for low, _ in rising]
    for strict, weak, shown, hidden in (
        ("less than", "at most", rising, falling),
        ("greater than", "at least", falling, rising),
    ):
        if all_end("fails", shown) and all_end("passes", hidden):
            return strict if all_end("passes", equal) else weak if all_end("fails", equal) else ""
    return ""


def _fails(variants: Iterable[Sequence[Input]], run: OnInputs) -> bool:
    return any(run(variant) == "fails" for variant in variants)


def _beside(item: Input, others: Sequence[Input]) -> Iterable[list[Input]]:
    """Yield other contents of `others`: ordinary numbers, greater ones, multiples, and those of `item`."""
    varied = numeric(others)
    if not varied:
        return
    own = item.array.data
    extremes = [*{float(own.min()), float(own.max())}] if own.size and own.dtype.kind in "fiu" else []
    for value in dict.fromkeys((*_FILLED, *extremes)):
        if all(_can_hold(other.array.data.dtype, value) for other in varied):
            yield [_full(other, value) for other in varied]
    floating = [other for other in varied if other.array.data.dtype.kind == "f"]
    if floating:  # what is the greatest number of some is then the least one, and what is first is last
        yield [other.with_data(-other.array.data) for other in floating]
        yield [other.with_data(np.ascontiguousarray(np.flip(other.array.data))) for other in floating]
    if len(floating) > 1:  # the signs of two of three inputs may have to be the same
        yield from ([other.with_data(-other.array.data)] for other in floating)
    yield from filter(None, (scaled(varied, factor) for factor in _FACTORS))
    if all(_can_hold(other.array.data.dtype, float(other.array.data.max()) + _ADDED) for other in varied):
        yield [other.with_data(other.array.data + np.asarray(_ADDED, other.array.data.dtype)) for other in varied]


def numeric(inputs: Sequence[Input]) -> list[Input]:
    """Return those of `inputs` that have numbers: no truth values, and at least one element."""
    return [item for item in inputs if item.array.data.dtype.kind in "fiu" and item.array.data.size]


def scaled(items: Sequence[Input], factor: float) -> list[Input]:
    """Return `items` with their numbers multiplied by `factor`; nothing if a dtype cannot hold one of these."""
    found = []
    for item in items:
        data = item.array.data * factor
        data = data if item.array.data.dtype.kind == "f" else np.trunc(data)
        if not all(_can_hold(item.array.data.dtype, float(edge)) for edge in (data.min(), data.max())):
            return []
        found.append(item.with_data(data.astype(item.array.data.dtype)))
    return found


def _can_hold(dtype: np.dtype[Any], value: float) -> bool:
    return bool(holdable([value], dtype)) if np.isfinite(value) else dtype.kind == "f"


def _full(item: Input, value: float) -> Input:
    data = item.array.data
    return item.with_data(np.full(data.shape, value).astype(data.dtype))


def _rising(item: Input, *, down: bool) -> Input:
    """Return `item` with different numbers from 1 on, in rising or in falling order."""
    data = item.array.data
    numbers = (1 + np.arange(data.size)).reshape(data.shape).astype(data.dtype)
    return (
        item.with_data(np.ascontiguousarray(np.flip(numbers)) if down else numbers) if data.dtype.kind == "f" else item
    )


def _filled(item: Input, numbers: Numbers) -> Input:
    """Return `item` with as many of `numbers` as it has elements, over and over."""
    data = item.array.data
    return item.with_data(np.resize(numbers, data.shape).astype(data.dtype)) if data.dtype.kind in "fiu" else item
