"""The contents of arrays: which values they have, and how these are drawn."""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Callable
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from generators.annotations import SIZE
from generators.code_position import call_site, location
from generators.core import Generator
from generators.dtypes import COMPLEX, INTEGRAL, Array, cast, float_range, integer_range, numpy_dtype, part_dtype
from generators.entropy import Bits
from generators.errors import BadBounds, GeneratorError, is_test_mistake, nearest
from generators.source import Source
from generators.strategies import as_generator

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake


class Spec(NamedTuple):
    """Description of an array for `array_from`: its values have dtype `dtype` and are in [low, high).

    For a complex dtype, both parts are in [low, high). The bounds are ignored for ``bool``, and for contents that have
    bounds of their own (`one_hot`, `indices` of a given number).
    """

    shape: tuple[int, ...]
    dtype: str
    low: float = 0
    high: float = 1
    contents: Contents = "uniform"


class Filling:
    """Base class of contents with parameters. `fill` must be a pure function."""

    __slots__ = ()

    def fill(self, bits: Bits, spec: Spec) -> Array:
        """Return an array of `spec`'s shape, in the carrier of its dtype, that depends only on `bits` and `spec`."""
        raise NotImplementedError(f"{type(self).__name__} does not define the contents of an array: override fill")

    def children(self) -> tuple[Generator, ...]:
        """Return the parameters that are generators."""
        return ()

    def drawn(self, source: Source) -> Filling:
        """Return the same contents with the drawn values of all parameters that are generators."""
        return self


#: A name from `CONTENTS`, a `Filling`, or a function of the random `Bits` and the `Spec`.
Contents = str | Filling | Callable[[Bits, Spec], Array]


def array_from(spec: Spec, seed: int) -> Array:
    """Return the array that `spec` and the 64-bit `seed` determine. It is writable.

    Raises:
        BadBounds: if `spec` leaves no value to draw.
        GeneratorError: if the contents are not possible in the dtype.
    """
    contents = spec.contents
    if contents == "uniform":  # the most frequent contents, which need no checks
        return uniform(Bits(seed), spec)
    if isinstance(contents, str) and contents in CONTENTS:
        return CONTENTS[contents](Bits(seed), spec)
    values = _filler(contents)(Bits(seed), spec)
    if values.shape != spec.shape or values.dtype != numpy_dtype(spec.dtype):
        raise GeneratorError(
            f"contents={spec.contents!r}: expected shape {spec.shape} and dtype {numpy_dtype(spec.dtype)}, "
            f"got {values.shape} and {values.dtype}"
        )
    return values


def check_contents(contents: Any) -> Contents:
    """Return `contents` if it is valid; raise `GeneratorError` if not."""
    _filler(contents)
    checked: Contents = contents
    return checked


def _filler(contents: Any) -> Callable[[Bits, Spec], Array]:
    if isinstance(contents, Filling):
        return contents.fill
    if isinstance(contents, str) and contents in CONTENTS:
        return CONTENTS[contents]
    if callable(contents) and not isinstance(contents, Generator):
        function: Callable[[Bits, Spec], Array] = contents
        return function
    raise GeneratorError(
        f"contents={contents!r} at {location(call_site())}: expected one of {', '.join(CONTENTS)}, or contents such as "
        f"indices(bound){nearest(contents, CONTENTS)}"
    )


def uniform(bits: Bits, spec: Spec) -> Array:
    """Return uniform values in [low, high): floats in the dtype's precision, integers, or truth values."""
    dtype = spec.dtype
    count = math.prod(spec.shape)
    if dtype == "float32" and spec.high == 1:  # the most frequent bounds, which need no scaling
        if spec.low == 0:
            return bits.unit32(count).reshape(spec.shape)
        if spec.low == -1:
            return bits.signed32(count).reshape(spec.shape)
    if dtype == "bool":
        return (bits.half_words(count) >> np.uint32(31)).astype(np.bool_).reshape(spec.shape)
    if dtype in INTEGRAL:
        first, end = integer_range(dtype, spec.low, spec.high)
        # Added as unsigned words: these wrap around to the right sum if the range is wider than int64.
        drawn = bits.below(end - first, count) + np.uint64(first & 0xFFFFFFFFFFFFFFFF)
        return drawn.astype(numpy_dtype(dtype)).reshape(spec.shape)
    if dtype in COMPLEX:
        parts = uniform(bits, spec._replace(shape=(*spec.shape, 2), dtype=part_dtype(dtype)))
        return np.ascontiguousarray(parts).view(numpy_dtype(dtype)).reshape(spec.shape)
    least, greatest, one, rounded_past = _ends(dtype, spec.low, spec.high)
    unit: np.ndarray[Any, Any] = bits.unit64(count) if dtype == "float64" else bits.unit32(count)
    # A weighted sum of the bounds, because their difference might overflow. In place, because arrays may be large.
    values = one - unit
    values *= least
    unit *= greatest
    values += unit
    values = cast(values, dtype)
    if rounded_past:
        carrier = values.dtype.type
        np.maximum(values, carrier(least), out=values)
        np.minimum(values, carrier(greatest), out=values)
    return values.reshape(spec.shape)


@lru_cache(maxsize=1024)
def _ends(dtype: str, low: float, high: float) -> tuple[Array, Array, Array, bool]:
    """Return the least and greatest number in [low, high) and 1, in the precision that `uniform` computes in.

    The last item is whether rounding may carry the weighted sum of the two ends past one of them. It may not if zero is
    between the ends: each term is then between zero and its own end.
    """
    least, greatest = float_range(dtype, low, high)
    precision = np.float64 if dtype == "float64" else np.float32
    ends = np.array(least, precision), np.array(greatest, precision)
    return *ends, np.array(1, precision), not least < 0 < greatest


def integers(bits: Bits, spec: Spec) -> Array:
    """Return integers in [low, high), also in floating dtypes, where their sums are exact."""
    if spec.dtype == "bool" or spec.dtype in INTEGRAL:
        return uniform(bits, spec)
    if spec.dtype in COMPLEX:
        parts = integers(bits, spec._replace(shape=(*spec.shape, 2), dtype=part_dtype(spec.dtype)))
        return np.ascontiguousarray(parts).view(numpy_dtype(spec.dtype)).reshape(spec.shape)
    least, greatest = float_range(spec.dtype, spec.low, spec.high)
    first, last = math.ceil(least), math.floor(greatest)
    if first > last:
        raise BadBounds(f"expected a whole number in [low, high), but there is none in [{spec.low!r}, {spec.high!r})")
    return cast(uniform(bits, spec._replace(dtype="int64", low=first, high=last + 1)), spec.dtype)


def ordered(bits: Bits, spec: Spec) -> Array:
    """Return uniform values in ascending order along the last dimension."""
    values = uniform(bits, spec)
    return np.sort(values, axis=-1) if values.ndim else values


def one_hot(bits: Bits, spec: Spec) -> Array:
    """Return zeros with a single one at a random position along the last dimension."""
    values = np.zeros(spec.shape, dtype=numpy_dtype(spec.dtype))
    if not spec.shape:
        return np.ones((), dtype=values.dtype)
    if values.size:
        rows = values.reshape(-1, spec.shape[-1])
        rows[np.arange(len(rows)), bits.places(spec.shape[-1], len(rows))] = 1
    return values


def distinct(bits: Bits, spec: Spec) -> Array:
    """Return values that are all different, so that order, maximum and position are unambiguous.

    Raises `BadBounds` if [low, high) does not contain enough values of the dtype.
    """
    count = math.prod(spec.shape)
    if spec.dtype in COMPLEX or spec.dtype == "bool":
        raise GeneratorError(f"contents='distinct': expected a floating or integral dtype, got {spec.dtype}")
    if spec.dtype in INTEGRAL:
        first, end = integer_range(spec.dtype, spec.low, spec.high)
        if end - first < count:
            raise BadBounds(
                f"contents='distinct': expected {count} whole numbers in [low, high), "
                f"but only {end - first} are in [{spec.low!r}, {spec.high!r})"
            )
        if not count:
            return uniform(bits, spec)
        # One value from each of `count` equal parts of the range, in random order. Their start is random too.
        width, rest = divmod(end - first, count)
        offset = (first + bits.one_below(rest + 1)) & 0xFFFFFFFFFFFFFFFF
        # A width of 2**64 is that of a single part, of which no multiple is needed.
        steps = bits.order(count).astype(np.uint64) * np.uint64(width % (1 << 64)) + bits.below(width, count)
        return (steps + np.uint64(offset)).astype(numpy_dtype(spec.dtype)).reshape(spec.shape)
    least, greatest = float_range(spec.dtype, spec.low, spec.high)
    # Only the middle half of each part, so that rounding does not make neighbours equal.
    unit = (bits.order(count) + 0.25 + 0.5 * bits.unit64(count)) / max(count, 1)
    values = cast(np.clip(spec.low * (1.0 - unit) + spec.high * unit, least, greatest), spec.dtype)
    if np.unique(values).size < count:
        raise BadBounds(
            f"contents='distinct': expected {count} values of {spec.dtype} in [{spec.low!r}, {spec.high!r}), "
            "but the range contains fewer; use a wider range or a smaller shape"
        )
    return values.reshape(spec.shape)


@dataclasses.dataclass(frozen=True)
class ties(Filling):
    """Contents of `levels` different values, or fewer if the dtype or the bounds have fewer, so that most are equal."""

    levels: int = 3

    def __post_init__(self) -> None:
        levels: Any = self.levels
        if not isinstance(levels, int) or levels < 1:
            raise GeneratorError(f"ties(levels={self.levels!r}): expected a whole number, at least 1")

    def fill(self, bits: Bits, spec: Spec) -> Array:
        values = uniform(bits, spec._replace(shape=(self.levels,)))
        places = bits.places(self.levels, math.prod(spec.shape))
        repeated: Array = values[places]
        return repeated.reshape(spec.shape)


@dataclasses.dataclass(frozen=True)
class special(Filling):
    """Uniform contents in which a share `rate` of the values, at least one, is replaced by the dtype's edge cases.

    The bounds of an array apply to the uniform values only.

    In floating dtypes these are NaN, both infinities, both zeros, the least and the greatest finite value, the
    smallest normal and the smallest subnormal numbers. In integral dtypes they are the least and the greatest value,
    -1 (unless unsigned), 0 and 1.
    """

    rate: float = 0.25

    def __post_init__(self) -> None:
        rate: Any = self.rate
        if not isinstance(rate, (int, float)) or not 0 <= rate <= 1:
            raise GeneratorError(f"special(rate={self.rate!r}): expected a share from 0 to 1")

    def fill(self, bits: Bits, spec: Spec) -> Array:
        if spec.dtype in COMPLEX:
            parts = self.fill(bits, spec._replace(shape=(*spec.shape, 2), dtype=part_dtype(spec.dtype)))
            return np.ascontiguousarray(parts).view(numpy_dtype(spec.dtype)).reshape(spec.shape)
        values = uniform(bits, spec)
        if spec.dtype == "bool" or not values.size or self.rate == 0:
            return values
        edges = special_values(spec.dtype)
        chosen = bits.unit64(values.size) < self.rate
        if not chosen.any():
            chosen[bits.one_below(values.size)] = True
        flat = values.reshape(-1)
        flat[chosen] = edges[bits.places(len(edges), int(chosen.sum()))]
        return values


@lru_cache(maxsize=16)
def special_values(dtype: str) -> Array:
    """Return the edge cases of a floating or integral `dtype`, in its carrier, as a read-only array."""
    values = _special_values(dtype)
    values.setflags(write=False)
    return values


def _special_values(dtype: str) -> Array:
    carrier = numpy_dtype(dtype)
    if dtype in INTEGRAL:
        limits = np.iinfo(carrier)
        return np.array(sorted({limits.min, max(limits.min, -1), 0, 1, limits.max}), dtype=carrier)
    if dtype == "bfloat16":  # as float32, but with 7 bits of fraction instead of 23
        greatest, normal, subnormal = (2.0 - 2.0**-7) * 2.0**127, 2.0**-126, 2.0**-133
    else:
        about = np.finfo(carrier)
        greatest, normal, subnormal = float(about.max), float(about.tiny), float(about.smallest_subnormal)
    return np.array(
        [math.nan, math.inf, -math.inf, -0.0, 0.0, greatest, -greatest, normal, subnormal, -subnormal], dtype=carrier
    )


@dataclasses.dataclass(frozen=True)
class indices(Filling):
    """Contents of valid indices into a dimension: ``0 <= i < bound``, with `negative` also ``-bound <= i < 0``.

    `bound` is the size of the dimension and may be a generator; without it, the array's own bounds apply: the size is
    `high`, and the indices begin at `low`. The dtype must be integral.
    """

    bound: Any = None
    negative: bool = False

    def children(self) -> tuple[Generator, ...]:
        bound = as_generator(self.bound)
        return (bound,) if isinstance(bound, Generator) else ()

    def drawn(self, source: Source) -> Filling:
        for bound in self.children():
            return dataclasses.replace(self, bound=bound.draw_in(source, SIZE))
        return self

    def fill(self, bits: Bits, spec: Spec) -> Array:
        if spec.dtype not in INTEGRAL:
            raise GeneratorError(f"contents={self!r}: expected an integral dtype, got {spec.dtype}")
        bound: Any = spec.high if self.bound is None else self.bound
        if not isinstance(bound, numbers.Integral) or (bound < 1 and 0 not in spec.shape):
            raise BadBounds(f"contents={self!r}: expected a bound that is a whole number, at least 1, got {bound!r}")
        bound = int(bound)
        low, high = -bound if self.negative else spec.low if self.bound is None else 0, bound
        # If there is nothing to index, there are no indices either, and the bounds do not matter.
        return uniform(bits, spec._replace(low=low, high=high if low < high else low + 1))


CONTENTS: Final = MappingProxyType(
    {
        "uniform": uniform,
        "integers": integers,
        "ties": ties().fill,
        "special": special().fill,
        "sorted": ordered,
        "one_hot": one_hot,
        "indices": indices().fill,
        "distinct": distinct,
    }
)
