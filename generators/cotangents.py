"""The gradients that a trial pushes back: small numbers, and in some trials others that a backward pass meets."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from generators.contents import Spec, uniform
from generators.dtypes import Array, numpy_dtype
from generators.entropy import Bits
from generators.layouts import LEAST_RANK, Steps, base_of
from generators.levels import BLOCK
from generators.shapes import Shape
from generators.source import current, trial_of


class Cotangent(NamedTuple):
    """A drawn gradient: the result of `steps` on the contiguous array `base` of the dtype named `dtype`."""

    base: Array
    dtype: str
    steps: Steps


class _Kind(NamedTuple):
    """A kind of gradients. `reach` is their greatest magnitude, 0 if all are 1, as a sum along a dimension gives."""

    layout: str
    reach: float


#: The layout of gradients that are all one number in memory, as after a sum of all elements.
_FILLED = "filled"
#: The kinds, the plain one first. About an eighth of the numbers of those with a greater reach are zero.
_KINDS = (
    _Kind("contiguous", 1.0),
    _Kind("expanded", 0.0),
    _Kind("transposed", 4.0),
    _Kind("strided", 4.0),
    _Kind("pitched", 4.0),  # as after a `cat`, which along the second of three dimensions or more leaves them sliced
    _Kind(_FILLED, 0.0),
)
#: By trial of a block, a kind other than the plain one: in trials whose rows of the plan have ordinary numbers and
#: several sizes above 1, so that what the gradient is multiplied by shows where it was read.
_OTHER = MappingProxyType({8: 5, 11: 2, 12: 1, 14: 3, 15: 2, 16: 1, 17: 2, 19: 4})


def drawn_cotangent(shape: Shape, dtype: str, *, plain: bool = False) -> Cotangent:
    """Return a gradient of a result of the current trial with this shape and dtype.

    Args:
        shape: the shape of the result.
        dtype: the dtype of the result.
        plain: whether it is contiguous in every trial.
    """
    source = current()
    kind = _KINDS[source.planned(_OTHER.get(trial_of(source.seed) % BLOCK, 0), len(_KINDS))]
    seed = source.bits()
    layout = "sliced" if kind.layout == "pitched" and len(shape) >= LEAST_RANK["sliced"] else kind.layout
    base, steps = base_of(shape, "contiguous" if plain or layout == _FILLED else layout)
    if layout == _FILLED and shape and not plain:
        base, steps = (1,) * len(shape), (("expand", shape),)
    if not kind.reach:
        return Cotangent(np.ones(base, numpy_dtype(dtype)), dtype, steps)
    # The base is drawn, not the view, because laying out an array takes as long as drawing it.
    values = uniform(Bits(seed), Spec(base, dtype, -kind.reach, kind.reach))
    if kind.reach > 1 and values.size > 1:
        values[np.abs(values) < kind.reach / 8] = 0
    return Cotangent(values, dtype, steps)
