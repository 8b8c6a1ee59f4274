"""Outside of any trial: which pair dual objects belong to, and comparing at once what nobody compares later."""

from __future__ import annotations

from autotest.base.errors import of_the_test
from autotest.base.settings import Tolerance
from autotest.comparison import Comparison, compare_values
from autotest.frameworks import Pair, all_chosen
from autotest.recording.recorder import Recorder
from autotest.results.divergence import Divergence

__tracebackhide__ = of_the_test  # as in the recorder


def pair_outside() -> Pair:
    """The pair that the environment asks for, the first of several: nobody handed one to code outside of trials."""
    return all_chosen()[0]


def agree_now(recorder: Recorder, slot: int) -> None:
    """Raise `Divergence` when the sides disagree in the plain value that call `slot` returned."""
    how = Comparison("forward", Tolerance(), slot, sides=recorder.pair.sides)
    found = compare_values(recorder.calls[slot].target, recorder.expected[slot], recorder.actual[slot], how)
    if found and not recorder.is_undefined(slot):
        raise Divergence(found[0].message)
