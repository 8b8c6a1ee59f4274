"""Compares at once what is read outside of any trial, where nobody compares later."""

from __future__ import annotations

from autotest.base.errors import of_the_test
from autotest.base.settings import Tolerance
from autotest.comparison import compare_values
from autotest.recording.recorder import Recorder
from autotest.results.divergence import Divergence

__tracebackhide__ = of_the_test  # as in the recorder


def agree_now(recorder: Recorder, slot: int) -> None:
    """Raise `Divergence` when the sides disagree in the plain value that call `slot` returned."""
    call, sides = recorder.calls[slot], recorder.pair.sides
    pair = (recorder.expected[slot], recorder.actual[slot])
    found = compare_values(call.target, slot, "forward", *pair, Tolerance(), sides=sides)
    if found and not recorder.is_undefined(slot):
        raise Divergence(found[0].message)
