"""Outside of any trial: the pair that dual objects belong to, and the immediate comparison of plain values."""

from __future__ import annotations

from autotest.base.errors import is_test_mistake
from autotest.base.settings import Tolerance
from autotest.comparison import Comparison, compare_values
from autotest.frameworks import Pair, chosen_pairs
from autotest.recording.recorder import Recorder
from autotest.recording.unread import note_computed, note_read
from autotest.results.divergence import Divergence

__tracebackhide__ = is_test_mistake  # as in recorder.py


def pair_outside_trials() -> Pair:
    """Return the pair that the environment selects, the first of several; code outside of trials is given no pair."""
    note_computed()
    return chosen_pairs()[0]


def compare_plain_results(recorder: Recorder, slot: int) -> None:
    """Compare the plain values that call `slot` returned at once, because no trial compares them later.

    Raises:
        Divergence: the sides disagree, and the value is not undefined.
    """
    note_read()
    how = Comparison("forward", Tolerance(), slot, sides=recorder.pair.sides)
    found = compare_values(recorder.calls[slot].target, recorder.expected[slot], recorder.actual[slot], how)
    if found and not recorder.is_undefined(slot):
        raise Divergence(found[0].message)
