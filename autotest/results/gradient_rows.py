"""The rows of a gradient check's table, and the rule by which a row passes.

A complex number is treated as two real ones, so that no Wirtinger derivatives are needed: in torch's convention the
gradient of a real L by z is dL/dRe(z) + i dL/dIm(z), and its two parts are two rows of a real Jacobian.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autotest.comparison.elementwise import same_numbers

RealArray = np.ndarray[Any, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class GradientRow:
    """The difference between the gradient and finite differences for one input and one output."""

    #: The positions of input and output, or their names if they have names.
    input: str
    output: str
    passed: bool
    #: Greatest absolute and greatest relative difference over all elements.
    absolute: float = 0.0
    relative: float = 0.0
    #: Indices of the worst element in the input and in the output; its difference exceeds the allowed one most. Empty
    #: for a projection.
    input_index: str = ""
    output_index: str = ""
    #: The two derivatives of the worst element.
    analytic: float = 0.0
    numeric: float = 0.0
    #: ``atol + rtol * |numeric|`` of the worst element.
    allowed: float = 0.0
    note: str = ""


def allowed(numeric: RealArray, atol: float, rtol: float) -> RealArray:
    """Return the allowed difference of an analytic derivative from each element of `numeric`."""
    bound: RealArray = atol + rtol * np.abs(numeric)
    return bound


def failing(analytic: RealArray, numeric: RealArray, atol: float, rtol: float) -> RealArray:
    """Return the mask of the elements that fail; the same NaN or infinity on both sides passes."""
    with np.errstate(all="ignore"):
        close = np.abs(analytic - numeric) <= allowed(numeric, atol, rtol)
    mask: RealArray = ~(close | same_numbers(analytic, numeric))
    return mask


class RowNames(NamedTuple):
    """The names by which a table refers to the varied inputs and to the outputs of a function."""

    inputs: Sequence[str]
    outputs: Sequence[str]

    def of(self, i: int, o: int) -> tuple[str, str]:
        """Return the names of input `i` and output `o`."""
        return self.inputs[i], self.outputs[o]


class Jacobians(NamedTuple):
    """The derivatives of one output by one input, from the framework and from finite differences.

    Attributes:
        names: the names of input and output.
        analytic, numeric: arrays of shape ``(real numbers of the input, real numbers of the output)``.
        shapes: the shapes of input and output; a complex one has an additional last axis of size 2.
    """

    names: tuple[str, str]
    analytic: RealArray
    numeric: RealArray
    shapes: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())


def row_of(
    pair: Jacobians, atol: float, rtol: float, *, exempt: RealArray | None = None, note: str = ""
) -> GradientRow:
    """Return the row of one input and one output.

    Args:
        pair: the derivatives.
        atol, rtol: the tolerances.
        exempt: mask of elements that count as passing, such as kinks.
        note: a remark for the table.
    """
    names, analytic, numeric, shapes = pair
    if not analytic.size:
        return GradientRow(*names, passed=True, allowed=atol, note=note or "no elements")
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
        index_text(int(at[0]), shapes[0]),
        index_text(int(at[1]), shapes[1]),
        float(analytic[at]),
        float(numeric[at]),
        float(allowed(numeric, atol, rtol)[at]),
        note,
    )


def index_text(flat: int, shape: tuple[int, ...]) -> str:
    """Return the index, as text, of the element in place `flat` of an array of this shape."""
    return str(tuple(int(i) for i in np.unravel_index(flat, shape)))
