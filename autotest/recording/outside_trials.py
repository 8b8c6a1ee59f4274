"""Code outside of any trial: the pair that dual objects belong to, and the immediate comparison of plain values."""

from __future__ import annotations

from autotest.base.errors import of_the_test
from autotest.base.settings import Tolerance
from autotest.comparison import Comparison, compare_values
from autotest.frameworks import Pair, all_chosen
from autotest.recording.recorder import Recorder
from autotest.results.divergence import Divergence

__tracebackhide__ = of_the_test  # as in the recorder


def pair_outside() -> Pair:
    """Return the pair that the environment selects, the first of several. Code outside of trials is given no pair."""
    return all_chosen()[0]


def agree_now(recorder: Recorder, slot: int) -> None:
    """Raise `Divergence` if the two sides returned different plain values from call `slot`."""
    how = Comparison("forward", Tolerance(), slot, sides=recorder.pair.sides)
    found = compare_values(recorder.calls[slot].target, recorder.expected[slot], recorder.actual[slot], how)
    if found and not recorder.is_undefined(slot):
        raise Divergence(found[0].message)
