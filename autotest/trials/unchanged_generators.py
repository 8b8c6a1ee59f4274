"""Restores Python's and NumPy's random generators after trials, which seed them, for all other code."""

# ruff: noqa: NPY002 - the generators that bodies of tests may draw from

from __future__ import annotations

import functools
import random

import numpy as np


class UnchangedGenerators:
    """Context manager that restores the state of both generators at its end."""

    __slots__ = ("_bits", "_numpy", "_python")

    def __enter__(self) -> None:
        self._python, self._numpy = random.getstate(), np.random.get_state(legacy=False)
        self._bits = np.random.get_bit_generator()
        np.random.set_bit_generator(_bits_of_trials())

    def __exit__(self, *_: object) -> None:
        random.setstate(self._python)
        np.random.set_bit_generator(self._bits)
        # Trials do not use the saved bit generator, so its state is unchanged. Only the cached second number of a pair
        # of normal numbers must be restored. Setting the state is slow, so it is done only if required.
        if self._numpy["has_gauss"] or self._bits is _bits_of_trials():
            np.random.set_state(self._numpy)


@functools.cache
def _bits_of_trials() -> np.random.MT19937:
    """Return the bit generator of `np.random` during trials, shared with tests that a test body calls."""
    return np.random.MT19937(0)
