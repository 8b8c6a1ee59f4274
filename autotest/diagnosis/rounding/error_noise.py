"""Measures how the error of a side varies with its inputs, which tells rounding from a fault."""

from __future__ import annotations

import numpy as np

from autotest.diagnosis.rounding.double_precision import as_array
from autotest.diagnosis.rounding.error_spread import ErrorSpread
from autotest.diagnosis.rounding.measurement import Measured
from autotest.diagnosis.rounding.perturbation import RUNS, perturbed_in_own_dtype
from autotest.frameworks import Framework, Pair
from autotest.program import Program
from autotest.program.rewriting import widened, with_arrays
from autotest.replaying.agreement import results, results_of_side
from autotest.replaying.replay import Place

#: By how many roundoffs the inputs are changed: by a few, and by so many that intermediate results change which are
#: insensitive to the inputs, such as a sigmoid near 1.
_FEW, _MANY = 4.0, 1024.0


def error_spreads(
    program: Program, pair: Pair, place: Place, measured: Measured | None
) -> tuple[ErrorSpread | None, ErrorSpread | None]:
    """Return, for each side with more error than rounding explains, how its error varies.

    Args:
        program: the program in its own precision.
        pair: the reference and the candidate.
        place: the place in the program.
        measured: the measurement there; the spreads are taken at its worst element.

    Returns:
        The spreads; None for a side whose error is explained or unknown. Those of the reference are taken over larger
        changes of the inputs if small ones do not show that its error is noise.
    """
    if measured is None or not measured.double_decides or measured.beside_step:
        return None, None
    own, other = (
        _spread(program, pair, place, measured, side, _FEW) if wrong else None
        for side, wrong in zip(pair.frameworks, measured.wrong, strict=True)
    )
    if own is not None and not own.is_noise:
        own = _spread(program, pair, place, measured, pair.reference, _MANY)
    return own, other


def _spread(
    program: Program, pair: Pair, place: Place, measured: Measured, side: Framework, roundoffs: float
) -> ErrorSpread | None:
    """Return how the error of `side` at the worst element varies, or None if it is not a finite number in each run."""
    found = [_element_and_truth(program, pair, place, measured.index, side, run, roundoffs) for run in range(RUNS)]
    known = [values for values in found if values is not None and np.isfinite(values).all()]
    if len(known) < RUNS:
        return None
    own, true = np.array(known).T
    errors, moved = own - true, true - true.mean()
    norm = float(np.vdot(moved, moved).real)
    along = np.vdot(moved, errors) / norm * moved if norm else 0.0
    size = float(np.sqrt(np.mean(np.abs(errors) ** 2)))
    return ErrorSpread(float(np.std(errors)), float(np.std(errors - along)), size, float(np.std(true)))


def _element_and_truth(
    program: Program, pair: Pair, place: Place, index: tuple[int, ...], side: Framework, run: int, roundoffs: float
) -> tuple[complex, complex] | None:
    """Return an element computed by `side` from perturbed inputs, and its true value for the same inputs."""
    moved = with_arrays(program, perturbed_in_own_dtype(program.arrays, run, roundoffs))
    wide, places = widened(moved)
    at = places[place[0]], place[1]
    own = as_array(results_of_side(moved, side, pair, place).get(place))
    true = as_array(results(wide, pair.reference, slots=at[:1]).get(at))
    if own is None or true is None or own.shape != true.shape:
        return None
    return complex(own[index]), complex(true[index])
