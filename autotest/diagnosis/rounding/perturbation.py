"""Changes the inputs of a program by rounding errors."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.base.numpy_warnings import warnings_off
from autotest.diagnosis.rounding.roundoff import ROUNDOFF
from autotest.program import Array
from autotest.program.dtypes import is_differentiable
from generators.dtypes import cast

#: The number of runs with perturbed inputs, an even number: two runs change each input once.
RUNS = 8


def perturbed_in_own_dtype(arrays: Sequence[Array], run: int, roundoffs: float = 4.0) -> list[Array]:
    """Return `arrays` with all elements changed by up to `roundoffs` roundoffs of each array's dtype.

    A number that would become infinite is not changed, as functions may treat infinity in another way.
    """
    moved = []
    for array in arrays:
        other = array
        for half in (2 * run, 2 * run + 1):
            (other,) = perturbed([other], roundoffs * ROUNDOFF.get(array.dtype, 0.0), half)
        with warnings_off():
            data = cast(other.data, array.dtype)
        moved.append(dataclasses.replace(array, data=np.where(np.isfinite(data), data, array.data)))
    return moved


class _Seeded(np.random.bit_generator.ISeedSequence):
    """The numbers that NumPy makes of a seed, made once: for the few seeds of all runs, that takes longest."""

    def __init__(self, seed: tuple[int, ...]) -> None:
        self._seed = seed

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray[Any, Any]:
        return _state(self._seed, n_words, dtype).copy()


def _seeded(*seed: int) -> np.random.Generator:
    # NumPy's annotations lack its own interface for seeds.
    return np.random.Generator(np.random.SFC64(_Seeded(seed)))  # type: ignore[arg-type]


@functools.lru_cache(maxsize=256)
def _state(seed: tuple[int, ...], words: int, dtype: Any) -> np.ndarray[Any, Any]:
    return np.random.SeedSequence(seed).generate_state(words, dtype)


def perturbed(arrays: Sequence[Array], roundoff: float, run: int) -> list[Array]:
    """Return `arrays` in double precision with about half of the floating elements changed by up to `roundoff`.

    Every odd run changes the elements that the run before it left, so that two runs change each element once.

    If the arrays contain NaN or an infinity, elements of 1 or -1 stay as they are: 1 to the power of NaN is 1, but a
    number next to 1 gives NaN, and no rounding error of a program leads there.

    Args:
        arrays: the arrays; those of integers and booleans are returned as they are.
        roundoff: the largest relative change of an element.
        run: the seed of the changes.
    """
    if not arrays:  # as of most calls: to seed random numbers for nothing would take a tenth of a verdict
        return []
    with warnings_off():
        return _perturbed(arrays, roundoff, run)


def _perturbed(arrays: Sequence[Array], roundoff: float, run: int) -> list[Array]:
    random, masks = _seeded(run, 0), _seeded(run // 2, 1)
    special = any(array.data.dtype.kind in "fc" and not np.isfinite(array.data).all() for array in arrays)
    moved = []
    for array in arrays:
        if not is_differentiable(array.dtype):
            moved.append(array)
            continue
        # Both parts of a complex number are rounded.
        parts = array.data[..., None].view(array.data.real.dtype) if array.data.dtype.kind == "c" else array.data
        changed = masks.integers(0, 2, parts.shape) == run % 2
        step = random.uniform(-roundoff, roundoff, parts.shape) * changed
        if special:
            step = np.where(np.abs(parts) == 1, 0.0, step)
        data = np.asarray(parts * (1 + step))  # in double precision
        if array.data.dtype.kind == "c":
            data = np.ascontiguousarray(data).view(np.complex128).reshape(array.data.shape)
        # The greatest numbers stay as they are: one that became infinite would make any result look ill-conditioned.
        finite = np.isfinite(data)
        moved.append(Array(data if finite.all() else np.where(finite, data, array.data), array.dtype))
    return moved
