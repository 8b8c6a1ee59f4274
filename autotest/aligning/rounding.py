"""Decides whether rounding explains how far two models in single precision are from each other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.aligning.comparing import Differing, NumberedName, values_by_name
from autotest.aligning.port import Port
from autotest.aligning.running import Training, TrainingStep, run
from autotest.comparison.elementwise import Values, distance
from autotest.diagnosis.rounding.double_precision import as_array
from autotest.diagnosis.rounding.perturbation import RUNS, perturbed
from autotest.diagnosis.rounding.roundoff import ROUNDOFF
from autotest.program import Array
from autotest.program.paths import is_gradient

#: Unit roundoff of single precision.
_ROUNDOFF = ROUNDOFF["float32"]
#: The candidate may be this many times as far from double precision as rounding moves the reference. Both sum the same
#: terms with the same weights, in another order and by other kernels, so that their errors are of one magnitude.
_MARGIN = 64.0


def beyond_rounding(single: Differing, wide: Port, training: Training, inputs: Sequence[Array], step: int) -> set[str]:
    """Return the names of the values in which the candidate's error is larger than rounding explains.

    The truth is the reference's run in double precision. Rounding explains `_MARGIN` times the error of the reference
    itself, and the change of the truth when all weights and inputs change by `_MARGIN` roundoffs. At a jump, such as
    the sign of a gradient that Adam follows, this is the jump, which a change by one roundoff may not reach. Each value
    has its own bound, as an output of great numbers says nothing about another one.

    Args:
        single: the values that differ in single precision.
        wide: the models in double precision, with the initial weights. They are not changed.
        training: how the models are trained.
        inputs: the inputs in double precision.
        step: the number of the step that differs.
    """
    framework, model = wide.pair.reference, _copy(wide)
    true_step = _step(wide, model, training, inputs, step)
    cancelled = _MARGIN * _ROUNDOFF * _greatest_gradient(true_step)
    moves = {place: cancelled if is_gradient(place[0]) else 0.0 for place in single}
    truth = _arrays(single, true_step)
    del true_step
    for number in range(RUNS):
        model = _copy(wide)
        state = framework.state(model)
        weights = [value.as_array() for value in framework.values([*state.values()])]
        arrays = perturbed([*weights, *inputs], _MARGIN * _ROUNDOFF, number)
        framework.load_state(model, dict(zip(state, arrays, strict=False)))
        moved = _arrays(single, _step(wide, model, training, arrays[len(weights) :], step))
        for place, one in truth.items():
            other = moved.get(place)
            gap = np.inf if other is None or one.shape != other.shape else distance(one, other).max(initial=0.0)
            moves[place] = max(moves[place], float(gap))
    return {
        place[0]
        for place, (own, other) in single.items()
        if not _explains(truth.get(place), as_array(own), as_array(other), moves[place])
    }


def _explains(true: Values | None, own: Values | None, other: Values | None, move: float) -> bool:
    """Whether rounding explains the error of `other`, the candidate's value, by that of `own`, the reference's."""
    if true is None or own is None or other is None or not true.shape == own.shape == other.shape:
        return False
    own_error, error = distance(true, own), distance(true, other)
    # Where the reference overflows, nothing is known of its rounding. This explains no error elsewhere.
    overflow = ~np.isfinite(own_error)
    rounding = max(float(own_error[~overflow].max(initial=0.0)), _ROUNDOFF * _greatest(true))
    return bool((overflow | (error <= max(_MARGIN * rounding, move))).all())


def _greatest_gradient(step: TrainingStep) -> float:
    """Return the greatest number in the gradients of `step`.

    The terms of a gradient may be as great and cancel: that of a bias before a batch norm is zero for any weights and
    inputs. In single precision, their rounding is left of it.
    """
    gradients = [*step.gradients.values(), *step.input_gradients]
    return max((_greatest(value.data) for value in gradients if value is not None), default=0.0)


def _greatest(values: Values) -> float:
    """Return the greatest finite magnitude; 0 for integers, which are exact."""
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) if values.dtype.kind in "fc" else 0.0


def _copy(wide: Port) -> Any:
    return wide.pair.reference.invoke("builtin", "deepcopy", [wide.models[0]], {})


def _step(wide: Port, model: Any, training: Training, inputs: Sequence[Array], step: int) -> TrainingStep:
    """Return one step of `model`, one of the reference's, which is trained up to it."""
    return next(itertools.islice(run(wide.pair.reference, wide.pair.sides[0], model, inputs, training), step, None))


def _arrays(places: Differing, step: TrainingStep) -> dict[NumberedName, Values]:
    """Return the values of `step` at `places`, and let go of the others, as a step may be large."""
    known = values_by_name(step)
    arrays = {place: as_array(known.get(place)) for place in places}
    return {place: array for place, array in arrays.items() if array is not None}
