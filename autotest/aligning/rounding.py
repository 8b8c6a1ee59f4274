"""Decides whether rounding explains how far two models in single precision are from each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autotest.aligning.comparing import Differing, compare_step
from autotest.aligning.port import Port
from autotest.aligning.running import Training, TrainingStep, run
from autotest.base.settings import Tolerance
from autotest.comparison import TensorValue
from autotest.comparison.elementwise import distance
from autotest.program import Array
from autotest.program.dtypes import is_floating

#: Unit roundoff of single precision.
_ROUNDOFF = 2.0**-24
#: The candidate may be this many times as far from double precision as rounding moves the reference. Both sum the same
#: terms with the same weights, in another order and by other kernels, so that their errors are of one magnitude.
_MARGIN = 64.0
#: Number of runs with weights and inputs that are off by a roundoff. A ReLU at zero switches in half of them.
_RUNS = 6
_EXACT = Tolerance(0.0, 0.0)


def beyond_rounding(single: Differing, wide: Port, training: Training, inputs: Sequence[Array], step: int) -> set[str]:
    """Return the names of the values in which the candidate's error is larger than rounding explains.

    The truth is the reference's run in double precision. Rounding explains the error of the reference itself, and the
    change of the truth when all weights and inputs change by one roundoff, both times `_MARGIN`.

    Args:
        single: the values that differ in single precision.
        wide: the models in double precision, with the initial weights. They are not changed.
        training: how the models are trained.
        inputs: the inputs in double precision.
        step: the number of the step that differs.
    """
    truth = _step(wide, training, inputs, step, None)
    spread: dict[tuple[str, int], float] = {}
    true_values: dict[tuple[str, int], Any] = {}
    for seed in range(_RUNS):
        moved = _step(wide, training, inputs, step, np.random.default_rng(seed))
        for place, (one, other) in compare_step(truth, moved, wide.of_the_reference(), _EXACT).differing.items():
            true_values[place] = one
            spread[place] = max(spread.get(place, 0.0), _farthest(one, other))
    found = set()
    for place, (own, other) in single.items():
        # A value that no roundoff of the weights and inputs changes is exact.
        true = true_values.get(place, own)
        explained = max(_farthest(true, own), spread.get(place, 0.0), _ROUNDOFF * _greatest(true))
        if not _farthest(true, other) <= _MARGIN * explained:
            found.add(place[0])
    return found


def _step(
    wide: Port, training: Training, inputs: Sequence[Array], step: int, roundoff: np.random.Generator | None
) -> TrainingStep:
    """Return one step of a copy of the reference's model, whose weights and inputs are off by `roundoff`, if given."""
    framework = wide.pair.reference
    model = framework.invoke("builtin", "deepcopy", [wide.models[0]], {})
    if roundoff is not None:
        state = framework.state(model)
        values = dict(zip(state, framework.values([*state.values()]), strict=True))
        framework.load_state(model, {name: _moved(value.as_array(), roundoff) for name, value in values.items()})
        inputs = [_moved(array, roundoff) for array in inputs]
    return next(itertools.islice(run(framework, wide.pair.sides[0], model, inputs, training), step, None))


def _moved(array: Array, roundoff: np.random.Generator) -> Array:
    if not is_floating(array.dtype):
        return array
    return Array(array.data * (1 + _ROUNDOFF * roundoff.uniform(-1, 1, array.data.shape)), array.dtype)


def _farthest(one: Any, other: Any) -> float:
    gaps = [distance(*both).max(initial=0.0) for both in zip(_arrays(one), _arrays(other), strict=False)]
    return float(max(gaps, default=0.0))


def _greatest(value: Any) -> float:
    sizes = [np.abs(array[np.isfinite(array)]).max(initial=0.0) for array in _arrays(value)]
    return float(max(sizes, default=0.0))


def _arrays(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    for item in value if isinstance(value, (tuple, list)) else [value]:
        if isinstance(item, TensorValue):
            yield item.data.astype(np.complex128 if item.data.dtype.kind == "c" else np.float64)
        elif isinstance(item, (bool, int, float, complex)):
            yield np.asarray(item, dtype=np.complex128 if isinstance(item, complex) else np.float64)
