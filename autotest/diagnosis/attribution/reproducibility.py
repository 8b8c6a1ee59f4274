"""Runs a program again on one framework with other data left in free memory.

A result that differs between the runs is nondeterministic, and therefore no evidence against a side.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autotest.base.allocator import FILLINGS, unwritten_memory
from autotest.comparison import Mismatch, TensorValue
from autotest.comparison.elementwise import agree
from autotest.frameworks import Framework
from autotest.program import Array, Program
from autotest.replaying.agreement import Agreement, results
from autotest.replaying.replay import Place

#: Limits for filling free memory: copies made of each array, the size in bytes up to which an array gets that many
#: copies, and copies in total, so that a program with many sizes gets fewer copies of each.
_COPIES, _SMALL, _IN_ALL = 400, 4096, 3000
#: The number of repetitions of a program, the number for a long program, and the calls above which a program is long.
_AGAIN, _AGAIN_AT_LENGTH, _LONG = 6, 2, 60


def runs_again(
    program: Program,
    framework: Framework,
    slots: Collection[int] | None = None,
    once: Mapping[Place, Any] | None = None,
) -> Iterator[tuple[Mapping[Place, Any], Mapping[Place, Any]]]:
    """Yield the results of `program` on `framework` and those of a repetition, a few times.

    Before each repetition, blocks of memory of the sizes that the program uses are filled with other data and freed.
    Memory that the allocator hands out during the repetition is filled, too. Of a repetition, only the results in
    `slots` are read, or all if that is None. The program does not run for `once`, its results, if they are known.
    """
    if once is None:
        once = results(program, framework)
    for turn in range(_AGAIN if len(program.calls) <= _LONG else _AGAIN_AT_LENGTH):
        _fill_free_memory(program, once, framework, turn)
        with unwritten_memory(FILLINGS[turn % len(FILLINGS)]):
            again = results(program, framework, slots=slots)
        yield once, again


def unrepeatable(found: Sequence[Mismatch], live: Agreement, replayed: Agreement | None = None) -> list[Mismatch]:
    """Return those of the numeric mismatches `found` at which the reference does not agree with itself.

    Either its result changes when the program runs again, or its result differs from the one in the trial, `live`, and
    is now the one that the candidate had there. `replayed` is a replay of the program, if there has been one.
    """
    left, nondeterministic = [*found], []
    trial = live.read()
    known = None if replayed is None else {place: pair[0] for place, pair in replayed.read().items()}
    for once, again in runs_again(live.program, live.record.pair.reference, {item.slot for item in found}, known):
        now = []
        for item in left:
            place = item.at
            expected, actual = trial.get(place, (None, None))
            first = once.get(place)
            if _alike(item, first, again.get(place)) is False or (
                _alike(item, first, expected) is False and _alike(item, first, actual)
            ):
                now.append(item)
        nondeterministic += now
        left = [item for item in left if item not in now]
        if not left:
            break
    return nondeterministic


def _alike(item: Mismatch, one: Any, other: Any) -> bool | None:
    """Return whether two values are within the tolerance of `item`; None if they are not tensors of the same shape."""
    if type(one) is not TensorValue or type(other) is not TensorValue or one.data.shape != other.data.shape:
        return None
    numbers = item.statistics
    rtol, atol = (0.0, 0.0) if numbers is None else (numbers.rtol, numbers.atol)
    return agree(one.data, other.data, rtol, atol)


def _fill_free_memory(program: Program, once: Mapping[Place, Any], framework: Framework, turn: int) -> None:
    """Leave other numbers in the free memory that `program` will use; NaN in every second turn, as 0 times NaN is NaN.

    Blocks as large as each input and each result are filled and freed, because memory that a call does not write keeps
    its old content. The framework itself makes the copies, as it owns the memory. Of small arrays it makes as many
    copies as its allocator may cache.
    """
    written = [value.as_array() for value in once.values() if type(value) is TensorValue]
    like = {(array.data.nbytes, array.dtype): array for array in (*program.arrays, *written)}
    # There are thousands of copies: as calls of a replayed program they would take ten times as long.
    copies: list[Any] = []
    with contextlib.suppress(Exception):  # a framework may lack `clone`; copies made until then are freed anyway
        clone = framework.operation("method", "clone")
        most = min(_COPIES, _IN_ALL // max(len(like), 1))
        for array in like.values():
            made = framework.tensor(_filled(array, turn))
            # With another number of cached blocks, the program gets its memory elsewhere.
            count = most >> turn // 2 * 3 if array.data.nbytes <= _SMALL else 1
            copies += [clone(made) for _ in range(count)]
        framework.synchronize()


def _filled(array: Array, turn: int) -> Array:
    """Return an array of the shape and dtype of `array`, filled with another number."""
    number = math.nan if turn % 2 and array.data.dtype.kind in "fc" else 3 * turn + 1
    return dataclasses.replace(array, data=np.full(array.data.shape, number).astype(array.data.dtype))
