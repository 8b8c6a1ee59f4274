"""One row of the table of a gradient check, and the rule by which it passes.

A complex number counts as two real ones, so that nothing here needs to know of Wirtinger derivatives: with torch's
convention the gradient of a real L by z is dL/dRe(z) + i dL/dIm(z), whose two parts are two rows of a real Jacobian.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

RealArray = np.ndarray[Any, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class GradientRow:
    """An input and an output: how far the gradient is from differences of the function, and where it is worst."""

    #: Positions, or names where there are any.
    input: str
    output: str
    passed: bool
    #: Greatest absolute and greatest relative difference over all elements.
    absolute: float
    relative: float
    #: Index into the input and into the output of the worst element: the one that is furthest outside of what is
    #: allowed. Empty for a projection.
    input_index: str
    output_index: str
    analytic: float
    numeric: float
    #: ``atol + rtol * |numeric|`` of that element.
    allowed: float
    note: str = ""


def allowed(numeric: RealArray, atol: float, rtol: float) -> RealArray:
    """What an analytic value may differ by from `numeric`."""
    bound: RealArray = atol + rtol * np.abs(numeric)
    return bound


def failing(analytic: RealArray, numeric: RealArray, atol: float, rtol: float) -> RealArray:
    """Mask of the elements that fail; the same NaN or infinity on both sides passes."""
    with np.errstate(all="ignore"):
        close = np.abs(analytic - numeric) <= allowed(numeric, atol, rtol)
    same = (analytic == numeric) | (np.isnan(analytic) & np.isnan(numeric))
    mask: RealArray = ~(close | same)
    return mask


class Jacobians(NamedTuple):
    """The derivatives of one output by one input, as the framework gives them and as differences do.

    Attributes:
        names: of input and output.
        analytic, numeric: of shape ``(real numbers of the input, real numbers of the output)``.
        shapes: of input and output; a complex one ends in an axis of 2.
    """

    names: tuple[str, str]
    analytic: RealArray
    numeric: RealArray
    shapes: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())


def row_of(
    pair: Jacobians, atol: float, rtol: float, *, exempt: RealArray | None = None, note: str = ""
) -> GradientRow:
    """The row of one pair; elements in the mask `exempt` count as passing, such as kinks."""
    names, analytic, numeric, shapes = pair
    if not analytic.size:
        return GradientRow(*names, True, 0.0, 0.0, "", "", 0.0, 0.0, atol, note or "no elements")
    wrong = failing(analytic, numeric, atol, rtol)
    if exempt is not None:
        wrong &= ~exempt
    with np.errstate(all="ignore"):
        gap = np.abs(analytic - numeric)
        gap = np.where(np.isnan(gap), np.where(np.isnan(analytic) & np.isnan(numeric), 0.0, np.inf), gap)
        gap = np.where(analytic == numeric, 0.0, gap)
        relative = np.where(gap == 0, 0.0, gap / np.abs(numeric))
        excess = gap - np.nan_to_num(allowed(numeric, atol, rtol), posinf=0.0)
    counted = np.where(wrong, excess, -np.inf) if wrong.any() else excess
    at = np.unravel_index(int(np.argmax(counted)), counted.shape)
    return GradientRow(
        *names,
        not wrong.any(),
        float(gap.max()),
        float(relative[np.isfinite(relative)].max(initial=0.0)),
        _index(int(at[0]), shapes[0]),
        _index(int(at[1]), shapes[1]),
        float(analytic[at]),
        float(numeric[at]),
        float(allowed(numeric, atol, rtol)[at]),
        note,
    )


def _index(flat: int, shape: tuple[int, ...]) -> str:
    return str(tuple(int(i) for i in np.unravel_index(flat, shape))) if shape else "()"


__all__ = ["GradientRow", "Jacobians", "allowed", "failing", "row_of"]
