"""Shifts the numbers of a program a little, which leaves a failure as it is unless that depends on exact numbers.

Equal numbers, and numbers next to a step of a function, are a matter of their own: sides may choose differently there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from autotest.program import Array, Program
from autotest.program.rewriting import with_arrays
from autotest.program.semantics import cotangent_arrays

#: The number of runs with other shifts in one direction. The larger of equal numbers is the same by chance in some.
_RUNS = 3
#: The greatest shift, relative to numbers above 1. Half precision still tells such numbers apart.
_SHIFT = 2.0**-7


def is_stable(program: Program, fails: Callable[[Program], bool]) -> bool:
    """Return whether `program` fails with all its floating inputs shifted upwards, or with all shifted downwards.

    A number at the edge of the domain of a function, such as zero of a root, can be shifted in one direction only.

    Args:
        program: the failing program.
        fails: returns whether another program fails in the same way.
    """
    return any(all(fails(_shifted(program, run, sign)) for run in range(_RUNS)) for sign in (1.0, -1.0))


def _shifted(program: Program, run: int, sign: float) -> Program:
    random, pushed = np.random.default_rng(run), cotangent_arrays(program)
    arrays = enumerate(program.arrays)
    return with_arrays(program, [one if at in pushed else _moved(one, sign, random) for at, one in arrays])


def _moved(array: Array, sign: float, random: np.random.Generator) -> Array:
    data = array.data
    if data.dtype.kind != "f":
        return array
    amount = sign * random.uniform(_SHIFT / 4, _SHIFT, data.shape)
    with np.errstate(all="ignore"):
        moved = (data + amount * np.maximum(np.abs(data), 1.0)).astype(data.dtype)
    return dataclasses.replace(array, data=np.where(np.isfinite(data) & np.isfinite(moved), moved, data))
