"""Mixes special numbers into the ordinary numbers of an array."""

from __future__ import annotations

import numpy as np

from generators.dtypes import Array
from generators.entropy import Bits

#: The share of special numbers among ordinary ones.
SHARE = 0.25
#: Least number of elements for which some stay ordinary. With fewer, all may be zero.
FEW = 8


def mixed(bits: Bits, values: Array, edges: Array, turn: int = 0) -> Array:
    """Return `values` with a share of them replaced: by each of `edges` once, if there is room, then by random ones."""
    count = values.size
    most = max(1, round(count * SHARE), min(len(edges), count // 2))
    # A single special number among ordinary ones reveals other faults than many: only then, for example, does a product
    # have a gradient at its zero. The two cases take turns. Many zeros are whole rows of zeros, or a whole small array.
    zeros = not np.count_nonzero(edges)
    alone = (zeros or len(edges) == 1) and turn % 2 == 0
    many = np.arange(count if count < FEW else 3 * count // 4) if zeros else bits.some(count, most)
    # A single one is the last element, after all whole blocks, so that all() depends on a zero there.
    places = many
    if alone:
        places = np.array([count - 1])
    picks = bits.places(len(edges), len(places))
    surely = min(len(places), len(edges))
    whole = values.dtype.kind != "f"
    picks[:surely] = np.arange(surely) if surely > 1 or whole else bits.one_below(min(2, len(edges)))
    values[places] = edges[picks]
    return values
