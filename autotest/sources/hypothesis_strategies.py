"""Offers generators as Hypothesis strategies, for tests under ``@given`` that call dual functions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import reject, strategies
from hypothesis.strategies import DrawFn, SearchStrategy
from numpy.typing import NDArray

import generators
from generators.code_position import CodePosition, call_site
from generators.errors import is_test_mistake
from generators.strategies import ExternalSource

# Generators are built here on behalf of the test, so their errors name the test's line.
__generators_hide__ = True
# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake


def strategy(generator: generators.Generator) -> SearchStrategy[Any]:
    """Return a Hypothesis strategy for the values of `generator`; Hypothesis shrinks and stores them as its own.

    Raises:
        generators.GeneratorError: `generator` is not a generator.
    """
    if not isinstance(generator, generators.Generator):
        raise generators.GeneratorError(f"strategy({generator!r:.80}): expected a generator")
    return _of_generator(generator)


def arrays(
    ndim: Any = None,
    dim0: Any = None,
    dim1: Any = None,
    dim2: Any = None,
    dim3: Any = None,
    dim4: Any = None,
    low: Any = None,
    high: Any = None,
    dtype: Any = None,
    *,
    shape: Any = None,
    contents: Any = None,
    layout: Any = None,
) -> SearchStrategy[Any]:
    """Return a strategy for ndarrays with the contents of `autotest.random_tensor`; it takes the same arguments.

    bfloat16 values are represented as float32, and arrays of every layout are contiguous.

    Each array is drawn by itself, as Hypothesis does, so that a generator has another value in each of them. What
    several arrays have in common is a shared strategy: ``inner = strategies.shared(strategy(random(1, 8)))``.
    """
    sizes = {f"dim{axis}": size for axis, size in enumerate((dim0, dim1, dim2, dim3, dim4))}
    said = {"ndim": ndim, **sizes, "low": low, "high": high, "dtype": dtype, "shape": shape}
    said |= {"contents": contents, "layout": layout}
    return _of_arrays(call_site())(**{name: value for name, value in said.items() if value is not None})


def _called(name: str) -> Callable[[Callable[..., Any]], Callable[..., SearchStrategy[Any]]]:
    """Return a decorator that makes a strategy, which Hypothesis prints as `name`."""

    def named(function: Callable[..., Any]) -> Callable[..., SearchStrategy[Any]]:
        function.__name__ = name
        return strategies.composite(function)

    return named


@_called("strategy")
def _of_generator(draw: DrawFn, generator: generators.Generator) -> Any:
    with _choices_of(draw):
        return generator.value()


def _of_arrays(where: CodePosition) -> Callable[..., SearchStrategy[Any]]:
    """Return the strategy that `arrays` at the line `where` makes; Hypothesis prints only the test's own arguments."""

    @_called("arrays")
    def drawn(draw: DrawFn, **said: Any) -> Any:
        __generators_place__ = where  # noqa: F841 - read by `call_site`, as this runs long after the test's line did
        dims = [said.pop(f"dim{axis}", None) for axis in range(5)]
        with _choices_of(draw):
            data = generators.explored_array(said.pop("ndim", None), dims, **said).data
        simple = draw(strategies.integers(0, 15))  # the numbers are drawn from a seed, which Hypothesis cannot shrink
        return _simplified(data, simple) if "contents" not in said else data

    return drawn


def _simplified(data: NDArray[Any], simple: int) -> NDArray[Any]:
    """Return `data`; if `simple` is 0 or 1, zeros or rounded values instead, clipped to the range of `data`."""
    if simple > 1 or data.dtype.kind not in "fi" or not data.size or not np.isfinite(data).all():
        return data
    plainer = np.zeros_like(data) if simple == 0 else np.round(data)
    # Of an array without dimensions, NumPy's functions make a number.
    return np.asarray(np.clip(plainer, data.min(), data.max()))


@contextlib.contextmanager
def _choices_of(draw: DrawFn) -> Iterator[None]:
    """Let Hypothesis make the choices. If a filter rejects an example, Hypothesis tries another one."""
    source = ExternalSource(
        lambda low, high: draw(strategies.integers(low, high - 1)),
        lambda low, high: draw(strategies.floats(low, high, exclude_max=True)),
        draw,
    )
    try:
        with generators.using(source):
            yield
    except generators.Unsatisfiable:
        reject()
