"""Generators of arrays."""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from generators.annotations import INT
from generators.code_position import call_site, location
from generators.contents import Filling, Spec, array_from, check_contents
from generators.core import Annotation, Generator
from generators.dtypes import COMPLEX, INTEGRAL, Array, cast, dtype_name
from generators.entropy import Bits
from generators.errors import BadBounds, GeneratorError, is_test_mistake
from generators.layouts import check_layout, expanded_dim, fitting
from generators.shapes import given_shape, random_shape
from generators.source import Source
from generators.strategies import as_generator

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake


@dataclasses.dataclass(slots=True, eq=False)  # not frozen: there is one per drawn array, and this halves its cost
class Drawn:
    """A drawn array.

    `data` is contiguous, in the carrier of the dtype named `dtype` (float32 for ``bfloat16``). `layout` is the memory
    layout that `lay_out` should give to it; ``"contiguous"`` if its shape allows no other.
    """

    data: Array
    dtype: str
    layout: str = "contiguous"


class random_array(Generator):
    """A generator of arrays, as `Drawn`.

    Arguments other than `allow_zero` may be generators. A function given as `contents` may not use generators.

    Args:
        shape: the sizes, or a generator of them. `ndim` and `dims` are the alternative.
        ndim: the rank, as for `random_shape`.
        dims: the fixed sizes, as for `random_shape`.
        dtype: a name or a Python type, see `dtype_name`.
        low: the least value. In integral dtypes the values are integers, so that the default bounds give zeros.
        high: the bound above all values, itself excluded.
        contents: a name from `CONTENTS`, an object such as ``indices(bound)``, or a function ``(Bits, Spec) -> array``.
        layout: a name from `LAYOUTS`. An expanded array repeats itself along its first dimension longer than 1.
        allow_zero: whether a drawn rank or size may be 0, as for `random_shape`.

    Raises:
        GeneratorError: if an argument is not valid.
        BadBounds: if there is no value between the bounds. Both are raised here for plain arguments. For a generator
            they are raised when it is drawn, with the line that built this object.
    """

    __slots__ = ("_contents", "_dtype", "_high", "_layout", "_low", "_shape", "_where")

    def __init__(
        self,
        shape: Any = None,
        *,
        ndim: Any = None,
        dims: Sequence[Any] | Mapping[int, Any] = (),
        dtype: Any = "float32",
        low: Any = 0,
        high: Any = 1,
        contents: Any = "uniform",
        layout: Any = "contiguous",
        allow_zero: bool = False,
    ) -> None:
        self._where = call_site()
        if shape is None:
            self._shape: Generator = random_shape(ndim, dims, allow_zero=allow_zero)
        elif ndim is not None or dims:
            raise GeneratorError(f"random_array(shape={shape!r}, ...): expected either shape, or ndim and dims")
        else:
            self._shape = given_shape(shape)
        dtype, low, high, contents, layout = map(as_generator, (dtype, low, high, contents, layout))
        self._dtype: Any = dtype if isinstance(dtype, Generator) else dtype_name(dtype)
        self._low = low
        self._high = high
        self._contents: Any = contents if isinstance(contents, Generator) else check_contents(contents)
        self._layout: Any = layout if isinstance(layout, Generator) else check_layout(layout)
        parts = (self._shape, self._dtype, low, high, self._contents, self._layout)
        inner = contents.children() if isinstance(contents, Filling) else ()
        self.children = (*[part for part in parts if isinstance(part, Generator)], *inner)
        if not isinstance(low, Generator) and not isinstance(high, Generator):
            self._check(low, high)

    def _typed_children(self) -> tuple[Generator, ...]:
        return ()  # the type of an array is its dtype, which does not apply to its sizes and bounds

    def _check(self, low: Any, high: Any) -> None:
        try:
            if low < high and math.isfinite(low) and math.isfinite(high):
                return
        except TypeError:
            pass
        raise BadBounds(
            f"random_array(low={low!r}, high={high!r}) at {location(self._where)}: expected finite numbers with low "
            "< high"
        )

    def _draw(self, source: Source, annotation: Annotation) -> Drawn:
        shape, dtype, low, high, contents, layout = (
            self._shape.draw_in(source),
            self._dtype,
            self._low,
            self._high,
            self._contents,
            self._layout,
        )
        if len(self.children) > 1:  # others than the shape
            dtype = dtype_name(dtype.draw_in(source)) if isinstance(dtype, Generator) else dtype
            low = low.draw_in(source) if isinstance(low, Generator) else low
            high = high.draw_in(source) if isinstance(high, Generator) else high
            self._check(low, high)
            contents = check_contents(contents.draw_in(source)) if isinstance(contents, Generator) else contents
            contents = contents.drawn(source) if isinstance(contents, Filling) else contents
            layout = check_layout(layout.draw_in(source)) if isinstance(layout, Generator) else layout
        seed = source.bits()
        try:
            if layout != "contiguous":
                layout = fitting(shape, layout)
                if layout == "expanded":
                    dim = expanded_dim(shape)
                    once = array_from(Spec((*shape[:dim], 1, *shape[dim + 1 :]), dtype, low, high, contents), seed)
                    return Drawn(np.repeat(once, shape[dim], axis=dim), dtype, layout)
            return Drawn(array_from(Spec(shape, dtype, low, high, contents), seed), dtype, layout)
        except GeneratorError as error:
            raise type(error)(f"random_array at {location(self._where)}: {error}") from None

    def __repr__(self) -> str:
        return f"random_array({self._shape!r}, dtype={self._dtype!r})"


class choice_array(Generator):
    """A generator of arrays of elements picked from `a`, as ``numpy.random.choice`` does, as `Drawn`.

    All arguments may be generators.

    Args:
        a: a sequence, a 1-d array, or an int, which stands for ``range(a)``.
        size: the shape of the result, an int, or None for a single element of shape ().
        replace: whether an element may be picked more than once.
        p: the chance of each element, with sum 1; None makes all equally likely.
        dtype: the dtype of the result, see `dtype_name`.

    Raises:
        GeneratorError: if `replace` is no bool, `p` is not valid, there are not enough elements to pick from, or
            `dtype` cannot represent them. For a generator it is raised when it is drawn.
    """

    __slots__ = ("_a", "_dtype", "_p", "_replace", "_shape", "_where")

    def __init__(self, a: Any, size: Any = None, replace: Any = True, p: Any = None, dtype: Any = int) -> None:
        self._where = call_site()
        self._a, self._replace, self._p, self._dtype = given = [*map(as_generator, (a, replace, p, dtype))]
        self._shape = given_shape(() if size is None else size)
        generators = [item for item in given if isinstance(item, Generator)]
        self.children = (*generators, self._shape)
        if not generators:
            self._checked(a, replace, p, dtype)

    def _typed_children(self) -> tuple[Generator, ...]:
        return ()

    def _checked(self, a: Any, replace: Any, p: Any, dtype: Any) -> tuple[Array, bool, Array | None, str]:
        """Return what is picked from, whether repeatedly, the chances, and the name of the dtype, if they are valid."""
        pool, name = _pool(a), dtype_name(dtype)
        if pool.ndim != 1 or not pool.size:
            raise self._bad(f"expected a to be a whole number above 0 or a sequence that is not empty, got {a!r}")
        if not _holds(name, pool):
            raise self._bad(f"expected a dtype that holds what is picked, got {name} for {a!r}")
        if not isinstance(replace, (bool, np.bool_)):
            raise self._bad(f"expected replace to be True or False, got {replace!r}")
        if p is None:
            return pool, bool(replace), None, name
        try:
            chances = np.asarray(p, dtype=np.float64)
        except (TypeError, ValueError):
            chances = np.empty(0)
        valid = chances.shape == pool.shape and (chances >= 0).all() and math.isclose(chances.sum(), 1, abs_tol=1e-8)
        if not valid:
            raise self._bad(f"expected p to be {pool.size} probabilities with sum 1, got {p!r}")
        return pool, bool(replace), chances, name

    def _draw(self, source: Source, annotation: Annotation) -> Drawn:
        pool, replace, p, dtype = self._checked(
            self._a.draw_in(source, INT) if isinstance(self._a, Generator) else self._a,
            *[
                item.draw_in(source) if isinstance(item, Generator) else item
                for item in (self._replace, self._p, self._dtype)
            ],
        )
        shape = self._shape.draw_in(source)
        bits, count = Bits(source.bits()), math.prod(shape)
        if replace:
            if p is None:
                places = bits.places(pool.size, count)
            else:
                steps = np.cumsum(p)
                # Rounding may lead past the last step: then take the last element that has a chance.
                places = np.minimum(
                    np.searchsorted(steps, bits.unit64(count) * steps[-1], side="right"), np.flatnonzero(p)[-1]
                )
        else:
            possible = pool.size if p is None else int(np.count_nonzero(p))
            if count > possible:
                raise self._bad(f"expected {count} or more elements to pick from without replacement, got {possible}")
            # Each element gets an exponential waiting time with rate p; the elements with the shortest times are a
            # weighted sample without replacement (Efraimidis and Spirakis 2006).
            waits = -np.log1p(-bits.unit64(pool.size))
            with np.errstate(divide="ignore", invalid="ignore"):
                waits = waits if p is None else np.where(p > 0, waits / p, np.inf)
            places = np.argsort(waits, kind="stable")[:count]
        picked = pool[places]
        if dtype not in COMPLEX:  # NumPy warns about complex numbers, although all imaginary parts are zero
            picked = picked.real
        return Drawn(cast(picked, dtype).reshape(shape), dtype)

    def _bad(self, why: str) -> GeneratorError:
        return GeneratorError(f"choice_array at {location(self._where)}: {why}")

    def __repr__(self) -> str:
        return f"choice_array({self._a!r}, {self._shape!r}, replace={self._replace!r}, dtype={self._dtype!r})"


def _pool(a: Any) -> Array:
    return np.arange(int(a)) if isinstance(a, numbers.Integral) else np.asarray(a)


def _holds(dtype: str, pool: Array) -> bool:
    """Return whether `dtype` holds the numbers of `pool`: exactly, or rounded if it is floating but not to infinity."""
    if pool.dtype.kind not in "biufcO":
        return False
    if pool.dtype.kind == "c" and dtype not in COMPLEX:
        return not pool.imag.any() and _holds(dtype, pool.real)
    try:
        with np.errstate(all="ignore"):
            held = cast(pool, dtype)
    except (OverflowError, TypeError, ValueError):  # an integer of more than 64 bits, or no numbers
        return False
    if dtype == "bool" or dtype in INTEGRAL:
        return bool((held == pool).all())
    if pool.dtype == object:  # integers of more than 64 bits
        return bool(np.isfinite(held).all())
    return bool((np.isfinite(held) | ~np.isfinite(pool)).all())
