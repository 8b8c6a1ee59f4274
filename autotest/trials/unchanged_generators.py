"""Trials seed Python's and NumPy's own generators; whoever else draws from them goes on where they were."""

# ruff: noqa: NPY002 - the generators that bodies of tests may draw from

from __future__ import annotations

import functools
import random

import numpy as np


class UnchangedGenerators:
    """After the block both are as they were before it."""

    __slots__ = ("_bits", "_numpy", "_python")

    def __enter__(self) -> None:
        self._python, self._numpy = random.getstate(), np.random.get_state(legacy=False)
        self._bits = np.random.get_bit_generator()
        np.random.set_bit_generator(_bits_of_trials())

    def __exit__(self, *_: object) -> None:
        random.setstate(self._python)
        np.random.set_bit_generator(self._bits)
        # What was aside is as it was, but for the second of two normal numbers, which are drawn at once. To set a
        # state takes long.
        if self._numpy["has_gauss"] or self._bits is _bits_of_trials():
            np.random.set_state(self._numpy)


@functools.cache
def _bits_of_trials() -> np.random.MT19937:
    """What trials seed, and draw from through `np.random`; those of a test that another one's body calls do, too."""
    return np.random.MT19937(0)


__all__ = ["UnchangedGenerators"]
