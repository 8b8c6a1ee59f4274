"""Random words from a seed. All random bits are generated here."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
from numpy.random import SFC64
from numpy.random.bit_generator import ISeedSequence

from generators.errors import GeneratorError

Words = np.ndarray[Any, np.dtype[np.uint64]]
HalfWords = np.ndarray[Any, np.dtype[np.uint32]]
SignedHalfWords = np.ndarray[Any, np.dtype[np.int32]]
Places = np.ndarray[Any, np.dtype[np.intp]]
Singles = np.ndarray[Any, np.dtype[np.float32]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]

_WORD, _HALF_WORD = (1 << 64) - 1, (1 << 32) - 1
#: Greatest bound below which an integer is drawn from half a word (32 bits).
_SMALL = 1 << 20
#: Greatest count for which `Bits.some` draws a whole permutation.
_MANY = 64
_THREE_WORDS = struct.Struct("=QQQ")
# Looked up once: NumPy uses a dtype object directly, but looks up the dtype of a scalar type on each call.
_UINT64, _INT64, _UINT32, _INT32, _FLOAT32, _FLOAT64, _PLACE = (
    np.dtype(name) for name in ("uint64", "int64", "uint32", "int32", "float32", "float64", "intp")
)


def _number(value: float, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return `value` as a 0-d array, which NumPy uses directly; it converts a scalar to an array on each call."""
    number = np.array(value, dtype)
    number.setflags(write=False)
    return number


_EIGHT, _INT_EIGHT, _ELEVEN, _THIRTY_TWO = map(_number, (8, 8, 11, 32), (_UINT32, _INT32, _UINT64, _UINT64))
_UNIT32, _SIGNED32, _UNIT64 = map(_number, (2.0**-24, 2.0**-23, 2.0**-53), (_FLOAT32, _FLOAT32, _FLOAT64))


class _Seed(ISeedSequence):
    """Passes three seed words to SFC64 unchanged.

    NumPy's own `SeedSequence` costs 10 microseconds a seed, more than everything else that a trial draws. It is not
    needed: SFC64 runs twelve rounds over its seed words before its first output, which separates neighbouring seeds.
    """

    __slots__ = ("words",)

    def __init__(self, *words: int) -> None:
        self.words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray[Any, Any]:
        # SFC64 requests three words of 64 bits, once. Built from bytes, because `np.array` examines each item.
        return np.frombuffer(_THREE_WORDS.pack(*self.words), _UINT64)


def bit_generator(seed: Any) -> SFC64:
    """Return a generator of words for `seed` (``0 <= seed < 2**128``).

    Raises `GeneratorError` if `seed` is not an integer in this range.
    """
    if not isinstance(seed, int) or not 0 <= seed >> 64 <= _WORD:
        raise GeneratorError(f"seed: expected a whole number from 0 to 2**128 - 1, got {seed!r}")
    return SFC64(_Seed(seed & _WORD, seed >> 64, 0))  # type: ignore[arg-type]  # NumPy's stubs know no other


class Bits:
    """Random arrays made of the words of one 64-bit seed."""

    __slots__ = ("_generator",)

    def __init__(self, seed: int, stream: int = 1) -> None:
        self._generator = SFC64(_Seed(seed & _WORD, 0, stream))  # type: ignore[arg-type]

    def words(self, count: int) -> Words:
        """Return `count` words, uniform over all 64-bit unsigned integers."""
        return self._generator.random_raw(count)

    def half_words(self, count: int) -> HalfWords:
        """Return `count` 32-bit words, at half the cost."""
        return self._generator.random_raw((count + 1) >> 1).view(_UINT32)[:count]

    def signed_half_words(self, count: int) -> SignedHalfWords:
        """Return `count` signed 32-bit words; negative and other words are equally likely."""
        return self._generator.random_raw((count + 1) >> 1).view(_INT32)[:count]

    def unit32(self, count: int) -> Singles:
        """Return `count` float32 values in [0, 1), multiples of 2**-24."""
        values: Singles = (self.half_words(count) >> _EIGHT).astype(_FLOAT32)
        values *= _UNIT32
        return values

    def signed32(self, count: int) -> Singles:
        """Return `count` float32 values in [-1, 1), multiples of 2**-23."""
        values: Singles = (self.signed_half_words(count) >> _INT_EIGHT).astype(_FLOAT32)
        values *= _SIGNED32
        return values

    def unit64(self, count: int) -> Doubles:
        """Return `count` float64 values in [0, 1), multiples of 2**-53."""
        values: Doubles = (self.words(count) >> _ELEVEN).astype(_FLOAT64)
        values *= _UNIT64
        return values

    def below(self, bound: int, count: int) -> Words:
        """Return `count` integers in [0, bound), ``1 <= bound <= 2**64``, as uint64.

        Multiplication and shift are used, so that no draw has to be repeated. The relative error of a value's chance is
        at most bound / 2**32 for bounds up to 2**20, and 2**-32 above.
        """
        if bound <= _SMALL:
            return self.places(bound, count).astype(_UINT64)
        if bound == 1 << 64:
            return self.words(count)
        words = self.words(count)
        # The upper half of the 128-bit product, without carries: ignoring them can only make the result smaller.
        upper, lower = words >> _THIRTY_TWO, words & np.uint64(0xFFFFFFFF)
        high, low = np.uint64(bound >> 32), np.uint64(bound & 0xFFFFFFFF)
        product: Words = upper * high + ((upper * low) >> _THIRTY_TWO) + ((lower * high) >> _THIRTY_TWO)
        return product

    def one_below(self, bound: int) -> int:
        """Return the element of ``below(bound, 1)``, at a tenth of the cost."""
        if bound <= _SMALL:
            return (self._generator.random_raw() & _HALF_WORD) * bound >> 32
        return int(self.below(bound, 1)[0])

    def places(self, bound: int, count: int) -> Places:
        """Return ``below(bound, count)`` as indices into an array of `bound` elements."""
        if bound > _SMALL:
            return self.below(bound, count).astype(_PLACE)
        # In int64: it holds the product, and NumPy multiplies it by a Python int without changing the dtype.
        return (self.half_words(count).astype(_INT64) * bound >> 32).astype(_PLACE, copy=False)

    def order(self, count: int) -> Places:
        """Return a permutation of ``range(count)``; all permutations are equally likely."""
        return self.words(count).argsort(kind="stable")

    def some(self, count: int, most: int) -> Places:
        """Return at most `most` different numbers of ``range(count)``; a long range is sampled at equal steps."""
        if count <= _MANY:
            return self.order(count)[:most]
        # Sorting thousands of words costs more than everything else that is drawn. Steps modulo `count` reach each
        # number once before any repeats if the step and `count` have no common divisor.
        start, step = self.one_below(count), 1 + self.one_below(count - 1)
        while math.gcd(step, count) != 1:
            step += 1
        return (start + step * np.arange(min(most, count), dtype=np.intp)) % count
