"""Runs a program again on one framework, after other things lay in its memory: what differs then is no evidence."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autotest.base.allocator import FILLINGS, unwritten_memory
from autotest.comparison import Mismatch, TensorValue
from autotest.comparison.elementwise import agree
from autotest.diagnosis.agreement import Agreement, Place, place_of, results
from autotest.frameworks import Framework
from autotest.program import Array, Program

#: Tensors of the size of each input that memory is filled with, bytes of one that has so many, and tensors in all: of a
#: program of many sizes, fewer of each.
_COPIES, _SMALL, _IN_ALL = 400, 4096, 3000
#: How often a program is run again, and one of more calls than that.
_AGAIN, _AGAIN_AT_LENGTH, _LONG = 6, 2, 60


def runs_again(program: Program, framework: Framework) -> Iterator[tuple[Mapping[Place, Any], Mapping[Place, Any]]]:
    """What `framework` gives for `program`, and what it gives when it runs it again, a few times.

    In between, memory of the sizes that the program uses and gives is filled with something else, and so is what the
    allocator hands out meanwhile.
    """
    once = results(program, framework)
    for turn in range(_AGAIN if len(program.calls) <= _LONG else _AGAIN_AT_LENGTH):
        _stir(program, once, framework, turn)
        with unwritten_memory(FILLINGS[turn % len(FILLINGS)]):
            again = results(program, framework)
        yield once, again


def unrepeatable(found: Sequence[Mismatch], live: Agreement) -> list[Mismatch]:
    """Those of `found`, all of them of numbers, at which the reference does not agree with itself.

    It gives something else when it runs the program again; or it gave something else in the trial, which is `live`, and
    gives what the candidate gave there when it runs again.
    """
    left, wavering = [*found], []
    trial = live.read()
    for once, again in runs_again(live.program, live.record.pair.reference):
        now = []
        for item in left:
            place = place_of(item)
            expected, actual = trial.get(place, (None, None))
            first = once.get(place)
            if _alike(item, first, again.get(place)) is False or (
                _alike(item, first, expected) is False and _alike(item, first, actual)
            ):
                now.append(item)
        wavering += now
        left = [item for item in left if item not in now]
        if not left:
            break
    return wavering


def _alike(item: Mismatch, one: Any, other: Any) -> bool | None:
    """Whether two values at the place of `item` are as close as is tolerated there; None where that makes no sense."""
    if type(one) is not TensorValue or type(other) is not TensorValue or one.data.shape != other.data.shape:
        return None
    numbers = item.statistics
    rtol, atol = (0.0, 0.0) if numbers is None else (numbers.rtol, numbers.atol)
    return agree(one.data, other.data, rtol, atol)


def _stir(program: Program, once: Mapping[Place, Any], framework: Framework, turn: int) -> None:
    """Leave other numbers behind where `program` is to run: NaN by turns, since nothing times that is not nothing.

    As much memory as each input and each result takes is filled and let go, for what a call leaves unwritten holds what
    lay there before. Copies are made by the framework itself, whose memory it is, and of small ones as many as its
    allocator may keep for later.
    """
    written = [value.as_array() for value in once.values() if type(value) is TensorValue]
    like = {(array.data.nbytes, array.dtype): array for array in (*program.arrays, *written)}
    # Thousands of copies, which as calls of a program that is replayed would take ten times as long.
    copies: list[Any] = []
    with contextlib.suppress(Exception):  # of a framework without: what is held by then is let go all the same
        clone = framework.operation("method", "clone")
        most = min(_COPIES, _IN_ALL // max(len(like), 1))
        for array in like.values():
            made = framework.tensor(_filled(array, turn))
            # Behind fewer copies the program finds its memory elsewhere.
            count = most >> turn // 2 * 3 if array.data.nbytes <= _SMALL else 1
            copies += [clone(made) for _ in range(count)]
        framework.synchronize()


def _filled(array: Array, turn: int) -> Array:
    """An array like `array` of other numbers."""
    number = math.nan if turn % 2 and array.data.dtype.kind in "fc" else 3 * turn + 1
    return dataclasses.replace(array, data=np.full(array.data.shape, number).astype(array.data.dtype))


__all__ = ["runs_again", "unrepeatable"]
