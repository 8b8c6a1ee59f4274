"""The gradients that a trial pushes back: small numbers, and in some trials others that a backward pass meets."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from generators.arrays import Drawn
from generators.contents import Spec, array_from
from generators.dtypes import numpy_dtype
from generators.entropy import Bits
from generators.layouts import fitting
from generators.plan import BLOCK
from generators.shapes import Shape
from generators.source import current, trial_of


class _Kind(NamedTuple):
    """A kind of gradients. `reach` is their greatest magnitude, 0 if all are 1, as `sum` pushes them back."""

    layout: str
    reach: float


#: The kinds, the plain one first. Zeros are among the numbers of those with a greater reach.
_KINDS = (_Kind("contiguous", 1.0), _Kind("expanded", 0.0), _Kind("transposed", 4.0), _Kind("strided", 4.0))
#: By trial of a block, a kind other than the plain one: in trials whose rows of the plan have ordinary numbers and
#: several sizes above 1, so that what the gradient is multiplied by shows where it was read.
_OTHER = MappingProxyType({8: 1, 11: 2, 12: 1, 14: 3, 15: 2, 16: 1, 19: 3})


def drawn_cotangent(shape: Shape, dtype: str, *, plain: bool = False) -> Drawn:
    """Return a gradient of a result of the current trial with this shape and dtype.

    Args:
        shape: the shape of the result.
        dtype: the dtype of the result.
        plain: whether it is contiguous in every trial.
    """
    source = current()
    kind = _KINDS[source.planned(_OTHER.get(trial_of(source.seed) % BLOCK, 0), len(_KINDS))]
    seed = source.bits()
    layout = "contiguous" if plain else fitting(shape, kind.layout)
    if not kind.reach:
        return Drawn(np.ones(shape, numpy_dtype(dtype)), dtype, layout)
    values = array_from(Spec(shape, dtype, -kind.reach, kind.reach), seed)
    if kind.reach > 1 and values.size > 1:
        flat = values.reshape(-1)
        flat[Bits(seed, 2).some(flat.size, max(1, flat.size // 8))] = 0
    return Drawn(values, dtype, layout)
