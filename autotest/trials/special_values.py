"""Checks whether a difference remains if ordinary numbers replace NaN, infinities and similar values."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from autotest.base.errors import NotReplayable
from autotest.base.settings import Settings
from autotest.comparison import Mismatch, TensorValue
from autotest.frameworks import Pair
from autotest.frameworks.freezing import PLAIN_TYPES, freeze
from autotest.program import Array, Call, Program, refs
from autotest.program.calls import LAYOUT
from autotest.program.isolation import isolated
from autotest.program.rewriting import needed, widened, with_arrays
from autotest.program.semantics import OPERATIONS, is_class
from autotest.recording.observation import compare, observe
from autotest.recording.overwritten import is_kept_copy
from autotest.recording.record import Record
from autotest.recording.special_values import counted_mismatches, has_special_numbers
from autotest.replaying.recorded import record_of
from autotest.replaying.replay import replay, seeded_replay

#: The greatest and the least magnitude of the numbers that ordinary trials draw.
_GREATEST, _LEAST = 1e4, 1e-4
#: The greatest magnitude of integers that take the places of greater ones.
_USUAL = 100
#: A difference that is smaller by this factor in double precision is rounding, which gets smaller by 5e8.
_VANISHES = 100
#: A difference that is greater than the effect of one roundoff in the inputs by this factor is no rounding.
_AMPLIFIED = 100


def mark_special(record: Record, found: Sequence[Mismatch], settings: Settings) -> list[Mismatch]:
    """Mark the mismatches of `found` that only special numbers show, and drop those that do not count.

    Mismatches are judged in order, up to the first one that counts; the failure gets its name from this one. Each call
    is judged on its own, with the reference's operands: a difference that remains with ordinary operands is ordinary.
    Differences computed from a special one are special, too.
    """
    if not any(item.of_numbers for item in found):
        return [*found]
    try:
        program = record.program()
    except NotReplayable:
        return [*found]
    judge = _Judge(program, record, settings)
    marked: list[Mismatch] = []
    for place, item in enumerate(found):
        numeric = item.of_numbers
        marked.append(dataclasses.replace(item, special=judge.is_special(item)) if numeric else item)
        if settings.special_values or not marked[-1].special:
            marked += found[place + 1 :]  # the first one names the failure
            break
    return counted_mismatches(marked, settings)


class _Judge:
    """Judges the mismatches of one program, in their order."""

    def __init__(self, program: Program, record: Record, settings: Settings) -> None:
        self._program, self._record, self._settings = program, record, settings
        #: Slots of calls whose results differ only because of special numbers.
        self._special: set[int] = set()

    def is_special(self, item: Mismatch) -> bool:
        if item.stage == "backward":
            return bool(self._special) or self._gradient_is_special(item)
        earlier = needed(self._program, [item.slot])
        special = bool(self._special & earlier) or self._call_is_special(item)
        if special:
            self._special.add(item.slot)
        return special

    def _call_is_special(self, item: Mismatch) -> bool:
        pair, slot = self._record.pair, item.slot
        if not _computes(self._program.calls[slot]):
            return item.special and self._stays_special(item)  # another call wrote the difference into it
        read = list(dict.fromkeys(ref.slot for ref in refs(self._program.calls[slot])))
        if not item.special and not any(map(_may_be_special, freeze(pair.reference, self._live(read)))):
            return False  # the most common case: ordinary operands, and an ordinary expected number
        before = replay(self._program, pair.reference, upto=slot)
        if before.error is not None:
            return item.special
        held = dict(zip(read, freeze(pair.reference, [before.values[at] for at in read]), strict=True))
        values = {at: value for at, value in held.items() if isinstance(value, (TensorValue, *PLAIN_TYPES))}
        # Great and tiny numbers count as special only in inputs, not in computed values.
        odd = {
            at: value
            for at, value in values.items()
            if type(value) is TensorValue and _may_be_special(value, given=self._is_given(at))
        }
        # All are replaced: alone, the call has the computed ones as inputs, too.
        tensors = {at: value for at, value in values.items() if type(value) is TensorValue}
        for ordinary in (_ordinary, _ordinary_of_same_sign, _ordinary_with_integers):
            others = {at: dataclasses.replace(one, data=ordinary(_array(one)).data) for at, one in tensors.items()}
            alone = isolated(self._program, slot, {**values, **others})[0]
            if any(one.of_numbers and not one.special for one in self._differences(alone)):
                return False
        if any(self._program.calls[at].note == LAYOUT for at in read) and not self._stays_special(item):
            return False  # the isolated call did not have operands with this layout
        return bool(odd) or item.special

    def _live(self, slots: Iterable[int]) -> list[Any]:
        return [self._record.expected[at] for at in slots]

    def _is_given(self, slot: int) -> bool:
        return self._program.calls[slot].kind == "tensor"

    def _gradient_is_special(self, item: Mismatch) -> bool:
        return item.special and self._stays_special(item)

    def _stays_special(self, item: Mismatch) -> bool:
        """Return whether the program has special inputs, and the difference disappears with ordinary ones."""
        program = with_ordinary_numbers(self._program)
        if program is self._program:
            return item.special
        # A function may be wrong for all great numbers. Besides, the numbers may decide a shape, as those of a mask do,
        # so that the program does not run with others. Most masks ask for signs or comparisons, which the greatest
        # ordinary numbers leave as they are.
        programs = (program, with_extreme_ordinary_numbers(self._program))
        return not any(
            one.name == item.name and not one.special for changed in programs for one in self._differences(changed)
        )

    def _differences(self, program: Program) -> Sequence[Mismatch]:
        """Return the mismatches of `program`, without those that are rounding.

        Ordinary numbers that cancel each other differ by rounding, which is not the difference that is judged. Rounding
        nearly vanishes in double precision, as a fault of single precision does, too; but it is not much greater than
        what one roundoff in the inputs changes. All mismatches are returned where a special one would be ignored.
        """
        pair, settings = self._record.pair, self._settings
        found = _differences(program, pair, settings)
        ignored = settings.gives_tolerance or not settings.special_values
        if ignored or not any(one.of_numbers for one in found):
            return found
        wide, places = widened(program)
        runs = _run(wide, pair)
        if runs is None:  # a side has no double precision
            return found
        gaps = {one.at: _gap(one) for one in compare([observe(runs)], settings)[0]}
        left = [
            one
            for one in found
            if not one.of_numbers or gaps.get((places.get(one.slot, -1), one.place), 0.0) >= _gap(one) / _VANISHES
        ]
        if len(left) == len(found):
            return left
        by_roundoff = _changes_by_roundoff(program, pair, settings)
        return [one for one in found if one in left or _gap(one) > _AMPLIFIED * by_roundoff.get(one.at, 0.0)]


def _computes(call: Call) -> bool:
    """Return whether `call` computes its result, so that a difference in it is the call's own."""
    return call.kind in OPERATIONS and not (is_class(call) or is_kept_copy(call))


def _may_be_special(value: Any, *, given: bool = False) -> bool:
    if type(value) is not TensorValue or value.data.dtype.kind not in "fc":
        return False
    return not np.isfinite(value.data).all() or (given and has_special_numbers(Array(value.data, value.dtype)))


def _differences(program: Program, pair: Pair, settings: Settings) -> list[Mismatch]:
    """Return the mismatches of a run of `program` on both sides, or nothing if a side refuses a call."""
    record = _run(program, pair)
    return [] if record is None else compare([observe(record)], settings)[0]


def _run(program: Program, pair: Pair) -> Record | None:
    """Return the record of a run of `program` on both sides, or None if a side refuses a call."""
    sides = [seeded_replay(program, side) for side in pair.frameworks]
    return None if any(side.error is not None for side in sides) else record_of(program, pair, *sides)


def _changes_by_roundoff(program: Program, pair: Pair, settings: Settings) -> dict[tuple[int, str], float]:
    """Return by how much the reference's results in `program` change at most with one roundoff in each input number.

    Results are given by slot and place; those that change less than the tolerance are left out.
    """
    reference = pair.reference
    alone, once = Pair(reference, reference), seeded_replay(program, reference)
    changes: dict[tuple[int, str], float] = {}
    for turn in range(2):
        nudged = with_arrays(program, [_nudged(array, turn) for array in program.arrays])
        again = seeded_replay(nudged, reference)
        if once.error is not None or again.error is not None:
            continue
        for item in compare([observe(record_of(program, alone, once, again))], settings)[0]:
            changes[item.at] = max(changes.get(item.at, 0.0), _gap(item))
    return changes


def _nudged(array: Array, turn: int) -> Array:
    """Return `array` with each number changed by one roundoff, up or down."""
    data = array.data
    if data.dtype.kind != "f":
        return array
    roundoff = 2.0**-7 if array.dtype == "bfloat16" else float(np.finfo(data.dtype).eps)
    signs = np.where(np.random.default_rng(turn).random(data.shape) < 0.5, -1, 1)
    with np.errstate(all="ignore"):
        return dataclasses.replace(array, data=(data * (1 + roundoff * signs)).astype(data.dtype))


def _gap(mismatch: Mismatch) -> float:
    """Return the greatest absolute difference; infinite if there is no such number."""
    return math.inf if mismatch.statistics is None else mismatch.statistics.greatest_abs


def with_ordinary_numbers(program: Program) -> Program:
    """Return `program` with its special input numbers replaced by ordinary ones; itself if it has none."""
    return _with_arrays_changed(program, _ordinary)


def with_extreme_ordinary_numbers(program: Program) -> Program:
    """Return the same, but with the greatest ordinary numbers for great ones, and the least for tiny ones."""
    return _with_arrays_changed(program, _ordinary_of_same_sign)


def _with_arrays_changed(program: Program, change: Callable[[Array], Array]) -> Program:
    arrays = [change(array) for array in program.arrays]
    if all(one is other for one, other in zip(arrays, program.arrays, strict=True)):
        return program
    return with_arrays(program, arrays)


def _array(value: TensorValue) -> Array:
    return Array(value.data, value.dtype)


def _ordinary_of_same_sign(array: Array) -> Array:
    """Return `array` with the greatest and least numbers of ordinary trials in place of infinite, great and tiny ones.

    Other special numbers are replaced as by `_ordinary`. A function may be wrong for all great numbers.
    """
    data = array.data
    if data.dtype.kind == "c":
        return _by_parts(array, _ordinary_of_same_sign)
    if data.dtype.kind != "f" or not has_special_numbers(array):
        return array
    great, tiny = np.abs(data) > _GREATEST, (np.abs(data) < _LEAST) & (data != 0)
    numbers = np.where(great, np.copysign(_GREATEST, data), np.where(tiny, np.copysign(_LEAST, data), data))
    return _ordinary(dataclasses.replace(array, data=numbers.astype(data.dtype)))


def _ordinary(array: Array) -> Array:
    """Return `array` with its special numbers replaced by distinct ordinary ones, from the range of the others."""
    data = array.data
    if data.dtype.kind == "c":
        return _by_parts(array, _ordinary)
    if data.dtype.kind != "f" or not has_special_numbers(array):
        return array
    about = np.finfo(np.float32 if array.dtype == "bfloat16" else data.dtype)
    magnitude = np.abs(data)
    usual = np.isfinite(data) & (magnitude <= np.sqrt(about.max)) & ((magnitude == 0) | (magnitude >= about.tiny))
    low, high = (float(data[usual].min()), float(data[usual].max())) if usual.any() else (0.5, 0.5)
    if low == high:
        high = low + abs(low) / 2 or 1.0
    count = int(np.count_nonzero(~usual))
    instead = low + (high - low) * (np.arange(count) + 1) / (count + 1.5)
    changed = data.copy()
    changed[~usual] = instead.astype(data.dtype)
    return dataclasses.replace(array, data=changed)


def _by_parts(array: Array, ordinary: Callable[[Array], Array]) -> Array:
    """Return `array` of complex numbers with its real and its imaginary parts as `ordinary` returns them."""
    data = array.data
    parts = Array(np.stack([data.real, data.imag]), data.real.dtype.name)
    changed = ordinary(parts)
    if changed is parts:
        return array
    numbers = np.empty_like(data)
    numbers.real, numbers.imag = changed.data
    return dataclasses.replace(array, data=numbers)


def _ordinary_with_integers(array: Array) -> Array:
    """Return the same as `_ordinary`, and of integers none so great that a power or a product of them is infinite."""
    data = array.data
    if data.dtype.kind not in "iu" or not ((data > _GREATEST) | (data < -_GREATEST)).any():
        return _ordinary(array)
    return dataclasses.replace(array, data=np.clip(data, 0 if data.dtype.kind == "u" else -_USUAL, _USUAL))
