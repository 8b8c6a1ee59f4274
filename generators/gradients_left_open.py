"""Which tensors of a trial require grad if the test leaves it open: all of them, and in a few trials only some or none.

Frameworks take other paths for tensors without a gradient: the input of a first layer, frozen weights, inference.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Literal

from generators.levels import BLOCK
from generators.source import Source, current, trial_of

_Kind = Literal["all", "all but the first", "the first", "none", "every odd", "every even"]
_KINDS: Final[tuple[_Kind, ...]] = ("all", "all but the first", "the first", "none", "every odd", "every even")
#: By trial of a block, the position in `_KINDS` if it is not 0. These rows of the plan have ordinary numbers. Other
#: rows have the same layouts, sizes, dtypes and cotangents, so that gradients are compared with these, too.
_OTHER: Final = MappingProxyType({10: 3, 11: 1, 13: 4, 17: 2})
#: The kind that the next tensor continues with: of three tensors, the second one requires no grad, as a frozen weight
#: beside a bias does.
_NEXT: Final = MappingProxyType({4: 5, 5: 4})


def drawn_requires_grad() -> bool:
    """Return whether the next floating tensor of the current trial requires grad; the test leaves it open."""
    source = current()
    planned = _OTHER.get(trial_of(source.seed) % BLOCK, 0)
    if not planned:
        return True
    is_first = source.gradients_left_out is None
    if is_first:
        source.gradients_left_out = source.planned(0 if source.all_require_grad else planned, len(_KINDS))
    place = source.gradients_left_out or 0
    source.gradients_left_out = _NEXT.get(place, place)
    return _KINDS[place] in ("all", "every odd", "the first" if is_first else "all but the first")


def leaves_out_gradients(source: Source) -> bool:
    """Return whether the plan chose, in the trial of `source`, that some or all tensors require no grad."""
    return bool(source.gradients_left_out)
