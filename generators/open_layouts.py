"""Chooses the memory layout of an array whose layout a test leaves open, by the plan."""

from __future__ import annotations

from types import MappingProxyType

from generators.layouts import expanded_dim
from generators.shapes import Shape
from generators.trial_features import TrialFeatures

#: The turn of level ``expanded`` in which a first array of one dimension is not expanded.
_SEVERAL_TURN = 2
#: By level and turn of the layout, the layout that arrays have instead, and their least rank. In two of the trials with
#: channels last the second array has them, too. In the last one of these and in that of ``strided``, the numbers are
#: ordinary, and the first dimension is longer than 1. In the trial in which the first array is pitched the numbers are
#: tiny, but those in the gaps are not. The last three are of second arrays alone, which have the shape of the first:
#: one is transposed beside a contiguous one, one is sliced, and one is pitched.
_INSTEAD = MappingProxyType(
    {
        ("transposed", 0): ("channels_last", 4),
        ("transposed", 2): ("channels_last", 4),
        ("strided", 2): ("channels_last", 3),
        ("contiguous", 3): ("pitched", 2),
        ("contiguous", 5): ("sliced", 3),
        ("offset", 4): ("transposed", 2),
        ("offset", 6): ("sliced", 3),
        ("strided", 5): ("pitched", 2),
    }
)

#: By the level and turn of the trial's layout and the index in the trial, the arrays of four dimensions or more that
#: have channels last: the first one beside a contiguous second one of its shape, and in another trial the second one
#: beside a contiguous first one. Their sum has the layout of one of them, and the other one is not read in its order.
_OF_IMAGES = frozenset((("transposed", 1, 0), ("contiguous", 2, 1)))
_IMAGES = 4


def open_layout(features: TrialFeatures, number: int, shape: Shape, *, may_repeat: bool) -> str:
    """Return the layout that the plan chose for array `number` of the trial, which `shape` may not allow.

    Args:
        features: the levels of the trial.
        number: the index of the array in its trial.
        shape: the shape of the array.
        may_repeat: whether its numbers may repeat along a dimension, as those of an expanded array do.
    """
    turn, level = features.turn("layout"), features.level("layout", number)
    if level == "transposed" and len(shape) == 1:
        level = "strided"
    elif level == "expanded":
        # Expanded, an array of one dimension has a single number. In one of three trials the first has several.
        several = not number and len(shape) == 1 and turn == _SEVERAL_TURN
        # A column that is expanded has a single number, too, and hides that an operator reads it for all rows.
        several |= not number and len(shape) > 1 and sum(size > 1 for size in shape) == 1
        if several or not may_repeat:
            level = "strided"
    if len(shape) >= _IMAGES and (features.row.level("layout"), turn, number) in _OF_IMAGES:
        return "channels_last"
    instead, least_rank = _INSTEAD.get((level, turn), (level, 0))
    return instead if len(shape) >= least_rank else level


def open_expanded_dim(features: TrialFeatures, shape: Shape) -> int:
    """Return the dimension of `shape` along which an expanded array of the trial repeats.

    Of two dimensions it is the last one, and the first one in the next such trial; of three it is the other way round.
    """
    last = (features.turn("layout") // 2 + len(shape)) % 2 == 0
    return expanded_dim(shape, last=features.source.planned(int(last), 2) == 1)
