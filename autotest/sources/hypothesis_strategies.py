"""Generators as Hypothesis strategies, for tests under ``@given`` that call dual functions."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies
from hypothesis.strategies import DrawFn, SearchStrategy

import generators
from generators.strategies import ChosenElsewhere

# Generators that are built here are the test's doing: their errors name its line.
__generators_hide__ = True


def strategy(generator: generators.Generator) -> SearchStrategy[Any]:
    """The Hypothesis strategy of what `generator` draws: Hypothesis shrinks it and keeps it in its database.

    Raises `generators.GeneratorError` for what is no generator.
    """
    if not isinstance(generator, generators.Generator):
        raise generators.GeneratorError(f"strategy({generator!r:.80}): expected a generator")
    return _drawn(generator.value)


def arrays(*args: Any, **kwargs: Any) -> SearchStrategy[Any]:
    """The strategy of ndarrays as `autotest.random_tensor` fills its tensors with; the same arguments.

    bfloat16 comes as float32. Every layout comes as a contiguous array.
    """
    return _drawn(lambda: generators.explored_array(*args, **kwargs).data)


@strategies.composite
def _drawn(draw: DrawFn, value: Any) -> Any:
    source = ChosenElsewhere(
        lambda low, high: draw(strategies.integers(low, high - 1)),
        lambda low, high: draw(strategies.floats(low, high, exclude_max=True)),
    )
    with generators.using(source):
        return value()
