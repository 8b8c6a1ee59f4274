"""Which tensors of a trial require grad if the test leaves it open: all of them, and in a few trials only some or none.

Frameworks take other paths for tensors without a gradient: the input of a first layer, frozen weights, inference.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from generators.levels import BLOCK
from generators.source import Source, current, trial_of

#: For each kind, whether the first tensor requires grad, the second one, and all others.
_KINDS: Final = (
    (True, True, True),
    (False, True, True),
    (True, False, False),
    (False, False, False),
    (True, False, True),  # a frozen weight beside a bias
    (False, True, False),  # a weight alone
    (False, False, True),  # a bias alone
    (True, True, False),  # a frozen bias
)
#: Number of tensors that a kind tells apart.
_PLACES: Final = 3
#: The trial in which a weight alone requires grad, unless the test leaves all sizes of the first tensor open: mostly it
#: is the only one then, and no other trial has gradients of rows that are apart in memory.
_OF_SIZED: Final = 4
#: By trial of a block, the position in `_KINDS` if it is not 0. The rows of the plan with these kinds have ordinary
#: numbers, or tiny or the greatest ones, at which gradients say least. Other rows have the same layouts, sizes, dtypes
#: and cotangents, so that gradients are compared with these, too. This is so in the first block; in later ones, each
#: kind meets NaN and infinities.
_OTHER: Final = MappingProxyType({_OF_SIZED: 5, 5: 6, 10: 3, 11: 1, 13: 4, 16: 7, 17: 2})

#: By how many trials the kinds move from a block to the next. Later blocks have NaN and infinities in their first rows.
_SHIFT: Final = 3


def drawn_requires_grad(*, is_sized: bool = True) -> bool:
    """Return whether the next floating tensor of the current trial requires grad; the test leaves it open.

    `is_sized` tells whether the test gives some of its sizes, as for tensors whose sizes have to fit.
    """
    source = current()
    block, place = divmod(trial_of(source.seed), BLOCK)
    trial = (place + _SHIFT * block) % BLOCK
    planned = _OTHER.get(trial, 0)
    if not planned:
        return True
    if trial == _OF_SIZED and not is_sized and source.gradients_left_out is None:
        source.gradients_left_out = 0
    found = source.gradients_left_out
    if found is None:
        found = _PLACES * source.planned(0 if source.all_require_grad else planned, len(_KINDS))
        source.gradients_left_out = found
    if not found:
        return True
    kind, place = divmod(found, _PLACES)
    if place < _PLACES - 1:
        source.gradients_left_out = found + 1
    return _KINDS[kind][place]


def leaves_out_gradients(source: Source) -> bool:
    """Return whether the plan chose, in the trial of `source`, that some or all tensors require no grad."""
    return bool(source.gradients_left_out)
